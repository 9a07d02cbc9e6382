"""What `leat report` wrote, held against the store: report_check.py page|programs|dom|csv|pixels|... ...

Figures are computed here once more, from the store alone."""
import csv
import html.parser
import io
import itertools
import json
import math
import re
import sqlite3
import statistics
import struct
import sys
import xml.etree.ElementTree
import zlib

import report_programs
from report_problems import expect, problems

# Student's t for 95 %, by degrees of freedom (any table of statistics).
STUDENT = {1: 12.7062, 2: 4.3027, 3: 3.1824, 4: 2.7764}
COLOURS, COLUMNS_MIN, FIGURES = 8, 150, ("latency", "throughput", "p99")
# ---- the store -----------------------------------------------------------------------------------

class Point:
    def __init__(self):
        self.figures = {figure: [] for figure in FIGURES}
        self.saturated = self.deadlocks = self.runs = 0

    def add(self, result):
        self.runs += 1
        self.figures["throughput"].append(result["throughput"])
        offered, delivered = (result.get("cells_" + what, result.get("flits_" + what)) for what in ("offered", "delivered"))
        if delivered:
            self.figures["latency"].append(result["latency_cycles"]["mean"] * result["cycle_ns"])
            self.figures["p99"].append(result["latency_cycles"]["p99"] * result["cycle_ns"])
        locked = result.get("deadlock") not in (None, False)
        saturated = result.get("saturated")
        if saturated is None:
            in_flight = offered * result["latency_cycles"]["mean"] / result["cycles"]
            saturated = delivered < 0.95 * (offered - in_flight)
        self.saturated += saturated or locked
        self.deadlocks += locked


def read_points(store):
    """{traffic: {line: {load: Point}}}; lines are named as in legends."""
    db = sqlite3.connect(store)
    rows = db.execute("SELECT sweep, fabric, traffic, load, result FROM run").fetchall()
    sweeps = {}
    for sweep, fabric, *_ in rows:
        sweeps.setdefault(fabric, set()).add(sweep)
    points = {}
    for sweep, fabric, traffic, load, result in rows:
        line = fabric if len(sweeps[fabric]) == 1 else "%s (sweep %d)" % (fabric, sweep)
        loads = points.setdefault(traffic, {}).setdefault(line, {})
        loads.setdefault(load, Point()).add(json.loads(result))
    return points


# ---- the page ------------------------------------------------------------------------------------

TIP = re.compile(r"(?P<line>.*) at load (?P<load>[0-9.e-]+): (?P<mean>[0-9.]+)( ± (?P<half>[0-9.]+))? "
                 r"(ns|of a line) \((?P<runs>\d+) runs?\)(?P<open>, saturated)?$", re.S)


def check_mark(where, mark, lines, figure):
    tip = TIP.match(mark.find("title").text)
    if not tip:
        problems.append("%s: tip '%s'" % (where, mark.find("title").text))
        return None
    point = lines.get(tip["line"], {}).get(float(tip["load"]))
    if not point:
        problems.append("%s: no point %s" % (where, tip[0]))
        return None
    values, near = point.figures[figure], 0.0002 if figure == "throughput" else 0.06
    expect(int(tip["runs"]) == len(values), "%s: runs of %s" % (where, tip[0]))
    expect(abs(float(tip["mean"]) - statistics.mean(values)) < near, "%s: mean of %s, want %f" % (where, tip[0], statistics.mean(values)))
    if len(values) > 1:
        half = STUDENT[len(values) - 1] * statistics.stdev(values) / math.sqrt(len(values))
        expect(tip["half"] and abs(float(tip["half"]) - half) < near, "%s: interval of %s, want %f" % (where, tip[0], half))
    shape = mark.find("path").get("class")
    expect(bool(point.saturated) == bool(tip["open"]) == ("open" in shape), "%s: saturated: %s, drawn as %s" % (where, tip[0], shape))
    return tip["line"], tip["load"]


