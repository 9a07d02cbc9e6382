"""Programs of the thesis over ATM fabrics with random faults: a run has the right result, or ends with a reason.

Where all faults end before a cell is given up, every run has the right result. Where some last, a run
may also end with exit code 1 and a reason. No run takes longer than LIMIT.

usage: faults.py LEAT RUNS SEED
"""
import json
import random
import subprocess
import sys

LIMIT = 60  # seconds
CYCLES = 9000  # programs take about 5,000 without faults
RETRANSMIT = 4000


def lattice(width, height):
    return [
        (y * width + x, y2 * width + x2)
        for y in range(height)
        for x in range(width)
        for x2, y2 in (((x + 1) % width, y), (x, (y + 1) % height))
    ]


def clos(e, m, r):
    sides = [(side, r + middle) for side in range(r) for middle in range(m)]
    return sides + [(middle, r + m + side) for side, middle in sides]


# Name, models, ports, switches, links.
FABRICS = [
    ("clos444", ["cell", "rtl"], 16, 12, clos(4, 4, 4)),
    ("clos:2,5,4/buffer=2", ["cell", "rtl"], 8, 13, clos(2, 5, 4)),
    ("clos:4,4,4/switching=vc", ["cell", "rtl"], 16, 12, clos(4, 4, 4)),
    ("bmx:16", ["cell", "rtl"], 16, 1, []),
    ("torus:4,4/cells", ["cell"], 16, 16, lattice(4, 4)),
    ("torus:4,4/cells/routing=updown", ["cell"], 16, 16, lattice(4, 4)),
    ("hypercube:4/cells/switch=output", ["cell"], 16, 16, [(a, a ^ 1 << d) for a in range(16) for d in range(4)]),
    ("crossbar:16/cells/switch=shared", ["cell"], 16, 1, []),
]


def fault(draw, ports, switches, links, lasts, cycles=CYCLES):
    kinds = ["port", "ber", "switch"] + (["link", "link", "flap", "ber-link"] if links else [])
    kind = draw.choice(kinds)
    begin = draw.randrange(cycles)
    when = f"@{begin}.." if lasts else f"@{begin}..{begin + 1 + draw.randrange(cycles)}"
    rate = draw.choice(["1e-6", "1e-5", "0.00003"])
    link = "{}-{}".format(*draw.choice(links)) if links else ""
    return {
        "port": f"port:{draw.randrange(ports)}{when}",
        "switch": f"switch:{draw.randrange(switches)}{when}",
        "ber": f"ber:{rate}{when}",
        "link": f"link:{link}{when}",
        "ber-link": f"ber:{link}:{rate}{when}",
        "flap": f"flap:{link}{when}/{1 + draw.randrange(2000)},{1 + draw.randrange(2000)}",
    }[kind]


def run(leat, program, fabric, model, faults):
    command = [leat, "experiment", program, "--fabric", fabric, "--model", model, "--json"]
    command += ["--retransmit", str(RETRANSMIT)]
    for each in faults:
        command += ["--fault", each]
    return command, subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)


def main(leat, runs, seed):
    right = {}
    ended = 0
    for program in ("linear", "matrix"):
        right[program] = json.loads(run(leat, program, "clos444", "cell", [])[1].stdout)["result"]
    for number in range(runs):
        draw = random.Random(f"{seed} {number}")
        program = draw.choice(list(right))
        name, models, ports, switches, links = draw.choice(FABRICS)
        lasts = draw.random() < 0.3
        faults = [fault(draw, ports, switches, links, lasts and i == 0) for i in range(draw.randint(1, 5))]
        try:
            command, done = run(leat, program, name, draw.choice(models), faults)
        except subprocess.TimeoutExpired as error:
            sys.exit(f"seed {seed}, run {number}: no end after {LIMIT} s: {' '.join(error.cmd)}")
        good = done.returncode == 0 and json.loads(done.stdout)["result"] == right[program]
        given_up = lasts and done.returncode == 1 and done.stderr.startswith("leat: ")
        if not good and not given_up:
            sys.exit(f"seed {seed}, run {number}: exit code {done.returncode}: {' '.join(command)}\n"
                     f"{done.stdout}{done.stderr}")
        ended += given_up
    print(f"{runs} programs under faults, seed {seed}: {runs - ended} right results, {ended} ended with a reason, "
          "0 wrong, 0 without an end")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
