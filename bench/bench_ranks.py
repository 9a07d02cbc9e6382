"""Runs of many ranks: the time to start and end them, beside mpirun's own; memory; an all-to-all and a stencil.

usage: bench_ranks.py LEAT [JSON] [--most RANKS]
Ranks far outnumber processors here. mpirun's own start is measured up to 128 ranks: with 256 on two processors it takes minutes, since
its ranks wait in naps of 0.1 ms. RANKS (256) is the largest run over leat; up to 1,056 fit the largest network here.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from processes import run

MOST_OF_MPIRUN = 128


def fabric(ranks):
    """With a port for each rank."""
    return "torus:16,16" if ranks <= 256 else "dragonfly:4,8,4"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("leat")
    parser.add_argument("json", nargs="?")
    parser.add_argument("--most", type=int, default=256)
    return parser.parse_args()


def main():
    asked = arguments()
    if not shutil.which("mpicc"):
        print("bench_ranks: no mpicc, so no MPI programs to measure with", file=sys.stderr)
        return
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    figures = []

    def measure(name, ranks, command):
        seconds, kib = run(command, environment)
        print(f"{name:40} {ranks:5} ranks {seconds:8.1f} s {kib / ranks:8.0f} KiB/rank", flush=True)
        figures.append({"name": name, "ranks": ranks, "value": round(seconds, 2), "unit": "s", "kib_per_rank": round(kib / ranks)})

    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "ranks"
        subprocess.run(["mpicc", "-O2", "-o", program, pathlib.Path(__file__).resolve().parent / "ranks.c"], check=True)
        for ranks in [n for n in (16, 32, 64, 128, 256, 512, 1024) if n <= asked.most]:
            ours = [asked.leat, "run", "--fabric", fabric(ranks), "-n", str(ranks), "--", str(program)]
            if ranks <= MOST_OF_MPIRUN:
                measure("mpirun: start and end", ranks, ["mpirun", "--oversubscribe", "-n", str(ranks), str(program), "start"])
            measure("leat run: start and end", ranks, [*ours, "start"])
            measure("leat run: all-to-all and stencil", ranks, [*ours, "work"])
    if asked.json:
        pathlib.Path(asked.json).write_text(json.dumps(figures, indent=2) + "\n")


main()