def check_chart(svg, lines, figure):
    where = svg.get("id")
    width, height = (float(n) for n in svg.get("viewBox").split()[2:])
    seen = []
    for group in svg.findall("g"):
        marks = group.findall("g")
        if not marks:
            continue
        seen += [check_mark(where, mark, lines, figure) for mark in marks]
        places = [[float(mark.find("circle").get(k)) for k in ("cx", "cy")] for mark in marks]
        expect(all(0 < x < width and 0 < y < height for x, y in places), where + ": a mark lies outside")
        expect(all(a[0] < b[0] for a, b in zip(places, places[1:])), where + ": loads do not rise")
        drawn = " ".join(path.get("d") for path in group.findall("path") if "line" in path.get("class"))
        for x, y in places if len(places) > 1 else []:
            expect("%.1f %.1f" % (x, y) in drawn, "%s: no line through %.1f %.1f" % (where, x, y))
    want = sum(bool(point.figures[figure]) for loads in lines.values() for point in loads.values())
    expect(len(seen) == len(set(seen)) == want, "%s: %d marks, want %d" % (where, len(seen), want))


def check_page(page, store):
    text = open(page, encoding="utf-8").read()
    points = read_points(store)
    root = xml.etree.ElementTree.fromstring(re.sub(r' xmlns="[^"]*"', "", text))
    expect("://" not in re.sub(r'xmlns="http://www.w3.org/2000/svg"', "", text), "an address of another place")
    for element in root.iter():
        expect(element.tag not in ("script", "img", "iframe", "object"), "a <%s>" % element.tag)
        expect("src" not in element.attrib and element.get("href", "data:,") == "data:,", "a link in <%s>" % element.tag)
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    expect(len(ids) == len(set(ids)), "an id twice")
    headings = [h.text for h in root.iter("h2")]
    order = [h[len("Traffic: "):] for h in headings if h.startswith("Traffic: ")]
    expect(sorted(order) == sorted(points), "traffics: %s" % order)
    charts = {svg.get("id"): svg for svg in root.iter("svg") if svg.get("class") == "chart" and svg.get("id").startswith("chart-")}
    for number, traffic in enumerate(order, 1):
        for figure in FIGURES:
            check_chart(charts.pop("chart-%d-%s" % (number, figure)), points[traffic], figure)
    expect(not charts, "charts that nobody asked for: %s" % list(charts))
    rows = sum(len(table.findall("tbody/tr/td/..")) for table in root.iter("table") if table.get("class") == "points")
    expect(rows == sum(len(loads) for lines in points.values() for loads in lines.values()), "%d rows of points" % rows)
    locked = any(p.deadlocks for lines in points.values() for loads in lines.values() for p in loads.values())
    expect(not locked or "What went wrong" in headings, "a deadlock is not told")


class Counter(html.parser.HTMLParser):
    """What the browser made of it: drawn marks and lines."""

    def __init__(self):
        super().__init__()
        self.marks = self.lines = self.fabrics = 0

    def handle_starttag(self, tag, attrs):
        classes = (dict(attrs).get("class") or "").split()
        self.marks += tag == "path" and "mark" in classes
        self.lines += tag == "path" and "line" in classes
        self.fabrics += "leat-fabric" in classes


# ---- surfaces ------------------------------------------------------------------------------------

CELL = re.compile(r"(?P<key>[a-z-]+) (?P<value>[0-9]+) at load (?P<load>[0-9.]+): (?P<mean>[0-9.]+)( ± (?P<half>[0-9.]+))? ns "
                  r"\((?P<runs>\d+) runs?\)(?P<open>, saturated)?$")
NAMED = re.compile(r"(?P<stem>[^,/]*,[^,/ ]*)(?P<others>(, [a-z-]+ [0-9]+)*): latency by load and (?P<key>[a-z-]+), ns; ")


def cells_of(points, default):
    """{(fabric without its numbers, its numbers): {load: Point}}; `default`: of what a name leaves out."""
    cells = {}
    for name, loads in points.items():
        numbers = dict(default, **{key: int(value) for key, value in re.findall(r"/([a-z-]+)=(\d+)", name)})
        cells[re.sub(r"/[a-z-]+=\d+", "", name), frozenset(numbers.items())] = loads
    return cells


