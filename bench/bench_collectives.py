"""Collective operations of MPI programs by hosts and by the network, beside each other: simulated time.

usage: bench_collectives.py LEAT [JSON] [--fabric FABRIC]... [--overhead TIME]
Of each operation of collectives.c its time in an idle network, until the last rank has returned; then three programs of
share/programs, from start to end. A ratio above 1: the network is faster. Simulated times are the same in every run. A fabric that
carries out no collective operations is named and left out. Sums of real numbers (cg) are those of --collectives network,reproducible.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

RANKS = 16
OVERHEAD = []  # an option of leat run
FABRICS = ("clos444", "ring16", "torus:4,4/esp=20", "fattree:4,2/esp=20",
           "ether16/rate=1000/esp=20", "twosan")
# Program, arguments, who carries out collective operations
PROGRAMS = (("cg", ("48",), "network,reproducible"), ("kmeans", ("4000",), "network"), ("stealing", ("2000",), "network"))
HERE = pathlib.Path(__file__).resolve().parent


class NoMeans(Exception):
    """leat refuses: exit code 2."""

    def __init__(self, complaint):
        super().__init__(complaint.split(", expected")[0].strip())


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("leat")
    parser.add_argument("json", nargs="?")
    parser.add_argument("--fabric", action="append")
    parser.add_argument("--overhead", default="0s", help="of a host, for each message: as leat run has it")
    return parser.parse_args()


def shown(leat, fabric):
    """Ranks, and seconds per cycle if it is an ATM fabric."""
    done = subprocess.run([leat, "fabric", "show", fabric, "--json"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoMeans(done.stderr)
    about = json.loads(done.stdout)
    ports = about.get("ports") or about.get("stations") or about.get("terminals") or RANKS
    period = about.get("period_ps") if "ppds" in about else None
    return min(RANKS, ports), period and 1e-12 * period["num"] / period["den"]


def run(leat, fabric, ranks, by, command, folder):
    """What the program prints, and the object of leat run."""
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    result = folder / "run.json"
    words = [leat, "run", "--fabric", fabric, "-n", str(ranks), "--collectives", by, *OVERHEAD, f"--json={result}", "--",
             *map(str, command)]
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
    if done.returncode == 2:
        raise NoMeans(done.stderr)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout, json.loads(result.read_text())


def left_to_hosts(about):
    """Calls that the hosts carried out in a run by the network."""
    return [f"{each['call']} {each['by_hosts']} of {each['in_network'] + each['by_hosts']} ({', '.join(each['reasons'])})"
            for each in about.get("collectives", []) if each["by_hosts"]]


def times(text):
    """Name: seconds."""
    return {name: float(seconds) for seconds, name in (line.split(" ", 1) for line in text.splitlines())}


def measure(leat, fabric, folder):
    """Yields name, seconds by hosts, seconds by the network, and which calls that left to the hosts."""
    ranks, period = shown(leat, fabric)
    operations = folder / "collectives"
    by_network, about = run(leat, fabric, ranks, "network", [operations], folder)  # first: it may be refused
    by_hosts, _ = run(leat, fabric, ranks, "host", [operations], folder)
    cycle = f"; cycles of {1e9 * period:g} ns" if period else ""
    print(f"{fabric}, {ranks} ranks{cycle}")
    print(f"  {'':38} {'by hosts':>14} {'by the network':>15} {'ratio':>8}" + (f" {'cycles, hosts':>14} {'network':>9}" if period else ""))
    hosts, network = times(by_hosts), times(by_network)
    for name, seconds in hosts.items():
        yield name, ranks, period, seconds, network[name], []
    print_left(left_to_hosts(about))
    for name, words, by in PROGRAMS:
        command = [folder / name, *words]
        said, hosts = run(leat, fabric, ranks, "host", command, folder)
        answer, network = run(leat, fabric, ranks, by, command, folder)
        if said != answer:
            sys.exit(f"{fabric}, {name}: {said}by hosts, but {answer}by the network")
        left = left_to_hosts(network)
        yield " ".join([name, *words]), ranks, period, hosts["simulated_seconds"], network["simulated_seconds"], left
        print_left(left)


def print_left(calls):
    if calls:
        print(f"    by hosts: {'; '.join(calls)}", flush=True)


def main():
    asked = arguments()
    if not shutil.which("mpicc"):
        print("bench_collectives: no mpicc, so no MPI programs to measure with", file=sys.stderr)
        return
    OVERHEAD.extend(["--overhead", asked.overhead])
    figures = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for source in (HERE / "collectives.c", *(HERE.parent / "share/programs" / f"{each[0]}.c" for each in PROGRAMS)):
            subprocess.run(["mpicc", "-O2", "-o", folder / source.stem, source], check=True)
        for fabric in asked.fabric or FABRICS:
            try:
                for what, ranks, period, hosts, network, left in measure(asked.leat, fabric, folder):
                    cycles = f" {hosts / period:14.0f} {network / period:9.0f}" if period else ""
                    print(f"  {what:38} {1e6 * hosts:11.3f} us {1e6 * network:12.3f} us {hosts / network:6.2f} x{cycles}", flush=True)
                    figures.append({"name": f"{fabric}, {what}", "ranks": ranks, "value": round(hosts / network, 3), "unit": "x",
                                    "hosts_us": round(1e6 * hosts, 6), "network_us": round(1e6 * network, 6), "left_to_hosts": left})
            except NoMeans as refused:
                print(f"{fabric}: no means yet ({refused})", flush=True)
                figures.append({"name": fabric, "refused": str(refused)})
    if asked.json:
        pathlib.Path(asked.json).write_text(json.dumps(figures, indent=2) + "\n")


main()
