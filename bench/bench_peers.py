"""leat beside its peers, with the same work in one go: BookSim2, SimGrid's SMPI and POEMS.

usage: bench_peers.py LEAT [JSON] [--booksim FOLDER] [--poems FOLDER] [--rounds N]
FOLDER is a built checkout of BookSim2, or one of graph_schema, which has POEMS. SimGrid is used where it is installed. A
peer that is not at hand is skipped. In each of N (3) rounds leat and the peer run one after the other, so that a noisy
machine disturbs them alike; figures are medians. The ratio by processor time holds even if other programs run. What each
of them models is in doc/performance.md.
"""
import argparse
import json
import os
import pathlib
import platform
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

from processes import run

HERE = pathlib.Path(__file__).resolve().parent
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

# ---- BookSim2: networks of routers with virtual channels -------------------------------------------------------------------

BOOKSIM_PROGRAM = "src/booksim"
PERIOD = 2000  # cycles of a sample: three periods are the warm-up
# The router of leat's default: three cycles, separable allocators of one iteration, credits of one cycle, wires of one.
ROUTER = f"""
num_vcs = 4; vc_buf_size = 8; wait_for_tail_credit = 0; credit_delay = 1; use_noc_latency = 0;
vc_allocator = separable_input_first; sw_allocator = separable_input_first; alloc_iters = 1;
routing_delay = 0; vc_alloc_delay = 1; sw_alloc_delay = 1; st_final_delay = 1;
input_speedup = 1; output_speedup = 1; internal_speedup = 1.0;
traffic = uniform; injection_rate_uses_flits = 1; sample_period = {PERIOD}; warmup_periods = 3; sim_count = 1;
"""
TERMINALS = 64
TOPOLOGIES = {
    "mesh:8,8": "topology = mesh; k = 8; n = 2; routing_function = dim_order;",
    "torus:8,8": "topology = torus; k = 8; n = 2; routing_function = dim_order;",
    "fly:4,3": "topology = fly; k = 4; n = 3; routing_function = dest_tag;",
    "fattree:4,3": "topology = fattree; k = 4; n = 3; routing_function = nca;",
}
LATENCY, THROUGHPUT = "latency", "throughput"  # BookSim2 gives up beyond saturation if it is to measure latencies
POINTS = [  # fabric, flits of a packet, load, what is measured
    ("mesh:8,8", 1, 0.1, LATENCY), ("mesh:8,8", 1, 0.3, LATENCY), ("mesh:8,8", 1, 0.4, LATENCY), ("mesh:8,8", 1, 0.6, THROUGHPUT),
    ("mesh:8,8", 4, 0.25, LATENCY),
    ("torus:8,8", 1, 0.1, LATENCY), ("torus:8,8", 1, 0.3, LATENCY), ("torus:8,8", 1, 0.5, LATENCY),
    ("fly:4,3", 1, 0.3, LATENCY), ("fly:4,3", 1, 0.6, LATENCY),
    ("fattree:4,3", 1, 0.3, LATENCY), ("fattree:4,3", 1, 0.6, LATENCY),
]


def booksim_point(program, configuration):
    """Cycles, mean latency, accepted flits per terminal and cycle, flit hops per second."""
    said = capture([program, configuration], expected=(0, 255))  # 255 is its success

    def number(pattern):
        found = re.findall(pattern + r"\s*=?\s*([0-9.]+)", said)
        if not found:
            fail(f"{program} {configuration} does not say '{pattern}'", said)
        return float(found[-1])

    cycles, accepted = number("Time taken is"), number("Accepted flit rate average")
    hops = cycles * TERMINALS * accepted * number("Hops average")
    return int(cycles), number("Packet latency average"), accepted, hops / number("Total run time")


