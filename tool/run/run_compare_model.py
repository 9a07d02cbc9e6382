#!/usr/bin/env python3
"""What the object of a run must say about the program of run_compare_test.sh, from the program's text and from spec/programs.md and spec/atm.md alone.

usage: run_compare_model.py FILE: an object of leat run over mesh:WIDTH,HEIGHT, etherN, ringN, twosan or 8 ports of clos444
Each rank r sends, ROUNDS times, 100 (r + 1) octets to rank r + 1 and 7 octets to rank r + 5, modulo their number.
"""
import collections
import json
import math
import re
import sys

ROUNDS, HEADER = 3, 24
FLIT, PACKET_FLITS, CYCLE_SECONDS = 16, 16, 1e-9
PAYLOAD, OUI, PIECE, BIT_SECONDS = 1500, 7, 8, 1e-8
RING_PACKET = 4096
TWOSAN_RING, TWOSAN_BIT_SECONDS, LINK_SECONDS = 7, 4e-9, 1e-7  # hosts of the ring, its bits; the link of the router
BLOCK, MESSAGE_HEADER, PATHS, CELL_SECONDS = 36, 20, 4, 53 * 5e-8


def sends(ranks):
    for rank in range(ranks):
        yield rank, (rank + 1) % ranks, 100 * (rank + 1) + HEADER
        yield rank, (rank + 5) % ranks, 7 + HEADER


def flits_of(octets):
    """How many, and the time of all: each packet has one for its header, and as many others as fit."""
    data = math.ceil(octets / FLIT)
    flits = data + math.ceil(data / (PACKET_FLITS - 1))
    return flits, flits * CYCLE_SECONDS


def frames_of(octets):
    """The same for Ethernet frames: preamble 8, addresses and type 14, payload of at least 46, FCS 4."""
    head, sizes = OUI, [octets]
    if octets > PAYLOAD - OUI:
        head, piece = OUI + PIECE, PAYLOAD - OUI - PIECE
        sizes = [min(piece, octets - at) for at in range(0, octets, piece)]
    return len(sizes), sum(8 * (26 + max(46, head + size)) for size in sizes) * BIT_SECONDS


def route(a, b, width):
    """Wires of dimension-order routing: first along x, then along y, then to the port."""
    at = a
    while at != b:
        if at % width != b % width:
            step = 1 if b % width > at % width else -1
        else:
            step = width if b > at else -width
        yield f"{at}>{at + step}"
        at += step
    yield f"{b}>port {b}"


def ring_frames_of(octets, bit_seconds=1e-9):
    """The same for a token ring: delimiters, addresses and checks are 128 symbols, the head of each packet has 8 octets."""
    frames = math.ceil(octets / RING_PACKET)
    return frames, (frames * (128 + 8 * 8) + 8 * octets) * bit_seconds


# What each send, in one round, puts on wires: (wire, key, number, seconds).

def loads_of_mesh(ranks, width):
    for a, b, octets in sends(ranks):
        for wire in route(a, b, width):
            yield wire, "flits", *flits_of(octets)


def loads_of_ethernet(ranks):
    for a, b, octets in sends(ranks):
        for wire in f"port {a}>switch", f"switch>port {b}":
            yield wire, "frames", *frames_of(octets)


def loads_of_ring(ranks):
    for _, _, octets in sends(ranks):
        yield "ring", "frames", *ring_frames_of(octets)


def loads_of_twosan(ranks):
    """The ring and the router of twosan. Words of 8 octets: PH 2, the head of a message 2, TAIL 1; to the Clos network, an L2RH (spec/packetway.md)."""
    for a, b, octets in sends(ranks):
        from_ring, to_ring = a < TWOSAN_RING, b < TWOSAN_RING
        words = 2 + 2 + math.ceil(octets / 8) + 1 + (from_ring and not to_ring)
        if from_ring or to_ring:
            yield "ring: ring", "frames", *ring_frames_of(8 * words, TWOSAN_BIT_SECONDS)
        if from_ring != to_ring:
            yield ("west: ring>clos" if from_ring else "west: clos>ring"), "packets", 1, LINK_SECONDS


def questions_of_twosan(ranks):
    """Once, each host of the ring asks for each route to the Clos network: GVL2 has 4 words, L2SR with one route 7 (T16, T17)."""
    for a, b in {(a, b) for a, b, _ in sends(ranks) if a < TWOSAN_RING <= b}:
        for words in 4, 7:
            yield "ring: ring", "frames", *ring_frames_of(8 * words, TWOSAN_BIT_SECONDS)


def check(what, good):
    if not good:
        sys.exit(f"{what} is not what the model says")


