"""One simulation on several processors: threads and ranks beside one thread, in turn; and what a window of ranks costs.

usage: bench_threads.py LEAT [JSON] [--rounds N]
Each figure is the median of N (5) rounds; in a round, all ways to simulate a network run one after the other, so that a
noisy machine disturbs them alike. A window is the time between two exchanges of ranks; its cost is that of a network with
almost nothing to do.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess

NETWORKS = [  # name, options, cycles
    ("torus:32,32", "--load 0.1", 6000),
    ("mesh:16,16", "--load 0.3", 12000),
    ("mesh:8,8", "--load 0.4", 50000),
    ("torus:64,64", "--load 0.1", 1500),
    ("clos:16,31,16", "--load 0.5", 20000),
]
WINDOW_CYCLES = 2  # of a torus with wires of one cycle: a credit needs two


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("leat")
    parser.add_argument("json", nargs="?")
    parser.add_argument("--rounds", type=int, default=5)
    return parser.parse_args()


def main():
    asked = arguments()
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    figures = []

    def simulate(before, network, options, cycles, after=()):
        command = [*before, asked.leat, "sim", network, *options.split(), "--cycles", str(cycles), "--json", *after]
        said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        return json.loads(said)

    def ranks(count):
        return ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(count)]

    def tell(name, value, unit):
        print(f"{name:60} {value:10.3f} {unit}", flush=True)
        figures.append({"name": name, "value": round(value, 3), "unit": unit})

    has_mpi = shutil.which("mpirun") is not None
    for network, options, cycles in NETWORKS:
        is_atm = network.startswith("clos:")
        ways = {"one thread": ([], []), "2 threads": ([], ["--threads", "2"])}
        if has_mpi and not is_atm:
            ways["2 ranks"] = (ranks(2), [])
        took = {way: [] for way in ways}
        certificates = set()
        for _ in range(asked.rounds):
            for way, (before, after) in ways.items():
                result = simulate(before, network, options, cycles, after)
                took[way].append(result["wall_seconds"])
                certificates.add(result["certificate"])
        assert len(certificates) == 1, certificates
        one = statistics.median(took["one thread"])
        tell(f"{network} {options}, one thread", cycles / one / 1000, "kcycles/s")
        for way in list(ways)[1:]:
            ratio = statistics.median(a / b for a, b in zip(took["one thread"], took[way]))
            tell(f"{network} {options}, {way}", ratio, "times one thread")
    if has_mpi:
        for count in (2, 4):
            cycles = 100000 // count
            seconds = statistics.median(simulate(ranks(count), "torus:8,8", "--load 0.02", cycles)["wall_seconds"] for _ in range(asked.rounds))
            alone = statistics.median(simulate([], "torus:8,8", "--load 0.02", cycles)["wall_seconds"] for _ in range(asked.rounds))
            tell(f"a window of {count} ranks", (seconds - alone / count) / (cycles / WINDOW_CYCLES) * 1e6, "us")
    if asked.json:
        pathlib.Path(asked.json).write_text(json.dumps(figures, indent=2) + "\n")


main()