def beside_booksim(asked, folder, tell):
    if not asked.booksim:
        return skip("BookSim2", "give the folder of a built checkout: make bench-peers BOOKSIM=FOLDER (--booksim FOLDER)")
    print(f"\nBookSim2 {revision(asked.booksim)}, M flit hops/s of real time; mean latency in cycles; accepted flits per terminal and cycle")
    print(f"{'':34}{'BookSim2':>9}{'leat':>9}{'ratio':>8}{'by CPU':>8} |{'BookSim2':>9}{'leat':>9}{'apart':>8} |{'BookSim2':>9}{'leat':>9}")
    for fabric, flits, load, measured in POINTS:
        theirs, ours = [], []
        for seed in range(1, asked.rounds + 1):
            configuration = folder / "booksim.cfg"
            configuration.write_text(f"{TOPOLOGIES[fabric]}{ROUTER}packet_size = {flits}; injection_rate = {load}; "
                                     f"sim_type = {measured}; seed = {seed};\n")
            began = processor_seconds()
            cycles, *rest = booksim_point(asked.booksim / BOOKSIM_PROGRAM, configuration)
            between = processor_seconds()
            theirs.append((*rest, between - began))
            result = json.loads(capture([asked.leat, "sim", fabric, "--flits", str(flits), "--load", str(load), "--cycles", str(cycles),
                                         "--warmup", str(3 * PERIOD), "--seed", str(seed), "--json"]))
            ours.append((result["latency_cycles"]["mean"], result["throughput"], result["flit_hops_per_second"], processor_seconds() - between))
        (latency, accepted, speed, _), (our_latency, our_accepted, our_speed, _) = medians(theirs), medians(ours)
        ratio = statistics.median(a[2] / b[2] for a, b in zip(ours, theirs))
        processor_ratio = statistics.median(b[3] / a[3] for a, b in zip(ours, theirs))
        name = f"{fabric}, {flits} flit{'s' if flits > 1 else ''}, load {load}"
        apart = f"{100 * (our_latency / latency - 1):+7.1f}%" if measured == LATENCY else f"{'':8}"
        means = f"{latency:9.2f}{our_latency:9.2f}" if measured == LATENCY else f"{'-':>9}{'-':>9}"
        print(f"{name:34}{speed / 1e6:9.2f}{our_speed / 1e6:9.2f}{ratio:7.1f}x{processor_ratio:7.1f}x |{means}{apart} |{accepted:9.4f}"
              f"{our_accepted:9.4f}", flush=True)
        tell("BookSim2", name, theirs=speed, ours=our_speed, unit="flit hops/s", ratio=ratio, processor_ratio=processor_ratio,
             their_latency_cycles=latency, our_latency_cycles=our_latency, their_throughput=accepted, our_throughput=our_accepted, measured=measured)


# ---- SimGrid: MPI programs -------------------------------------------------------------------------------------------------

RANKS = 16
# A wire of leat's torus:4,4 carries a flit of 16 octets per cycle of 1 ns, and a hop takes 4 cycles: three of the router, one
# of the wire.
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="torus" topology="TORUS" topo_parameters="4,4" prefix="node" radical="0-15" suffix="" speed="1Gf" bw="16GBps" lat="4ns"
           loopback_bw="1000GBps" loopback_lat="0"/>