def check_pairs(run, ranks):
    want = collections.Counter()
    for a, b, octets in sends(ranks):
        want[a, b] += ROUNDS * octets
    got = [(p["sender"], p["receiver"], p["messages"], p["bytes"]) for p in run["pairs"]]
    check("pairs", got == [(a, b, ROUNDS, want[a, b]) for a, b in sorted(want)])
    check("the sum of pairs", sum(p["bytes"] for p in run["pairs"]) == run["bytes"])
    check("their messages", sum(p["messages"] for p in run["pairs"]) == run["messages"])


def check_wires(run, loads, once=()):
    carried, busy = collections.Counter(), collections.Counter()
    for times, some in (ROUNDS, loads), (1, once):
        for wire, key, number, seconds in some:
            carried[wire, key] += times * number
            busy[wire] += times * seconds
    wires = [w for w in run["busiest_wires"] if not w["wire"].startswith("clos: ")]
    check("the number of wires", len(wires) == min(32, len(busy)))
    for w, seconds in zip(wires, sorted(busy.values(), reverse=True)):
        share, key = seconds / run["simulated_seconds"], list(w)[2]
        check(f"the order of {w['wire']}", abs(busy[w["wire"]] - seconds) < 1e-12)
        check(f"{key} of {w['wire']}", carried[w["wire"], key] == w[key])
        check(f"utilisation of {w['wire']}", abs(w["utilisation"] - share) < 1e-6)


def check_cells(run, ranks):
    """clos444: PATHS ports a switch; 0 to 3 are input switches, 4 to 7 middle ones, 8 to 11 output switches."""
    pairs = collections.Counter()  # each cell is acknowledged by one in the other direction
    for a, b, octets in sends(ranks):
        cells = math.ceil((octets + MESSAGE_HEADER) / BLOCK)
        pairs[a, b] += ROUNDS * cells
        pairs[b, a] += ROUNDS * cells
    want, got = collections.Counter(), collections.Counter()
    for (a, b), cells in pairs.items():
        want[f"port {a}>{a // PATHS}"] += cells
        want[f"{8 + b // PATHS}>port {b}"] += cells
        want[f"middle>{8 + b // PATHS}"] += cells
    for a in range(ranks):  # a port takes the paths in turn
        for number in range(want[f"port {a}>{a // PATHS}"]):
            want[f"{a // PATHS}>{4 + number % PATHS}"] += 1
    wires = run["busiest_wires"]
    for w in wires:
        got[re.sub("^[4-7]>", "middle>", w["wire"])] += w["cells"]
        share = w["cells"] * CELL_SECONDS / run["simulated_seconds"]
        check(f"utilisation of {w['wire']}", abs(w["utilisation"] - share) < 1e-6)
    check(f"cells: {got - want} too many, {want - got} too few; this", got == want)
    check("the order of wires", wires == sorted(wires, key=lambda w: -w["cells"]))


def check_timeline(run):
    line = run["timeline"]
    width, total = line["bin_seconds"], collections.Counter()
    bins = math.ceil(run["simulated_seconds"] / width - 1e-9)
    check("the width of bins", 256 < bins <= 512 or width == 1e-9)
    check("the number of tasks", len(line["bins"]) == run["tasks"])
    for task, slices in zip(run["per_task"], line["bins"]):
        check("a task's bins", abs(len(slices) - math.ceil(task["seconds"] / width)) <= 1)
        for index, states in enumerate(slices):
            shares = sum(share for _, share in states)
            check("a full bin", index == len(slices) - 1 or abs(shares - 1) <= 0.0005 * len(states) + 1e-9)
            for state, share in states:
                total[line["state_names"][state]] += share * width
    rounding = 0.0005 * width * 512 * run["tasks"]
    for call in run["profile"]:
        check(f"time in {call['call']}", abs(total[call["call"]] - call["seconds"]) <= rounding)
    check("the time of all", abs(sum(total.values()) - sum(t["seconds"] for t in run["per_task"])) <= 2 * rounding)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        run = json.load(file)
    check("schema", next(iter(run.items())) == ("schema", "leat.run/1"))
    mesh = re.match(r"mesh:(\d+),(\d+)", run["fabric"])
    ranks = int(mesh[1]) * int(mesh[2]) if mesh else run["tasks"]
    check_pairs(run, ranks)
    if run["fabric"].startswith("clos444"):
        check_cells(run, ranks)
    elif mesh:
        check_wires(run, loads_of_mesh(ranks, int(mesh[1])))
    elif run["fabric"].startswith("ether"):
        check_wires(run, loads_of_ethernet(ranks))
    elif run["fabric"].startswith("ring"):
        check_wires(run, loads_of_ring(ranks))
    else:
        check_wires(run, loads_of_twosan(ranks), questions_of_twosan(ranks))
    check_timeline(run)


main()