def check_surface(svg, table, cells, default):
    where, named = svg.get("id"), NAMED.match(table.find("caption").text)
    same = dict(default, **{k: int(v) for k, v in re.findall(r"([a-z-]+) (\d+)", named["others"])})
    drawn = 0
    for group in svg.findall("g"):
        tip, tiles = CELL.match(group.find("title").text), group.findall("rect")
        numbers = dict(same, **{tip["key"]: int(tip["value"])})
        point = cells.get((named["stem"], frozenset(numbers.items())), {}).get(float(tip["load"]))
        if not point or tip["key"] != named["key"]:
            problems.append("%s: no point %s" % (where, tip[0]))
            continue
        drawn += 1
        values = point.figures["latency"]
        expect(int(tip["runs"]) == point.runs and abs(float(tip["mean"]) - statistics.mean(values)) < 0.006, "%s: %s" % (where, tip[0]))
        expect(bool(point.saturated) == bool(tip["open"]) == (len(tiles) == 2), "%s: saturated: %s" % (where, tip[0]))
        expect(len({tile.get("x") for tile in tiles}) == 1 and re.match("#[0-9a-f]{6}$", tiles[0].get("fill")), "%s: drawn as %s" % (where, tiles[0].attrib))
    want = sum(len(loads) for (stem, numbers), loads in cells.items()
               if stem == named["stem"] and dict(numbers, **{named["key"]: 0}) == dict(same, **{named["key"]: 0}))
    expect(drawn == want > 0, "%s: %d cells, want %d" % (where, drawn, want))
    rows = [row.findall("td") for row in table.findall("tbody/tr")]
    expect(sum(cell.text != "–" for row in rows for cell in row) == drawn, where + ": its table")
    return named[0]


def check_surfaces(page, store, count, *default):
    """check_surfaces PAGE STORE COUNT KEY=VALUE...: so many surfaces, of one traffic"""
    root = xml.etree.ElementTree.fromstring(re.sub(r' xmlns="[^"]*"', "", open(page, encoding="utf-8").read()))
    default = {key: int(value) for key, value in (word.split("=") for word in default)}
    for points in read_points(store).values():
        cells = cells_of(points, default)
    drawings = [svg for svg in root.iter("svg") if "surface" in svg.get("class", "").split()]
    tables = [table for table in root.iter("table") if table.get("class") == "surface"]
    names = [check_surface(svg, table, cells, default) for svg, table in zip(drawings, tables)]
    expect(len(drawings) == len(tables) == len(set(names)) == int(count), "surfaces: %s" % names)


def check_dom(dom, page):
    counts = []
    for name in (dom, page):
        counter = Counter()
        counter.feed(open(name, encoding="utf-8").read())
        counts.append((counter.marks, counter.lines, counter.fabrics))
    expect(counts[0] == counts[1] and min(counts[0][:2]) > 0, "marks, lines and fabrics in the browser %s, in the page %s" % tuple(counts))


def check_mixed(page, store):
    """Of one sweep, only runs that tell how long a cycle is have latencies."""
    root = xml.etree.ElementTree.fromstring(re.sub(r' xmlns="[^"]*"', "", open(page, encoding="utf-8").read()))
    want, found = {}, 0
    for traffic, load, result in sqlite3.connect(store).execute("SELECT traffic, load, result FROM run WHERE fabric = 'mesh:4,4' AND sweep = 1 AND seed = 2"):
        result = json.loads(result)
        want["%s %g" % (traffic, load)] = result["latency_cycles"]["mean"] * result["cycle_ns"]
    traffics = [h.text[len("Traffic: "):] for h in root.iter("h2") if h.text.startswith("Traffic: ")]
    for svg in root.iter("svg"):
        name = re.match(r"chart-(\d)-latency", svg.get("id", ""))
        for title in svg.iter("title") if name else ():
            tip = TIP.match(title.text)
            if tip and tip["line"] == "mesh:4,4 (sweep 1)":
                found += 1
                mean = want["%s %g" % (traffics[int(name[1]) - 1], float(tip["load"]))]
                expect(tip["runs"] == "1" and abs(float(tip["mean"]) - mean) < 0.006, "%s, want %f" % (tip[0], mean))
    expect(found == len(want) > 0, "%d latencies of mesh:4,4, want %d" % (found, len(want)))


def check_losses(page, store):
    """What went wrong: a column per unit."""
    root = xml.etree.ElementTree.fromstring(re.sub(r' xmlns="[^"]*"', "", open(page, encoding="utf-8").read()))
    table = next(t for t in root.iter("table") if any(th.text == "Cells" for th in t.iter("th")))
    head = ["".join(th.itertext()) for th in table.findall("thead/tr/th")]
    rows = {"".join(row[0].itertext()).split(" ")[0]: dict(zip(head, ("".join(cell.itertext()) for cell in row))) for row in table.findall("tbody/tr")}
    for fabric, result in sqlite3.connect(store).execute("SELECT fabric, result FROM run"):
        result = json.loads(result)
        cells = sum(result.get("lines", {}).get(key, 0) for key in ("lost", "outage"))
        packets = sum(result.get("losses", {}).values())
        row = rows[fabric]
        expect((int(row["Cellslost"]), int(row["Packetslost"])) == (cells, packets) and cells + packets > 0, "%s: %s, want %d cells, %d packets" % (fabric, row, cells, packets))


