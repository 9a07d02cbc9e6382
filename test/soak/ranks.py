"""Random networks on random numbers of ranks and threads have the results of one process.

usage: ranks.py LEAT RUNS SEED
"""
import json
import os
import random
import subprocess
import sys

MACHINE = ("wall_seconds", "cycles_per_second", "flit_hops_per_second", "threads", "ranks")


def fabric(draw):
    def size(least, most):
        return draw.randint(least, most)

    kind = draw.choice(["mesh", "torus", "hyperx", "fattree", "dragonfly", "hypercube", "line", "fly", "benes"])
    large = {  # of these each rank builds only its share
        "mesh": lambda: f"{size(20, 60)},{size(105, 140)}",
        "torus": lambda: f"{size(4, 9)},{size(20, 30)},{size(27, 31)}",
        "hyperx": lambda: f"{size(14, 16)},{size(3, 4)},{size(49, 52)}",
        "fattree": lambda: f"{size(2, 3)},{size(9, 10)}",
        "dragonfly": lambda: f"1,{size(14, 16)},{size(11, 13)}",
        "hypercube": lambda: "12",
        "line": lambda: str(size(2049, 3000)),
        "fly": lambda: f"2,{size(10, 11)}",
        "benes": lambda: "1024",
    }
    small = {
        "mesh": lambda: ",".join(str(size(3, 9)) for _ in range(size(1, 3))),
        "torus": lambda: ",".join(str(size(3, 9)) for _ in range(size(1, 3))),
        "hyperx": lambda: f"{size(3, 7)},{size(3, 7)}",
        "fattree": lambda: f"{size(2, 4)},{size(2, 3)}",
        "dragonfly": lambda: f"{size(1, 2)},{size(2, 4)},{size(1, 2)}",
        "hypercube": lambda: str(size(3, 6)),
        "line": lambda: str(size(8, 40)),
        "fly": lambda: f"2,{size(3, 5)}",
        "benes": lambda: str(2 ** size(3, 5)),
    }
    numbers = (large if draw.random() < 0.2 else small)[kind]()
    options = []
    if draw.random() < 0.5:
        options.append(f"wire={size(1, 5)}")
    if draw.random() < 0.5:
        options.append(f"buffer={size(4, 12)}")
    if draw.random() < 0.5:
        options.append(f"pipeline={size(1, 5)}")
    if draw.random() < 0.3:
        options.append(f"vcs={draw.choice([4, 8])}")
    return "/".join([f"{kind}:{numbers}", *options])


def result(command, environment):
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode == 2:
        return None, done.stderr
    figures = json.loads(done.stdout)
    for key in MACHINE:
        figures.pop(key)
    return (done.returncode, figures), done.stderr


def main():
    leat, runs, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}
    draw = random.Random(seed)
    refused = 0
    for run in range(runs):
        command = [leat, "sim", fabric(draw), "--load", f"{draw.uniform(0.01, 0.6):.3f}", "--flits", str(draw.choice([1, 1, 2, 4])),
                   "--traffic", draw.choice(["uniform", "hotspot", "bursty", "permutation"]), "--cycles", str(draw.randint(200, 3000)),
                   "--seed", str(draw.randint(1, 10**6)), "--json"]
        if draw.random() < 0.3:
            command += ["--fault", f"router:{draw.randint(0, 5)}@{draw.randint(0, 500)}..{draw.randint(501, 1500)}"]
        if draw.random() < 0.3:
            command += ["--fault", "ber:1e-5"]
        ranks, threads = draw.randint(2, 5), draw.randint(1, 2)
        one, _ = result(command, environment)
        many, said = result(["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), *command, "--threads", str(threads)], environment)
        if one is None or many is None:
            refused += 1
            continue
        if one != many:
            print(f"run {run}: {ranks} ranks of {threads} threads differ: {' '.join(command)}\n{one}\n{many}\n{said}")
            sys.exit(1)
    print(f"{runs} networks, {refused} of them refused, 0 differences")


main()
