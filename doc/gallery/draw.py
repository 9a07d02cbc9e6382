#!/usr/bin/env python3
"""Pictures for the gallery from what leat wrote; SVG on standard output. make.sh has the commands.

    draw.py wires PAGE FABRIC     the drawing of a fabric in a page of leat report
    draw.py timeline TABLE TITLE  what each rank does, from the table of leat export
    draw.py allreduce TITLE {NAME TABLE PACKETS}...
                                  runs over a token ring on one scale: ranks, and packets as leat decode --json read them
    draw.py plate SNAPSHOT TITLE  the temperatures of a heat plate, from the snapshot of leat graph run
    draw.py text TITLE            standard input as it stands on a terminal
"""
import csv
import json
import re
import sys
from xml.sax.saxutils import escape

SANS = "font-family='system-ui,sans-serif'"
INK, QUIET, GRID = "#1c2024", "#5a636d", "#e6e9ed"


def card(width, height, title, parts, ground="#ffffff", ink=INK):
    """A picture with a ground of its own, so that it is readable on dark and light pages."""
    return "\n".join([
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' height='{height}' role='img' {SANS} font-size='13'>",
        f"<title>{escape(title)}</title>",
        f"<rect x='.5' y='.5' width='{width - 1}' height='{height - 1}' rx='8' fill='{ground}' stroke='#cdd3da'/>",
        f"<text x='20' y='30' font-size='15' font-weight='600' fill='{ink}'>{escape(title)}</text>",
        *parts, "</svg>"])


def label(x, y, words, anchor="start", fill=QUIET, more=""):
    return f"<text x='{x:g}' y='{y:g}' text-anchor='{anchor}' fill='{fill}' {more}>{escape(words)}</text>"


def wires(page, fabric):
    html = open(page).read()
    for drawing in re.findall(r"<figure class=\"drawing\">.*?</figure>", html, re.S):
        if f">{fabric}: " in drawing:
            picture = re.search(r"<svg.*</svg>", drawing, re.S).group(0)
            at = re.search(r"<g class=\"legend\"><rect x=\"([-0-9.]+)\" y=\"([-0-9.]+)\"", picture)
            load = re.search(r"<figcaption>.*(at load [0-9.]+[0-9])", drawing).group(1)
            words = f"<text x='{at.group(1)}' y='{float(at.group(2)) - 10:.1f}' style='text-anchor:start;font-size:12px'>utilisation of the wires {load}</text>"
            return picture.replace("</svg>", words + "\n</svg>")
    sys.exit(f"draw.py: {page} has no drawing of {fabric}")


# ---- a timeline

STATES = {"computing": "#3a9d5d", "MPI_Barrier": "#9aa4af", "MPI_Sendrecv": "#0072b2", "MPI_Alltoall": "#d55e00",
          "MPI_Allreduce": "#8e5ea2", "MPI_Recv": "#56b4e9", "MPI_Send": "#e6ab02", "its port to take a message": "#b3261e"}


def spans_of(table):
    """(rank, innermost state, begin, end) in picoseconds."""
    spans, open_spans, since = [], {}, {}
    for row in csv.DictReader(open(table)):
        match = re.fullmatch(r"program\.rank (\d+)", row["track"])
        if not match or row["event"] not in ("begin", "end"):
            continue
        rank, now = int(match.group(1)), int(row["time_ps"])
        stack = open_spans.setdefault(rank, [])
        if stack and now > since[rank]:
            spans.append((rank, stack[-1], since[rank], now))
        since[rank] = now
        if row["event"] == "begin":
            stack.append(row["name"])
        elif stack:
            stack.pop()
    return merged(spans)


def merged(spans):
    """Neighbours of one state are one span."""
    out = []
    for span in sorted(spans, key=lambda s: (s[0], s[2])):
        if out and out[-1][:2] == span[:2] and out[-1][3] == span[2]:
            out[-1] = (*out[-1][:3], span[3])
        else:
            out.append(span)
    return out


