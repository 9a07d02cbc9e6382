#!/usr/bin/env python3
"""Networks against truths that leat did not make: closed formulas, published figures, a plain model
of a queue, and curves measured with BookSim2.

    validate.py LEAT                    short: every claim at a few points
    validate.py LEAT --long DIR         long: all points; writes DIR/validation.md and plots

Ends with 1 if any figure is farther from the truth than it may be.
"""
import csv
import html
import json
import math
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
LEAT = sys.argv[1]
LONG = len(sys.argv) > 3 and sys.argv[2] == "--long"
OUT = sys.argv[3] if LONG else None
SEED = 1

# Karol, Hluchyj and Morgan 1987, table I: saturation of input queues.
KAROL = {2: 0.7500, 3: 0.6825, 4: 0.6553, 5: 0.6399, 6: 0.6302, 7: 0.6234, 8: 0.6184}

rows = {}      # section -> rows of (what, truth, measured, unit, difference, allowed)
failures = []


def sim(fabric, load, cycles, *more):
    command = [LEAT, "sim", fabric, "--load", f"{load:g}", "--cycles", str(cycles), "--seed", str(SEED),
               "--json", *more]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
    result = json.loads(done.stdout)
    result["command"] = " ".join(["leat"] + command[1:])
    return result


def run(jobs):
    """[(key, arguments of sim)] -> [(key, result)], two at a time, in order."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(zip([key for key, _ in jobs], pool.map(lambda job: sim(*job[1]), jobs)))


def compare(section, what, truth, measured, allowed, slack=0.0):
    """`allowed`: as a part of the truth; `slack`: an absolute difference that is no difference."""
    off = abs(measured - truth)
    part = off / abs(truth) if truth else math.inf
    good = off <= slack or part <= allowed
    rows.setdefault(section, []).append((what, truth, measured, part, allowed, good))
    if not good:
        failures.append(f"{section}: {what}: {measured:.5g}, expected {truth:.5g} within {allowed:.0%}")


# ---- single switches ----

def plain_input_queues(n, slots):
    """Karol's model, saturated: heads of n queues, each for a random output that serves one."""
    r = random.Random(n)
    head = [r.randrange(n) for _ in range(n)]
    served = 0
    for slot in range(slots):
        order = list(range(n))
        r.shuffle(order)
        taken = set()
        for i in order:
            if head[i] not in taken:
                taken.add(head[i])
                head[i] = r.randrange(n)
        served += len(taken) if slot >= slots // 10 else 0
    return served / (slots - slots // 10) / n


def input_queues():
    section = "Input queues: saturation"
    cycles = 300000 if LONG else 30000
    sizes = [2, 3, 4, 5, 6, 7, 8, 16, 32, 64] if LONG else [2, 3, 4, 8, 16, 64]
    jobs = [(n, (f"crossbar:{n}/switch=fifo/buffer=4096", 1.0, cycles)) for n in sizes]
    for n, result in run(jobs):
        truth = KAROL.get(n) or plain_input_queues(n, 60000 if LONG else 8000)
        source = "published" if n in KAROL else "plain model"
        compare(section, f"{n} x {n} ({source})", truth, result["throughput"], 0.01)
        plot("input_queues", "inputs", "throughput", "measured", n, result["throughput"])
        plot("input_queues", "inputs", "throughput", source, n, truth)
    plot("input_queues", "inputs", "throughput", "2 - sqrt 2", 2, 2 - math.sqrt(2))
    plot("input_queues", "inputs", "throughput", "2 - sqrt 2", 64, 2 - math.sqrt(2))


def zero_load(fabric, *more):
    """Latency of a packet that meets no other."""
    return sim(fabric, 0.0005, 200000, *more)["latency_cycles"]["p50"]


def output_queues():
    n = 16
    cycles = 1000000 if LONG else 60000
    loads = [l / 10 for l in range(1, 10)] if LONG else [0.2, 0.5, 0.8]
    for kind in ("output", "shared", "xpq"):
        section = f"Waiting in a {n} x {n} switch, {kind}"
        fabric = f"crossbar:{n}/switch={kind}/buffer=4096"
        free = zero_load(fabric)
        for load, result in run([(l, (fabric, l, cycles)) for l in loads]):
            truth = (n - 1) / n * load / (2 * (1 - load))
            wait = result["latency_cycles"]["mean"] - free
            compare(section, f"load {load}", truth, wait, 0.02 if LONG else 0.08, slack=0.002)
            plot("output_queues", "load", "cycles of waiting", kind, load, wait)
            plot("output_queues", "load", "cycles of waiting", "closed form", load, truth)


def bus_matrix():
    """The switch of the thesis itself, octet by octet, with the plain sources of its check workload:
    cells begin at any cycle, so time is counted in cells of 53 cycles."""
    n, cell = 16, 53
    section = f"Waiting in the {n} x {n} bus-matrix switch of the thesis"
    fabric, more = f"bmx:{n}/buffer=64", ("--traffic", "W")
    cycles = 10000000 if LONG else 1000000
    free = sim(fabric, 0.01, 100000, *more)["latency_cycles"]["p50"]
    chances = [0.01, 0.02, 0.03, 0.05, 0.08, 0.12] if LONG else [0.02, 0.05]
    for _, result in run([(chance, (fabric, chance, cycles) + more) for chance in chances]):
        load = result["throughput"]
        truth = (n - 1) / n * load / (2 * (1 - load))
        wait = (result["latency_cycles"]["mean"] - free) / cell
        compare(section, f"load {load:.3f}, in cell times", truth, wait, 0.03)
        plot("output_queues", "load", "cycles of waiting", "bus matrix (cell times)", load, wait)


def plain_islip(n, load, iterations, slots):
    """Mean wait of virtual output queues matched by iSLIP (McKeown 1999), in slots."""
    r = random.Random(1)
    queue = [[[] for _ in range(n)] for _ in range(n)]
    grant, accept = [0] * n, [0] * n
    waited = served = 0
    for slot in range(slots):
        for i in range(n):
            if r.random() < load:
                queue[i][r.randrange(n)].append(slot)
        input_of, output_of = [None] * n, [None] * n
        for iteration in range(iterations):
            offers = [[] for _ in range(n)]
            for o in range(n):
                if input_of[o] is None:
                    asking = [i for i in range(n) if output_of[i] is None and queue[i][o]]
                    if asking:
                        offers[min(asking, key=lambda i: (i - grant[o]) % n)].append(o)
            for i in range(n):
                if offers[i]:
                    o = min(offers[i], key=lambda o: (o - accept[i]) % n)
                    output_of[i], input_of[o] = o, i
                    if iteration == 0:
                        grant[o], accept[i] = (i + 1) % n, (o + 1) % n
        for i, o in enumerate(output_of):
            if o is not None:
                begun = queue[i][o].pop(0)
                if slot > slots // 5:
                    waited, served = waited + slot - begun, served + 1
    return waited / served


def virtual_output_queues():
    n = 8
    slots, cycles = (60000, 1000000) if LONG else (10000, 100000)
    section = f"Waiting in a {n} x {n} switch, voq with iSLIP (plain model)"
    jobs = []
    for iterations in (1, 3):
        for load in (0.4, 0.7) if LONG else (0.6,):
            jobs.append(((iterations, load),
                         (f"crossbar:{n}/switch=voq/buffer=4096/iterations={iterations}", load, cycles)))
    free = zero_load(f"crossbar:{n}/switch=voq/buffer=4096")
    for (iterations, load), result in run(jobs):
        wait = result["latency_cycles"]["mean"] - free
        compare(section, f"load {load}, iterations {iterations}", plain_islip(n, load, iterations, slots),
                wait, 0.03 if LONG else 0.1)


def single_queues():
    """Packets of 4 flits wait at their sources: Geo/D/1. Flits of many inputs meet at an output: nearly
    Poisson, so M/D/1."""
    flits, inputs = 4, 256 if LONG else 128
    more = ("--traffic", "neighbour", "--flits", str(flits))
    for name, fabric, more, cycles, closed in (
            ("Geo/D/1", "crossbar:8/switch=output/buffer=4096", more, 3000000 if LONG else 300000,
             lambda load: load * (flits - 1) / (2 * (1 - load))),
            ("M/D/1", f"crossbar:{inputs}/switch=output/buffer=4096", (), 60000 if LONG else 3000,
             lambda load: load / (2 * (1 - load)))):
        section = f"Single queue, {name}"
        free = sim(fabric, 0.0005, 20000, *more)["latency_cycles"]["p50"]
        loads = [l / 10 for l in range(1, 10)] if LONG else [0.3, 0.6, 0.8]
        for load, result in run([(l, (fabric, l, cycles) + more) for l in loads]):
            wait = result["latency_cycles"]["mean"] - free
            compare(section, f"load {load}", closed(load), wait, 0.02 if LONG else 0.12, slack=0.002)
            plot("single_queues", "load", "cycles of waiting", name, load, wait)
            plot("single_queues", "load", "cycles of waiting", f"{name}: closed form", load, closed(load))


# ---- routers with virtual channels ----

def references():
    """The curves of all CSV files beside this one; FABRIC and more arguments by their config."""
    with open(os.path.join(HERE, "configurations.json"), encoding="utf-8") as file:
        known = json.load(file)
    for name in sorted(os.listdir(HERE)):
        if not name.endswith(".csv"):
            continue
        with open(os.path.join(HERE, name), encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                yield known[row["config"]], row


def curves():
    points = list(references())
    cycles = 200000 if LONG else 20000
    if not LONG:
        points = points[::3]
    jobs = []
    for config, row in points:
        load = float(row["offered_flits_per_node_per_cycle"])
        jobs.append(((config, row), (config["fabric"], load, cycles, *config["more"])))
    for (config, row), result in run(jobs):
        section = f"{row['config']} against BookSim2"
        load = float(row["offered_flits_per_node_per_cycle"])
        latency, accepted = float(row["packet_latency_mean_cycles"]), float(row["accepted_flits"])
        stable = load <= config["stable_below"]
        if stable:
            compare(section, f"load {load}: latency", latency, result["latency_cycles"]["mean"], 0.03)
            compare(section, f"load {load}: routers passed", float(row["hops_mean"]),
                    result["hops_mean"], 0.02)
        compare(section, f"load {load}: accepted", accepted, result["throughput"], 0.03, slack=0.0025)
        if latency < 200:
            plot(row["config"], "load", "latency", "BookSim2", load, latency)
            plot(row["config"], "load", "latency", "leat", load, result["latency_cycles"]["mean"])


def saturation():
    """Accepted load beyond saturation, where BookSim2's own points say what it is."""
    section = "Saturation of the mesh"
    for name, more in (("mesh8x8-1flit", ()),):
        truth = 0.419958  # golden, offered 0.43
        result = sim("mesh:8,8", 0.43, 200000 if LONG else 40000, *more)
        compare(section, name, truth, result["throughput"], 0.03, slack=0.0025)


# ---- the report ----

series = {}


def plot(name, x, y, line, at, value):
    series.setdefault(name, {"x": x, "y": y, "lines": {}})["lines"].setdefault(line, []).append((at, value))


COLOURS = ("#0072b2", "#d55e00", "#009e73", "#b0528f", "#8a6000", "#4a4a4a")
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 640, 400, 64, 16, 620, 350  # of a plot and its frame


def scale(values, first, last):
    """Where a value stands, and round ticks: 5 or so, from 0 to above the largest."""
    most = max(values) * 1.05
    step = 10 ** math.floor(math.log10(most / 5))
    step = next(step * k for k in (1, 2, 5, 10) if step * k >= most / 6)
    ticks = [step * i for i in range(int(most / step) + 1)]
    return (lambda value: first + (last - first) * value / most), ticks


def draw(name, what):
    """A plot in SVG: measured lines with marks, closed forms and published ones dashed."""
    path = os.path.join(OUT, "validation", f"{name}.svg")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    points = [point for line in what["lines"].values() for point in line]
    x, x_ticks = scale([point[0] for point in points], LEFT, RIGHT)
    y, y_ticks = scale([point[1] for point in points], BOTTOM, TOP)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
           f'font-size="13">', f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>']
    for tick in x_ticks:
        out += [f'<path d="M{x(tick):.1f} {TOP}V{BOTTOM}" stroke="#e6e9ed"/>',
                f'<text x="{x(tick):.1f}" y="{BOTTOM + 18}" text-anchor="middle">{tick:g}</text>']
    for tick in y_ticks:
        out += [f'<path d="M{LEFT} {y(tick):.1f}H{RIGHT}" stroke="#e6e9ed"/>',
                f'<text x="{LEFT - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>']
    out += [f'<path d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}" fill="none" stroke="#5a636d"/>',
            f'<text x="{(LEFT + RIGHT) / 2:.0f}" y="{BOTTOM + 40}" text-anchor="middle">{html.escape(what["x"])}</text>',
            f'<text transform="translate(16 {(TOP + BOTTOM) / 2:.0f}) rotate(-90)" text-anchor="middle">'
            f'{html.escape(what["y"])}</text>']
    for i, (line, each) in enumerate(what["lines"].items()):
        colour, at = COLOURS[i % len(COLOURS)], TOP + 16 + 18 * i
        dashed = any(word in line for word in ("form", "sqrt", "published"))
        out.append(f'<path d="M{"L".join(f"{x(a):.1f} {y(b):.1f}" for a, b in each)}M{LEFT + 12} {at}h24" fill="none" '
                   f'stroke="{colour}" stroke-width="2"{" stroke-dasharray=" + chr(34) + "6 4" + chr(34) if dashed else ""}/>')
        out += [f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="3" fill="{colour}"/>' for a, b in each if not dashed]
        out.append(f'<text x="{LEFT + 42}" y="{at + 4}">{html.escape(line)}</text>')
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out + ["</svg>", ""]))


def write():
    version = subprocess.run([LEAT, "--version"], capture_output=True, text=True).stdout.strip()
    lines = ["# Validation of networks", "",
             f"Written by `make validate` ({version}). The last column is the allowed relative error.", ""]
    with open(os.path.join(HERE, "README.md"), encoding="utf-8") as file:
        lines += file.read().splitlines()[2:] + [""]
    for name, what in series.items():
        draw(name, what)
    lines += [f"![{name}](validation/{name}.svg)" for name in series] + [""]
    for section, each in rows.items():
        lines += [f"## {section}", "", "| | reference | leat | error | allowed |", "|---|---:|---:|---:|---:|"]
        lines += [f"| {what} | {truth:.5g} | {got:.5g} | {part:.2%} | {allowed:.0%} |{'' if good else ' **no** |'}"
                  for what, truth, got, part, allowed, good in each]
        lines.append("")
    with open(os.path.join(OUT, "validation.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


for part in (input_queues, output_queues, bus_matrix, virtual_output_queues, single_queues, curves, saturation):
    part()
if LONG:
    write()
checked = sum(len(each) for each in rows.values())
for failure in failures:
    print(failure, file=sys.stderr)
print(f"{checked - len(failures)} of {checked} figures within their limits")
sys.exit(1 if failures else 0)