</platform>
"""
# The same algorithms in both: an all-to-all of shifts, an allreduce of recursive doubling. SimGrid without the factors that
# were fitted to a cluster, so that a message takes its latency and its length by the bandwidth.
OPEN_MPI = {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1", "OMPI_MCA_coll_tuned_alltoall_algorithm": "2",
            "OMPI_MCA_coll_tuned_allreduce_algorithm": "3"}
SMPI = ["--cfg=smpi/alltoall:ring", "--cfg=smpi/allreduce:rdb", "--cfg=network/model:CM02", "--cfg=network/TCP-gamma:0",
        "--cfg=smpi/simulate-computation:no", "--log=root.thres:critical"]
WORKS = [  # work, octets, rounds, messages of a round
    ("pingpong", 1024, 20000, 2), ("ring", 1024, 5000, RANKS), ("ring", 65536, 300, RANKS), ("alltoall", 1024, 200, RANKS * (RANKS - 1)),
    ("allreduce", 1024, 1000, RANKS * 4),
]


def our_formula_ns(octets):
    """One message between neighbours: Open MPI's header has 3 flits, each packet of 16 flits one."""
    flits = -(-octets // 16) + 3
    flits += -(-flits // 15)
    return 4 + 6 + flits - 1  # the hop; the first router and the wires of both hosts; one flit after the other


def their_formula_ns(octets):
    """The link, the octets, and 1 ns that SimGrid adds to each message."""
    return 4 + octets / 16 + 1


def simulated_us(said):
    """Of a round, as messages.c prints it."""
    return 1e6 * float(re.findall(r"^\d+\.\d{12}$", said, re.MULTILINE)[0])


def beside_simgrid(asked, folder, tell):
    for tool in ("smpicc", "smpirun", "mpicc"):
        if not shutil.which(tool):
            return skip("SimGrid", f"no {tool}; install libsimgrid-dev and libopenmpi-dev")
    (folder / "torus.xml").write_text(PLATFORM)
    (folder / "hosts").write_text("".join(f"node{i}\n" for i in range(RANKS)))
    for compiler, output in (("mpicc", "ours"), ("smpicc", "theirs")):
        capture([compiler, "-O2", "-o", folder / output, HERE / "messages.c"], folder)
    environment = {**ENVIRONMENT, **OPEN_MPI}
    launchers = {
        "ours": [asked.leat, "run", "--fabric", "torus:4,4", "-n", str(RANKS), "--", str(folder / "ours")],
        "theirs": ["smpirun", "-np", str(RANKS), "-platform", str(folder / "torus.xml"), "-hostfile", str(folder / "hosts"), *SMPI,
                   str(folder / "theirs")],
    }
    version = capture(["smpirun", "--version"]).split()[-1]
    library = capture(["mpirun", "--version"]).splitlines()[0].split()[-1]
    print(f"\nSimGrid {version}, Open MPI {library} under leat; {RANKS} ranks, torus of 4 x 4; messages/s of real time; simulated time of "
          "a round in us; memory per rank in KiB")
    print(f"{'':26}{'SimGrid':>9}{'leat':>9}{'ratio':>8}{'by CPU':>8} |{'SimGrid':>9}{'leat':>9}{'apart':>8} |{'SimGrid':>9}{'leat':>9}")
    for work, octets, rounds, per_round in WORKS:
        def command(side, times):
            return [*launchers[side], work, str(octets), str(times)]

        simulated = {side: simulated_us(capture(command(side, rounds // 10), folder, environment)) for side in launchers}
        speeds, seconds, memory = ({side: [] for side in launchers} for _ in range(3))
        for _ in range(asked.rounds):
            for side in launchers:
                began = processor_seconds()
                short, _ = run(command(side, rounds), environment)
                between = processor_seconds()
                long, kib = run(command(side, 3 * rounds), environment)
                seconds[side].append(max(processor_seconds() - 2 * between + began, 1e-3))
                speeds[side].append(2 * rounds * per_round / max(long - short, 1e-3))
                memory[side].append(kib / RANKS)
        ratio = statistics.median(a / b for a, b in zip(speeds["ours"], speeds["theirs"]))
        processor_ratio = statistics.median(b / a for a, b in zip(seconds["ours"], seconds["theirs"]))
        speed, kib = ({side: statistics.median(of[side]) for side in launchers} for of in (speeds, memory))
        name = f"{work}, {octets} octets"
        print(f"{name:26}{speed['theirs']:9.0f}{speed['ours']:9.0f}{ratio:7.2f}x{processor_ratio:7.2f}x |{simulated['theirs']:9.4f}"
              f"{simulated['ours']:9.4f}{100 * (simulated['ours'] / simulated['theirs'] - 1):+7.1f}% |{kib['theirs']:9.0f}{kib['ours']:9.0f}", flush=True)
        tell("SimGrid", name, theirs=speed["theirs"], ours=speed["ours"], unit="messages/s", ratio=ratio, processor_ratio=processor_ratio,
             their_simulated_us=simulated["theirs"], our_simulated_us=simulated["ours"], their_kib_per_rank=kib["theirs"],
             our_kib_per_rank=kib["ours"])
        if work == "pingpong":
            print(f"{'  by formula':61}|{2e-3 * their_formula_ns(octets):9.4f}{2e-3 * our_formula_ns(octets):9.4f}")


# ---- POEMS: graphs of POETS ------------------------------------------------------------------------------------------------

POEMS_COMPILER = "tools/poems/compile_poems_sim.sh"
PLATES = [(100, 2000), (400, 100)]  # side, steps


def plate(file, side, steps, report=0):
    """The plate of share/poets, which ends as POEMS expects: by a text in its log."""
    text = capture([sys.executable, HERE.parent / "share/poets/make.py", "heat", str(side), str(side), str(steps), str(report)])
    file.write_text(text.replace("handler_exit(0);", 'handler_log(0, "_HANDLER_EXIT_SUCCESS_9be65737_");'))


def temperatures(said):
    return sorted(re.findall(r"cell \d+ \d+ -?\d+", said))


def beside_poems(asked, folder, tell):
    if not asked.poems:
        return skip("POEMS", "give the folder of graph_schema: make bench-peers POEMS=FOLDER (--poems FOLDER)")
    environment = {**ENVIRONMENT, "PYTHONPATH": str(asked.poems / "tools"), "XDG_CACHE_HOME": str(folder / "cache")}
    program, small = folder / "poems", folder / "small.xml"
    plate(small, 8, 20, 1)
    print(f"\nPOEMS of graph_schema {revision(asked.poems)}; M messages received per second of real time (its compiler takes a minute)", flush=True)
    work = folder / "poems.work"
    work.mkdir()
    capture(["bash", asked.poems / POEMS_COMPILER, "--release", "--working-dir", work, "-o", program, small], folder, environment)
    theirs = temperatures(capture([program, "--threads", "1", small], folder, environment))
    ours = temperatures(capture([asked.leat, "graph", "run", small, "-j", "1"], None, environment))
    if len(ours) != 64 or ours != theirs:
        fail("leat and POEMS have different temperatures of the plate of 8 x 8", f"leat: {ours}\nPOEMS: {theirs}")
    print(f"{'':40}{'POEMS':>9}{'leat':>9}{'ratio':>8}")
    for side, steps in PLATES:
        file = folder / f"{side}.xml"
        plate(file, side, steps)
        for workers in (1, 2):
            their_speeds, our_speeds = [], []
            for _ in range(asked.rounds):
                said = capture([program, "--threads", str(workers), file], folder, environment)
                their_speeds.append(1e6 * float(re.findall(r"MReceive/sec = ([0-9.]+)", said)[-1]))
                result = capture([asked.leat, "graph", "run", file, "-j", str(workers), "--json"], None, environment)
                our_speeds.append(json.loads(re.findall(r"^{.*}", result, re.MULTILINE)[-1])["receives_per_second"])
            ratio = statistics.median(a / b for a, b in zip(our_speeds, their_speeds))
            speed, our_speed = statistics.median(their_speeds), statistics.median(our_speeds)
            name = f"heat plate, {side * side} devices, {workers} thread{'s' if workers > 1 else ''}"
            print(f"{name:40}{speed / 1e6:9.1f}{our_speed / 1e6:9.1f}{ratio:7.1f}x", flush=True)
            tell("POEMS", name, theirs=speed, ours=our_speed, unit="messages/s", ratio=ratio)


# ---- all of them -----------------------------------------------------------------------------------------------------------


def skip(peer, why):
    print(f"\n{peer}: skipped; {why}", flush=True)


def fail(message, details=""):
    print(f"bench_peers: {message}" + (f"\n{details[-2000:]}" if details else ""), file=sys.stderr)
    sys.exit(2)


def expect(folder, file, what):
    if folder and not (folder / file).is_file():
        fail(f"{folder} has no {file}, expected the folder of {what}")


def capture(command, folder=None, environment=None, expected=(0,)):
    """Output and errors together: peers write figures to either."""
    done = subprocess.run(list(map(str, command)), cwd=folder, env=environment or ENVIRONMENT, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode not in expected:
        fail(f"{' '.join(map(str, command))}: exit {done.returncode}", done.stdout)
    return done.stdout


def processor_seconds():
    """Of all processes that have ended, with those that they started."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def revision(folder):
    """Of a checkout, and of no repository around it."""
    if not (folder / ".git").exists():
        return "(unknown revision)"
    return capture(["git", "-C", folder, "log", "-1", "--format=%h of %cs"]).strip()


def medians(rows):
    return [statistics.median(column) for column in zip(*rows)]


def resolved(path):
    """Some commands run in a folder of their own."""
    return pathlib.Path(path).resolve()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("leat", type=resolved)
    parser.add_argument("json", nargs="?", type=pathlib.Path)
    parser.add_argument("--booksim", type=resolved, metavar="FOLDER")
    parser.add_argument("--poems", type=resolved, metavar="FOLDER")
    parser.add_argument("--rounds", type=int, default=3)
    return parser.parse_args()


def main():
    asked = arguments()
    expect(asked.booksim, BOOKSIM_PROGRAM, "BookSim2, built with make -C src")
    expect(asked.poems, POEMS_COMPILER, "graph_schema, which has POEMS")
    figures = []

    def tell(peer, name, **values):
        figures.append({"peer": peer, "name": name, **values})

    version = capture([asked.leat, "--version"]).splitlines()[0]
    print(f"{version}; {platform.machine()}, {os.cpu_count()} processors, medians of {asked.rounds} rounds")
    with tempfile.TemporaryDirectory() as name:
        for beside in (beside_booksim, beside_simgrid, beside_poems):
            beside(asked, pathlib.Path(name), tell)
            if asked.json:  # after each, since the next one may fail
                asked.json.write_text(json.dumps(figures, indent=2) + "\n")


main()
