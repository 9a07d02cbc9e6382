"""The MPI conformance set over fabrics of every kind with random faults: a program passes, or ends with a reason.

Each program checks itself. Where all faults end, it has to pass unless the network lost a message of it.

usage: conformance.py LEAT RUNS SEED
"""
import os
import random
import subprocess
import sys

from campaign import ROOT, Campaign, last_lines, run, wrong_end
from faults import FABRICS, fault, lattice

PROGRAMS = ["send_modes", "matching", "sizes", "requests", "collectives", "onesided", "datatypes",
            "communicators", "topology"]
OTHERS = [  # ports, switches, links; an Ethernet and a token ring have no faults
    ("mesh:4,4", 16, 16, [each for each in lattice(4, 4) if abs(each[0] - each[1]) in (1, 4)]),
    ("torus:4,4/routing=updown", 16, 16, lattice(4, 4)),
    ("torus:4,4/routing=adaptive", 16, 16, lattice(4, 4)),
]


def packetway_fault(draw):
    begin = draw.randrange(200)
    return f"{draw.choice(['router', 'link', 'errors'])}:west@{begin}us..{begin + 1 + draw.randrange(200)}us"


def case(draw):
    """A fabric, its faults, and options."""
    kind = draw.choice(["atm", "atm", "flits", "flits", "packetway", "ring16", "ether16"])
    count = draw.randint(1, 3)
    if kind == "atm":
        name, _, ports, switches, links = draw.choice(FABRICS)
        return name, [fault(draw, ports, switches, links, False) for _ in range(count)], ["--retransmit", "4000"]
    if kind == "flits":
        name, _, _, links = draw.choice(OTHERS)
        link, begin = draw.choice(links), draw.randrange(9000)
        return name, [f"link:{link[0]}-{link[1]}@{begin}..{begin + 1 + draw.randrange(9000)}"], []
    if kind == "packetway":
        return "twosan", [packetway_fault(draw) for _ in range(count)], []
    return kind, [], []


def main(leat, runs, seed):
    campaign = Campaign("conformance under faults", seed)
    for program in PROGRAMS:
        subprocess.run(["mpicc", "-O1", f"-I{ROOT}/test/mpi", "-o", campaign.path(program),
                        f"{ROOT}/test/mpi/{program}.c", f"{ROOT}/test/mpi/check.c", "-lm"], check=True)
    passed = 0
    for number in range(runs):
        draw = random.Random(f"{seed} {number}")
        program = draw.choice(PROGRAMS)
        fabric, faults, options = case(draw)
        command = [leat, "run", "--fabric", fabric, "-n", "4", *options]
        for each in faults:
            command += ["--fault", each]
        done = run([*command, "--", campaign.path(program)], folder=campaign.folder.name)
        passed += done.code == 0
        campaign.tried += 1
        wrong = wrong_end(done)
        if not wrong and done.code and (not faults or b"leat: " not in done.err or b"not ok" in done.out):
            wrong = f"exit code {done.code}: {last_lines(done.out)}\n{last_lines(done.err)}"
        if done.code:
            print(f"case {number}: {fabric}, {', '.join(faults)}: {program}: {last_lines(done.err, 30).splitlines()[0]}", flush=True)
        if wrong:
            campaign.note(f"case {number}: {' '.join(command[1:])} -- {program}", wrong)
    campaign.end(f"{campaign.tried} programs, {passed} passed, {campaign.tried - passed} did not")


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