def check_where(table, page, store, condition):
    """The rows and the points that are left are those of an SQL condition."""
    db = sqlite3.connect(store)
    def keys(columns, source):
        try:
            return sorted(db.execute("SELECT %s FROM %s WHERE %s" % (columns, source, condition)).fetchall())
        except sqlite3.OperationalError: # a column that only the other table has
            return []
    runs, programs = keys("sweep, fabric, traffic, load, seed", "run"), keys("id, command, fabric", "program")
    rows = list(csv.DictReader(open(table, encoding="utf-8", newline="")))
    left = sorted((int(r["sweep"]), r["fabric"], r["traffic"], float(r["load"]), int(r["seed"])) for r in rows if r.get("sweep"))
    expect(left == runs, "%s: %d runs are left, want %d" % (condition, len(left), len(runs)))
    left = sorted((int(r["id"]), r["command"], r["fabric"]) for r in rows if r.get("id"))
    expect(left == programs and len(rows) > 0, "%s: programs %s are left, want %s" % (condition, left, programs))
    root = xml.etree.ElementTree.fromstring(re.sub(r' xmlns="[^"]*"', "", open(page, encoding="utf-8").read()))
    points = sum(len(t.findall("tbody/tr/td/..")) for t in root.iter("table") if t.get("class") == "points")
    expect(points == len({run[:4] for run in runs}), "%s: %d points" % (condition, points))
    fabrics = sum(len(t.findall("tbody/tr")) for t in root.iter("table") if re.fullmatch(r"program-\d+-fabrics", t.get("id", "")))
    expect(fabrics == len({program[1:] for program in programs}), "%s: %d fabrics of programs" % (condition, fabrics))


# ---- the table -----------------------------------------------------------------------------------

def flatten(value, path=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flatten(inner, path + "." + key if path else key)
    elif not isinstance(value, list):
        yield path, value


def in_ns(path):
    """The name of a time in cycles, in nanoseconds; None: it is none."""
    return path.replace("_cycles", "_ns") if "_cycles" in path and not path.endswith(".count") else None


def check_values(row, result, left_out, same):
    for path, value in flatten(result):
        if path in left_out:
            continue
        cell = row[path]
        holds = (cell == "" if value is None else cell == str(value).lower() if isinstance(value, bool)
                 else cell == value if isinstance(value, str) else float(cell) == value)
        expect(holds, "%s of %s: '%s', want %s" % (path, same, cell, value))
        if in_ns(path) and "cycle_ns" in result:
            expect(math.isclose(float(row[in_ns(path)]), value * result["cycle_ns"], rel_tol=1e-9), "%s of %s in ns: '%s'" % (path, same, row[in_ns(path)]))


def check_csv(name, store):
    raw = open(name, "rb").read()
    expect(raw.split(b"\n")[0].endswith(b"\r") and raw.endswith(b"\r\n"), "lines do not end with CR LF")
    rows = list(csv.DictReader(io.StringIO(raw.decode("utf-8", "surrogateescape"), newline=""), strict=True))
    db = sqlite3.connect(store)
    db.text_factory = lambda octets: octets.decode("utf-8", "surrogateescape")
    runs = db.execute("SELECT sweep, fabric, traffic, load, seed, result FROM run"
                      " ORDER BY sweep, fabric, traffic, load, seed").fetchall()
    programs = db.execute("SELECT id, command, options, fabric, result FROM program ORDER BY id").fetchall()
    expect(len(rows) == len(runs) + len(programs), "%d rows, %d runs, %d programs" % (len(rows), len(runs), len(programs)))
    for row, (sweep, fabric, traffic, load, seed, result) in zip(rows, runs):
        same = (int(row["sweep"]), row["fabric"], row["traffic"], float(row["load"]), int(row["seed"]))
        expect(same == (sweep, fabric, traffic, load, seed), "run %s: %s" % ((sweep, fabric, traffic, load, seed), same))
        expect(not row.get("id") and not row.get("command"), "run %s has a program" % (same,))
        check_values(row, json.loads(result), ("fabric", "traffic", "load", "seed"), same)
    for row, (number, command, options, fabric, result) in zip(rows[len(runs):], programs):
        same = (int(row["id"]), row["command"], row["options"], row["fabric"])
        expect(same == (number, command, options, fabric), "program %s: %s" % ((number, command, options, fabric), same))
        expect(not any(row.get(key) for key in ("sweep", "traffic", "load", "seed")), "program %s has a sweep" % number)
        check_values(row, json.loads(result), ("fabric",), same)


# ---- pictures ------------------------------------------------------------------------------------

def read_png(name):
    """Rows of octets and how many make a pixel; for 8 bits per channel, as browsers and rsvg-convert write."""
    data = open(name, "rb").read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", name
    at, packed = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        assert zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0], name
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", body)
            assert depth == 8 and colour in (2, 6) and not interlace, name
        if kind == b"IDAT":
            packed += body
        at += 12 + length
    step = 3 if colour == 2 else 4
    size, lines = width * step + 1, zlib.decompress(packed)
    assert len(lines) == size * height, name
    before = bytes(width * step)
    for y in range(height):
        before = unfilter(lines[y * size], lines[y * size + 1:(y + 1) * size], before, step)
        yield before, step