def timeline(table, title):
    spans = spans_of(table)
    ranks, end = max(s[0] for s in spans) + 1, max(s[3] for s in spans)
    left, top, width, step = 76, 52, 800, 20
    x = lambda ps: left + width * ps / end
    bottom = top + ranks * step
    parts = []
    for us in range(int(end / 1e6) + 1):
        parts.append(f"<path d='M{x(us * 1e6):.1f} {top}V{bottom + 5}' stroke='{GRID}'/>")
        parts.append(label(x(us * 1e6), bottom + 20, str(us), "middle"))
    for rank in range(ranks):
        parts.append(label(left - 8, top + rank * step + 14, f"rank {rank}", "end"))
    known = [s for s in STATES if any(span[1] == s for span in spans)]
    for state in known:
        path = "".join(f"M{x(b):.1f} {top + r * step + 2}H{x(e):.1f}v{step - 4}H{x(b):.1f}z" for r, s, b, e in spans if s == state)
        parts.append(f"<path d='{path}' fill='{STATES[state]}'><title>{state}</title></path>")
    parts.append(label(left + width / 2, bottom + 40, "simulated time, µs", "middle", INK))
    for i, state in enumerate(known):
        at, line = left + i % 4 * 190, bottom + 58 + i // 4 * 22
        parts.append(f"<rect x='{at}' y='{line}' width='12' height='12' rx='2' fill='{STATES[state]}'/>")
        parts.append(label(at + 18, line + 11, "waiting for its port" if state.startswith("its port") else state, "start", INK))
    missing = {s[1] for s in spans} - set(STATES)
    if missing:
        sys.exit(f"draw.py: {table} has states without a colour: {', '.join(sorted(missing))}")
    return card(left + width + 24, bottom + 66 + (len(known) + 3) // 4 * 22, title, parts)


# ---- packets of a ring

PACKETS = {"message": "#0072b2", "query": "#e6ab02", "sum": "#d55e00", "result": "#3a9d5d"}


def kind_of(packet):
    """What an ATON packet is for (spec/aton.md, "Collective operations of groups")."""
    if not packet["active"]:
        return "result" if packet["octets"].startswith("82") else "message"
    return "query" if packet["opcode"] == "MAX" else "sum"


def packets_of(table, decoded):
    """(kind, sender, begin, arrivals): one packet is on the ring at a time, so what leaves it is what entered it last."""
    frames = [row for row in csv.DictReader(open(table)) if row["event"] == "frame"]
    packets = []
    for row, line in zip(frames, open(decoded)):
        port, now = int(row["track"].removeprefix("network.port")), int(row["time_ps"])
        if row["name"] == "in":
            packets.append((kind_of(json.loads(line)["fields"]), port, now, []))
        else:
            packets[-1][3].append((port, now))
    return packets


def allreduce(title, *runs):
    left, width, step, parts, y, seen = 76, 800, 20, [], 70, []
    runs = [(name, spans_of(table), packets_of(table, decoded)) for name, table, decoded in zip(*[iter(runs)] * 3)]
    end = max(span[3] for _, spans, _ in runs for span in spans)
    x = lambda ps: left + width * ps / end
    for name, spans, packets in runs:
        ranks = max(s[0] for s in spans) + 1
        done = max(s[3] for s in spans)
        parts.append(label(left, y - 6, f"{name}: {done / 1e6:.2f} µs, {len(packets)} packets", "start", INK, "font-weight='600'"))
        for rank in range(ranks):
            parts.append(label(left - 8, y + rank * step + 14, f"rank {rank}", "end"))
            bars = "".join(f"M{x(b):.1f} {y + r * step + 3}H{x(e):.1f}v{step - 6}H{x(b):.1f}z" for r, s, b, e in spans if r == rank)
            parts.append(f"<path d='{bars}' fill='{GRID}'/>")
        for kind, sender, begin, arrivals in packets:
            seen.append(kind)
            middle = lambda port: y + port * step + step / 2
            path = "".join(f"M{x(begin):.1f} {middle(sender):g}L{x(at):.1f} {middle(port):g}" for port, at in arrivals)
            parts.append(f"<path d='{path}' stroke='{PACKETS[kind]}' stroke-width='1.6' fill='none'><title>{kind} of station {sender}</title></path>")
            parts.append(f"<circle cx='{x(begin):.1f}' cy='{middle(sender):g}' r='2.5' fill='{PACKETS[kind]}'/>")
        y += ranks * step + 40
    for us in range(int(end / 1e6) + 1):
        parts.insert(0, f"<path d='M{x(us * 1e6):.1f} 52V{y - 34}' stroke='{GRID}'/>")
        parts.append(label(x(us * 1e6), y - 20, str(us), "middle"))
    parts.append(label(left + width / 2, y, "simulated time, µs", "middle", INK))
    for i, kind in enumerate(k for k in PACKETS if k in seen):
        parts.append(f"<path d='M{left + i * 120} {y + 22}h14' stroke='{PACKETS[kind]}' stroke-width='2'/>")
        parts.append(label(left + i * 120 + 20, y + 26, kind, "start", INK))
    return card(left + width + 24, y + 42, title, parts)


# ---- a plate

HEAT = [(0, "#2c1160"), (.2, "#721f81"), (.4, "#b63679"), (.6, "#f1605d"), (.8, "#feaf77"), (1, "#fcfdbf")]


def heat(share):
    for (a, low), (b, high) in zip(HEAT, HEAT[1:]):
        if share <= b:
            mix = lambda at: round(int(low[at:at + 2], 16) + (int(high[at:at + 2], 16) - int(low[at:at + 2], 16)) * (share - a) / (b - a))
            return f"#{mix(1):02x}{mix(3):02x}{mix(5):02x}"
    return HEAT[-1][1]


def plate(snapshot, title):
    cells = {(int(x), int(y)): int(v) / 65536 for x, y, v in
             re.findall(r"<DevS id=\"c_(\d+)_(\d+)\"><S>\"v\":(-?\d+),", open(snapshot).read())}
    columns, lines = (max(at[i] for at in cells) + 1 for i in (0, 1))
    size, left, top, levels, hottest = 12, 56, 48, 64, 100
    width, height = columns * size, lines * size
    paths = [""] * (levels + 1)
    for (x, y), degrees in sorted(cells.items(), key=lambda cell: cell[0][::-1]):
        level = round(min(max(degrees / hottest, 0), 1) * levels)
        paths[level] += f"M{left + x * size} {top + y * size}h{size}v{size}h-{size}z"
    parts = [f"<path d='{path}' fill='{heat(level / levels)}' stroke='{heat(level / levels)}' stroke-width='.4'/>" for level, path in enumerate(paths) if path]
    for x in range(0, columns, 8):
        parts.append(label(left + (x + .5) * size, top + height + 18, str(x), "middle"))
    for y in range(0, lines, 8):
        parts.append(label(left - 8, top + (y + .5) * size + 4, str(y), "end"))
    parts.append(label(left + width / 2, top + height + 38, "cell, x", "middle", INK))
    parts.append(label(0, 0, "cell, y", "middle", INK, f"transform='translate(20 {top + height / 2:g}) rotate(-90)'"))
    bar = left + width + 26
    stops = "".join(f"<stop offset='{share:g}' stop-color='{colour}'/>" for share, colour in HEAT)
    parts.append(f"<linearGradient id='heat' x1='0' y1='1' x2='0' y2='0'>{stops}</linearGradient>")
    parts.append(f"<rect x='{bar}' y='{top}' width='16' height='{height}' fill='url(#heat)'/>")
    for degrees in range(0, hottest + 1, 20):
        parts.append(label(bar + 24, top + height * (1 - degrees / hottest) + 5, f"{degrees}°"))
    return card(bar + 76, top + height + 56, title, parts)


# ---- a terminal

def text(title):
    lines = sys.stdin.read().rstrip("\n").split("\n")
    step, top = 17, 60
    width = max(round(7.9 * max(map(len, lines))) + 40, 640)
    parts = [f"<path d='M1 42H{width - 1}' stroke='#3d454e'/>"]
    for i, line in enumerate(lines):
        look = "fill='#ffd479' font-weight='600'" if not line.startswith(" ") else "fill='#e6e9ec'"
        if re.search(r"\[correct\]|Good", line):
            look = "fill='#7fd6a0'"
        parts.append(f"<text x='20' y='{top + step * i + 4}' {look} xml:space='preserve'>{escape(line)}</text>")
    mono = "<g font-family='ui-monospace,\"DejaVu Sans Mono\",monospace' font-size='13'>"
    return card(width, top + step * len(lines) + 12, title, [parts[0], mono, *parts[1:], "</g>"], "#14171a", "#e6e9ec")


if __name__ == "__main__":
    kinds = {"wires": (wires, 2), "timeline": (timeline, 2), "allreduce": (allreduce, 7), "plate": (plate, 2), "text": (text, 1)}
    if len(sys.argv) < 2 or sys.argv[1] not in kinds or len(sys.argv) != 2 + kinds[sys.argv[1]][1]:
        sys.exit(__doc__)
    print(kinds[sys.argv[1]][0](*sys.argv[2:]))
