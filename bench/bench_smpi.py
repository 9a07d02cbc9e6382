"""leat run beside SimGrid's smpirun: the same sources, over the nearest description of a 4x4 torus.

usage: bench_smpi.py LEAT [JSON]
The real time of a message is the difference of a long and a short run, divided by the messages between them, the best of
three; memory is the largest sum over all processes of a run (proportional set size). What each of them models is in
doc/performance.md. Needs libsimgrid-dev.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from processes import run

RANKS = 16
# leat's default: a flit of 16 octets per cycle of 1 ns, and a cycle per wire and router.
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="torus" topology="TORUS" topo_parameters="4,4" prefix="node" radical="0-15" suffix=""
           speed="1Gf" bw="16GBps" lat="2ns"/>
</platform>
"""


def measure(name, command, rounds, per_round, environment):
    """Microseconds of real time per message, KiB per rank."""
    best, most = float("inf"), 0
    for _ in range(3):
        short, _ = run(command(rounds), environment)
        long, kib = run(command(3 * rounds), environment)
        best, most = min(best, max(long - short, 0) / (2 * rounds * per_round)), max(most, kib)
    print(f"{name:44} {1e6 * best:10.2f} us/message {most / RANKS:10.0f} KiB/rank", flush=True)
    return {"name": name, "value": round(1e6 * best, 3), "unit": "us/message", "kib_per_rank": round(most / RANKS)}


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    for tool in ("smpicc", "smpirun", "mpicc"):
        if not shutil.which(tool):
            print(f"bench_smpi: no {tool}, so nothing to compare: install libsimgrid-dev and libopenmpi-dev", file=sys.stderr)
            return
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    source = pathlib.Path(__file__).resolve().parent / "messages.c"
    figures = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "torus.xml").write_text(PLATFORM)
        (folder / "hosts").write_text("".join(f"node{i}\n" for i in range(RANKS)))
        for compiler, output in (("mpicc", "ours"), ("smpicc", "theirs")):
            subprocess.run([compiler, "-O2", "-o", folder / output, source], check=True, cwd=folder)

        def ours(work, octets):
            return lambda rounds: [sys.argv[1], "run", "--fabric", "torus:4,4", "-n", str(RANKS), "--", str(folder / "ours"),
                                   work, octets, str(rounds)]

        def theirs(work, octets):
            return lambda rounds: ["smpirun", "-np", str(RANKS), "-platform", str(folder / "torus.xml"), "-hostfile",
                                   str(folder / "hosts"), "--cfg=smpi/simulate-computation:no", "--log=root.thres:critical",
                                   str(folder / "theirs"), work, octets, str(rounds)]

        for work, octets, rounds, per_round in (("ring", "1024", 5000, RANKS), ("ring", "65536", 300, RANKS),
                                                ("pingpong", "4", 50000, 2)):
            for launcher, command in (("leat run", ours), ("smpirun", theirs)):
                figures.append(measure(f"{launcher}: {work}, {octets} octets", command(work, octets), rounds, per_round,
                                       environment))
    if len(sys.argv) == 3:
        pathlib.Path(sys.argv[2]).write_text(json.dumps(figures, indent=2) + "\n")


main()