def unfilter(kind, line, before, step):
    """A row of octets (PNG, 9.2), given the row above."""
    if kind == 0:
        return line
    if kind == 2:
        return bytes((a + b) & 255 for a, b in zip(line, before))
    line = bytearray(line)
    if kind == 1:
        for c in range(step):
            line[c::step] = bytes(itertools.accumulate(line[c::step], lambda a, b: (a + b) & 255))
        return bytes(line)
    for i, up in enumerate(before):
        left, corner = (line[i - step], before[i - step]) if i >= step else (0, 0)
        if kind == 3:
            guess = (left + up) // 2
        else:
            a, b, c = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
            guess = left if a <= b and a <= c else up if b <= c else corner
        line[i] = (line[i] + guess) & 255
    return bytes(line)


def columns_of(picture, colours):
    """In which columns each colour is."""
    columns = {colour: set() for colour in colours}
    for row, step in read_png(picture):
        for colour in colours:
            at = row.find(colour)
            while at >= 0:
                if at % step == 0:
                    columns[colour].add(at // step)
                at = row.find(colour, at + 1)
    return columns


def check_pixels(picture, page, pattern):
    """The lines of charts whose names match have their colours across the picture: in many columns,
    not in a legend alone."""
    text = open(page, encoding="utf-8").read()
    colours, used = {}, set()
    for number, value in re.findall(r"\.c(\d) { --c: #([0-9a-f]{6}) }", text):
        colours.setdefault(number, bytes.fromhex(value)) # the first are those on paper
    expect(len(set(colours.values())) == COLOURS, "colours: %s" % colours)
    for name, chart in re.findall(r'<svg class="chart" id="([^"]*)"(.*?)</svg>', text, re.S):
        if re.match(pattern, name):
            used |= {group[:1] for group in chart.split('<g class="c')[1:] if group.count("<title>") > 1}
    columns = columns_of(picture, [colours[number] for number in used])
    for number in sorted(used):
        count = len(columns[colours[number]])
        expect(count >= COLUMNS_MIN, "colour %s is in %d columns of %s only" % (number, count, picture))
    expect(used, "no line is drawn")


def check_states(picture, page):
    """The states of the first bars and timelines have their colours across the picture."""
    text = open(page, encoding="utf-8").read()
    fills = {}
    for number, value in re.findall(r"\.s(\d) { fill: #([0-9a-f]{6}) }", text):
        fills.setdefault(number, bytes.fromhex(value)) # the first are those on paper
    expect(len(set(fills.values())) == len(fills) == 10, "colours of states: %s" % fills)
    used = set(re.findall(r'class="bar s(\d)"', re.search(r'id="program-1-bars-1".*?</svg>', text, re.S)[0]))
    columns = columns_of(picture, [fills[number] for number in used])
    for number in sorted(used):
        expect(len(columns[fills[number]]) >= 30, "style %s is in %d columns" % (number, len(columns[fills[number]])))
    expect(len(used) > 2, "bars of %s" % used)


def check_tiles(picture, page):
    """The cells of surfaces that are not hatched have their colours in the picture."""
    text = open(page, encoding="utf-8").read()
    fills = {fill: bytes.fromhex(fill) for fill in re.findall(r'class="tile"[^>]* fill="#([0-9a-f]{6})"/></g>', text)}
    columns = columns_of(picture, list(fills.values()))
    for fill, colour in fills.items():
        expect(len(columns[colour]) >= 30, "colour %s is in %d columns" % (fill, len(columns[colour])))
    expect(len(fills) > 3, "cells of %s" % list(fills))


# ---- stores that no sweep would write ------------------------------------------------------------

def doctor(store, what):
    db = sqlite3.connect(store, isolation_level=None)
    db.execute("PRAGMA ignore_check_constraints = 1")
    sweep, fabric, traffic, load, seed, result = db.execute("SELECT * FROM run WHERE sweep = 1 ORDER BY fabric, traffic, load, seed LIMIT 1").fetchone()
    put = "INSERT INTO run VALUES (?, ?, ?, ?, ?, ?)"
    if what == "newer":
        db.execute("PRAGMA user_version = 99")
    elif what == "foreign":
        db.execute("PRAGMA application_id = 1")
    elif what == "empty":
        db.execute("DELETE FROM run")
    elif what == "deadlock":
        locked = dict(json.loads(result), deadlock=[{"router": 1}], lost={"no_way": 3, "cut": 4})
        db.execute(put, (sweep, fabric, traffic, 0.95, seed, json.dumps(locked)))
    elif what == "cut":
        db.execute("UPDATE run SET result = substr(result, 1, 60) WHERE fabric = ? AND load = ? AND seed = ?", (fabric, load, seed))
    elif what == "deep":
        db.execute("UPDATE run SET result = ? WHERE load = ? AND seed = ?", ('{"a":' + "[" * 100 + "]" * 100 + "}", load, seed))
    elif what == "crowd":
        for i in range(60):
            db.execute(put, (sweep, "fabric%d" % i, traffic, load, seed, result))
    elif what == "older":  # before runs told how long a cycle is
        db.execute("UPDATE run SET result = json_remove(result, '$.cycle_ns')")
    elif what == "partly":
        db.execute("UPDATE run SET result = json_remove(result, '$.cycle_ns') WHERE fabric = 'bmx:4'")
    elif what == "mixed":  # of one sweep, some runs tell how long a cycle is
        db.execute("UPDATE run SET result = json_remove(result, '$.cycle_ns') WHERE fabric = 'mesh:4,4' AND seed = 1")
    elif what == "programs":
        report_programs.put(db)
    elif what == "alone":
        report_programs.put(db)
        db.execute("DELETE FROM run")
        db.execute("DELETE FROM sweep")
    elif what == "many":
        report_programs.put(db)
        for i in range(40):
            db.execute("INSERT INTO program (version, command, options, fabric, tasks, created, result)"
                       " SELECT version, command, options, 'f%d', tasks, created, result FROM program WHERE id = 7" % i)
    elif what == "torn":
        report_programs.put(db)
        db.execute("UPDATE program SET result = json_set(result, '$.timeline.bins[0][0][0][0]', 99) WHERE id = 2")
    elif what == "names":
        for name in ("<b>&\"'`touch pwned`'; $(touch pwned) , x", "two\nlines\r", "\x01\x1f\ufffe", "", "é" * 200):
            db.execute(put, (sweep, name, traffic, load, seed, result))
        db.execute("INSERT INTO run SELECT sweep, CAST(x'ff41c0' AS TEXT), traffic, load, seed, result FROM run LIMIT 1")
        db.execute("UPDATE sweep SET options = '--x <&>' WHERE id = 1")
        report_programs.put(db, "<b>&\"'\x01", "`touch pwned` <&>")
    db.close()


if __name__ == "__main__":
    {"page": check_page, "programs": report_programs.check, "dom": check_dom, "csv": check_csv, "pixels": check_pixels, "states": check_states,
     "mixed": check_mixed, "losses": check_losses, "surfaces": check_surfaces, "tiles": check_tiles, "where": check_where, "doctor": doctor}[sys.argv[1]](*sys.argv[2:])
    for problem in problems[:20]:
        print(problem)
    sys.exit(bool(problems))
