"""The MPI conformance set over fabrics of every kind with random faults: a program passes, or ends with a reason.

Each program checks itself; one that passes prints what it prints without faults. Where all faults end, it has to pass
unless the network lost a message of it. Cases differ in program, number of tasks, their ports, fabric and faults.

With KEEP=FOLDER each case leaves a line of FOLDER/conformance-SEED.jsonl; a later call goes on behind the last one and
counts all. JOBS cases run at a time. A busy machine is slow, not wrong: a run may take LIMIT seconds.

usage: conformance.py LEAT RUNS SEED [CASE]     RUNS together, or one case, with its command and what it prints
"""
import functools
import json
import os
import random
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

from campaign import ROOT, Campaign, last_lines, run, wrong_end
from faults import FABRICS, fault

LIMIT = 600  # seconds
PROGRAMS = ["send_modes", "matching", "sizes", "requests", "errors", "polling", "clocks", "collectives", "reduce",
            "reduce_user", "communicators", "intercomm", "topology", "datatypes", "onesided", "onesided_types",
            "shared", "threads", "spawn", "files"]
# Name, terminals, routers. Their wires are those of the routes between tasks.
SWITCHES = [
    ("line:8", 8, 8), ("ring:8", 8, 8), ("crossbar:16", 16, 1), ("grid:8", 8, 64), ("mesh:4,4", 16, 16),
    ("mesh:4,4/switch=voq", 16, 16), ("torus:4,4", 16, 16), ("torus:4,4/routing=updown", 16, 16),
    ("torus:4,4/routing=adaptive", 16, 16), ("mesh:4,4/routing=table", 16, 16), ("torus:2,2,4", 16, 16),
    ("hypercube:4", 16, 16), ("hypercube:4/routing=adaptive", 16, 16), ("fly:2,4", 16, 32), ("benes:16", 16, 56),
    ("clos:4,4,4/switch=output", 16, 12), ("fattree:4,2", 16, 8), ("fattree:2,4", 16, 32),
    ("dragonfly:2,4,2", 72, 36), ("dragonfly:2,4,2/routing=updown", 72, 36), ("hyperx:4,4", 16, 16), ("tinsel:1,1", 16, 16),
]
CELLS = [
    ("mesh:4,4/cells", 16, 16), ("fattree:4,2/cells", 16, 8), ("dragonfly:2,4,2/cells", 72, 36),
    ("hyperx:4,4/cells", 16, 16), ("torus:4,4/cells/line=stm1", 16, 16), ("fattree:4,2/cells/switch=shared", 16, 8),
]
PACKETWAY = [("twosan", ["west"], 22), ("threesan", ["west", "east", "south"], 27)]
OTHERS = [("ring16", 16), ("ring16/priority=0:7", 16), ("ether16", 16), ("ether16/buffer=2", 16), ("ether16/frame=100", 16)]


def wires(leat, fabric, ports):
    """Those of the routes between these ports."""
    found = set()
    for a in ports:
        for b in ports:
            route = routers_between(leat, fabric, a, b) if a != b else []
            found.update(zip(route, route[1:]))
    return sorted(found)


@functools.lru_cache(None)
def routers_between(leat, fabric, a, b):
    done = run([leat, "fabric", "show", fabric, "--path", f"{a},{b}"])
    rows = re.findall(r"^route .*?:((?: \d+)*) :\d+$", done.out.decode(), re.M)
    return [int(each) for each in rows[0].split()] if rows else []


def packetway_fault(draw, routers):
    begin = draw.randrange(200)
    kind, router = draw.choice(["router", "link", "errors"]), draw.choice(routers)
    return f"{kind}:{router}@{begin}us..{begin + 1 + draw.randrange(200)}us"


def faults_of(draw, ports, routers, links):
    """Early ones meet short programs."""
    cycles = 10 ** draw.choice([2, 3, 3, 4, 4])
    lasts = draw.random() < 0.2
    return [fault(draw, ports, routers, links, lasts and i == 0, cycles) for i in range(draw.randint(1, 3))]


def line_errors(draw):
    """Of lines between hosts and an ATM network."""
    kind = draw.choice(["--loss", "--bit-errors", "--insert", "--duplicate", "--dead"])
    if kind == "--dead":
        begin = draw.randrange(9000)
        return [kind, f"{draw.randrange(8)}@{begin}..{begin + 1 + draw.randrange(9000)}"]
    return [kind, draw.choice(["1e-6", "1e-5", "0.0001"])] + (["--hec"] if draw.random() < 0.5 else [])


def case(draw, leat, tasks):
    """A fabric, its faults, options, and the ports of the tasks."""
    kind = draw.choice(["clos", "cells", "flits", "flits", "flits", "packetway", "other"])
    if kind == "packetway":
        name, routers, terminals = draw.choice(PACKETWAY)
        ports = draw.sample(range(terminals), tasks)
        return name, [packetway_fault(draw, routers) for _ in range(draw.randint(1, 3))], [], ports
    if kind == "other":
        name, terminals = draw.choice(OTHERS)
        return name, [], [], draw.sample(range(terminals), tasks)
    if kind == "clos":
        name, models, terminals, routers, links = draw.choice(FABRICS)
        ports = draw.sample(range(terminals), tasks)
        options = ["--retransmit", "4000", "--model", draw.choice(["cell", "cell", "cell", models[-1]])]
    else:
        name, terminals, routers = draw.choice(SWITCHES if kind == "flits" else CELLS)
        ports = draw.sample(range(terminals), tasks)
        links = wires(leat, name, ports)
        options = ["--retransmit", "4000"] if kind == "cells" else []
    if kind == "clos" and "/cells" not in name and draw.random() < 0.3:
        return name, [], options + line_errors(draw), ports
    return name, faults_of(draw, terminals, routers, links), options, ports


def kind_of(fabric):
    name = re.sub(r"[:/].*", "", fabric)
    return f"{name}/cells" if "/cells" in fabric else name


def kinds_of_faults(faults, options):
    found = {"ber of a wire" if each.count(":") == 2 else each.split(":")[0] for each in faults}
    return sorted(found | {each[2:] for each in options if each[2:] in ("loss", "bit-errors", "insert", "duplicate", "dead")})


class Conformance:
    def __init__(self, campaign, leat, seed):
        self.campaign, self.leat, self.seed = campaign, leat, seed
        self.right, self.lock = {}, threading.Lock()
        for program in PROGRAMS:
            more = [f"{ROOT}/test/mpi/reduce_types.c"] if program == "reduce" else []
            subprocess.run(["mpicc", "-O1", f"-I{ROOT}/test/mpi", "-o", campaign.path(program),
                            f"{ROOT}/test/mpi/{program}.c", f"{ROOT}/test/mpi/check.c", *more, "-lm"], check=True)

    def output_without_faults(self, program, tasks):
        with self.lock:
            if (program, tasks) not in self.right:
                self.right[program, tasks] = self.run_without_faults(program, tasks)
            return self.right[program, tasks]

    def run_without_faults(self, program, tasks):
        done = self.run_in(f"right-{program}-{tasks}", [
            self.leat, "run", "--fabric", "torus:4,4", "-n", str(tasks), "--", self.campaign.path(program)])
        if done.code:
            sys.exit(f"{program} without faults: exit code {done.code}\n{last_lines(done.out)}\n{last_lines(done.err)}")
        return done.out

    def run_in(self, name, command):
        """In a folder of its own: some programs write files."""
        folder = self.campaign.path(name)
        os.makedirs(folder, exist_ok=True)
        return run(command, limit=LIMIT, folder=folder)

    def command(self, number):
        draw = random.Random(f"{self.seed} {number}")
        program, tasks = draw.choice(PROGRAMS), draw.choice([2, 3, 4, 4, 5])
        fabric, faults, options, ports = case(draw, self.leat, tasks)
        words = [self.leat, "run", "--fabric", fabric, "-n", str(tasks), "--placement", ",".join(map(str, ports)), *options]
        for each in faults:
            words += ["--fault", each]
        row = {"case": number, "program": program, "tasks": tasks, "fabric": fabric, "kind": kind_of(fabric),
               "faults": kinds_of_faults(faults, options)}
        return row, [*words, "--", self.campaign.path(program)]

    def try_one(self, number):
        row, command = self.command(number)
        done = self.run_in(f"case-{number}", command)
        row["code"] = done.code
        row["reason"] = last_lines(done.err, 30).splitlines()[0] if done.code else ""
        row["wrong"] = self.wrong_in(row, done)
        if row["wrong"]:
            self.campaign.note(f"case {number}: {' '.join(command[1:])}", row["wrong"])
        subprocess.run(["rm", "-rf", self.campaign.path(f"case-{number}")], check=True)
        return row

    def wrong_in(self, row, done):
        wrong = wrong_end(done)
        if wrong:
            return wrong
        if done.code == 0:
            same = done.out == self.output_without_faults(row["program"], row["tasks"])
            return None if same else f"exit code 0 with other output: {last_lines(done.out)}"
        # Buffers of an Ethernet that are full lose frames.
        loses = row["faults"] or "/buffer=" in row["fabric"]
        if not loses or done.code != 1 or b"leat: " not in done.err or b"something is wrong" in done.out:
            return f"exit code {done.code}: {last_lines(done.out)}\n{last_lines(done.err)}"
        return None


class Log:
    """A line of JSON for each case, kept from call to call."""

    def __init__(self, folder, seed):
        self.path, self.rows = folder and os.path.join(folder, f"conformance-{seed}.jsonl"), []
        if folder:
            os.makedirs(folder, exist_ok=True)
        if folder and os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as file:
                self.rows = [json.loads(line) for line in file if line.endswith("}\n")]

    def add(self, row):
        self.rows.append(row)
        if self.path:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")

    def show(self):
        for by in ("kind", "program", "faults"):
            counts = {}
            for row in self.rows:
                for each in row[by] if by == "faults" else [row[by]]:
                    passed, ended = counts.get(each, (0, 0))
                    counts[each] = (passed + (row["code"] == 0), ended + (row["code"] != 0))
            print(f"{by}: " + ", ".join(f"{each} {a} + {b}" for each, (a, b) in sorted(counts.items())))


def main(leat, runs, seed, only=None):
    campaign = Campaign("conformance under faults", seed)
    conformance = Conformance(campaign, leat, seed)
    if only is not None:
        _, command = conformance.command(int(only))
        print(" ".join(command), flush=True)
        sys.exit(subprocess.run(command, check=False, cwd=campaign.folder.name).returncode)
    log = Log(os.environ.get("KEEP"), seed)
    known = {row["case"] for row in log.rows}
    with ThreadPoolExecutor(int(os.environ.get("JOBS", os.cpu_count()))) as pool:
        for row in pool.map(conformance.try_one, (each for each in range(runs) if each not in known)):
            log.add(row)
            if row["code"]:
                print(f"case {row['case']}: {row['fabric']}: {row['program']}: {row['reason']}", flush=True)
    log.show()
    campaign.tried = len(log.rows)
    campaign.found = [row for row in log.rows if row["wrong"]]
    passed = sum(row["code"] == 0 for row in log.rows)
    campaign.end(f"{campaign.tried} programs, {passed} passed, {campaign.tried - passed} did not")


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
