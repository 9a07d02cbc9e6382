"""Programs of a report: made-up runs for a store, and the page held against them.

Figures are computed here once more, from the store alone; areas and lengths are those of the
drawings."""
import collections
import json
import random
import re
import sqlite3
import xml.etree.ElementTree

from report_problems import expect

ROWS_MAX, COLUMNS_MAX, SCALE_RATIO, WIRES_SHOWN = 64, 256, 25, 10
UNITS = (("s", 1), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))
CALLS = ["MPI_" + name for name in ("Send", "Recv", "Barrier", "Bcast", "Reduce", "Wait", "Test", "Scan", "Gather", "Allgather", "Alltoall")]


# ---- a store -------------------------------------------------------------------------------------

def make_run(chance, fabric, tasks, seconds, calls, status="done", contention=None, carried=("flits",), bins=300):
    """A leat.run/1 object whose parts agree: tasks are computing or in calls, bin by bin."""
    bin_seconds = seconds / (bins - 0.5)
    states, spent, timeline = ["computing"] + calls, collections.Counter(), []
    for task in range(tasks):
        line, state = [], 0
        for number in range(bins):
            if chance.random() < 0.2:
                state = chance.randrange(len(states))
            whole = 0.5 if number == bins - 1 else 1
            cut = round(chance.choice((0, 0, 0.25, 0.333)) * whole, 3)
            other = (state + 1) % len(states)
            shares = sorted((s, share) for s, share in ((state, round(whole - cut, 3)), (other, cut)) if share)
            for s, share in shares:
                spent[states[s]] += share * bin_seconds
            line.append([list(pair) for pair in shares])
        timeline.append(line)
    pairs = [{"sender": a, "receiver": b, "messages": chance.randrange(1, 9), "bytes": chance.choice((0, 8, 1024, 10 ** 6))}
             for a in range(tasks) for b in range(tasks) if chance.random() < 0.3]
    result = {"schema": "leat.run/1", "fabric": fabric, "program": "./p", "library": "mpi", "status": status, "tasks": tasks,
              "simulated_seconds": seconds, "messages": sum(p["messages"] for p in pairs), "bytes": sum(p["bytes"] for p in pairs),
              "certificate": "%016x" % chance.getrandbits(64), "wall_seconds": 0.5,
              "profile": [{"call": c, "calls": chance.randrange(1, 99), "bytes": chance.randrange(9999), "seconds": spent[c],
                         "waiting_seconds": spent[c] / 2} for c in calls],
              "per_task": [{"task": t, "port": t, "seconds": seconds, "waiting_seconds": 0} for t in range(tasks)],
              "pairs": pairs, "timeline": {"bin_seconds": bin_seconds, "state_names": states, "bins": timeline},
              "busiest_wires": [{"wire": "%d>%d" % (i, i + 1), "utilisation": 1 / (i + 2), carried[i % len(carried)]: 1000 - i} for i in range(14)] if carried else None}
    if contention is not None:
        result["contention_seconds"] = contention
    return result


def put(db, fabric="own", command="./other"):
    """A program over four fabrics, one of them twice and one much slower; one with many tasks; one without calls, over fabrics of different sizes."""
    chance = random.Random(20)
    rows = [("./rounds 4", "-n 16 --contention", "mesh:4,4", make_run(chance, "mesh:4,4", 16, 9e-6, CALLS[:4], contention=1e-6)),
            ("./rounds 4", "-n 16 --contention", "torus:4,4", make_run(chance, "torus:4,4", 16, 8.5e-6, CALLS[:4], contention=-1e-7)),
            (command, "-n 100", fabric, make_run(chance, fabric, 100, 3.2, CALLS, carried=("frames",), bins=512)),
            ("./rounds 4", "-n 16 --contention", "clos444", make_run(chance, "clos444", 16, 3.5e-2, CALLS[:4], carried=None)),
            ("./rounds 4", "-n 16 --contention", "ring16", make_run(chance, "ring16", 16, 2e-6, CALLS[:2], status="deadlock", carried=("cells",))),
            ("./rounds 4", "-n 16 --contention", "mesh:4,4", make_run(chance, "mesh:4,4", 16, 8e-6, CALLS[:4], contention=0)),
            ("./quiet", "", "bmx:4", dict(make_run(chance, "bmx:4", 4, 1e-3, [], carried=None), pairs=[])),
            ("./quiet", "", "hypercube:3", make_run(chance, "hypercube:3", 6, 2e-3, [])),
            ("./quiet", "", "threesan", make_run(chance, "threesan", 6, 3e-3, [], carried=("frames", "packets", "flits")))]
    for command, options, fabric, result in rows:
        db.execute("INSERT INTO program (version, command, options, fabric, tasks, created, result) VALUES ('0', ?, ?, ?, ?, '2024-01-01 00:00:00', ?)",
                   (command, options, fabric, result["tasks"], json.dumps(result)))


def read(store):
    """[[(fabric, result), ...], ...]: the latest of each fabric, program after program."""
    programs = {}
    for command, options, fabric, result in sqlite3.connect(store).execute("SELECT command, options, fabric, result FROM program ORDER BY id"):
        programs.setdefault((command, options), {})[fabric] = json.loads(result)
    return [(key, list(runs.items())) for key, runs in programs.items()]


# ---- tables --------------------------------------------------------------------------------------

def unit_for(seconds):
    return next((unit for unit in UNITS if seconds >= unit[1]), UNITS[-1])


def text_of(element):
    return "".join(element.itertext())


def rows_of(table):
    return [[text_of(cell) for cell in row] for row in table.findall("tbody/tr")]


def near(text, want, error):
    return want is None and text == "–" or want is not None and text != "–" and abs(float(text) - want) <= error


def check_fabrics(where, table, runs):
    name, unit = unit_for(min(result["simulated_seconds"] for _, result in runs))
    measured = any("contention_seconds" in result for _, result in runs)
    head = [text_of(cell) for cell in table.findall("thead/tr/th")]
    expect(head[2] == "Simulatedtime, " + name and (head[4] == "Contention," + name) == measured, "%s: columns %s" % (where, head))
    rows = rows_of(table)
    expect([row[0] for row in rows] == [fabric for fabric, _ in runs], "%s: fabrics %s" % (where, rows))
    for row, (fabric, result) in zip(rows, runs):
        done = [r["simulated_seconds"] for _, r in runs if r["status"] == "done" and r["tasks"] == result["tasks"]]
        ratio = result["simulated_seconds"] / min(done) if result["status"] == "done" else None
        contention = result.get("contention_seconds")
        expect(int(row[1]) == result["tasks"] and near(row[2], result["simulated_seconds"] / unit, 6e-5) and near(row[3], ratio, 6e-4), "%s: %s" % (where, row))
        expect(not measured or near(row.pop(4), contention and contention / unit or contention, 6e-5), "%s: contention of %s" % (where, fabric))
        expect(row[4:] == [str(result["messages"]), str(result["bytes"]), result["status"], result["certificate"]], "%s: %s" % (where, row))


def check_calls(where, table, runs):
    unit = unit_for(min(result["simulated_seconds"] for _, result in runs))[1]
    times = [{call["call"]: call["seconds"] / result["tasks"] for call in result["profile"]} for _, result in runs]
    for (_, result), time in zip(runs, times):
        time["computing"] = sum(task["seconds"] for task in result["per_task"]) / result["tasks"] - sum(time.values())
    rows = rows_of(table)
    expect(sorted(row[0] for row in rows) == sorted(set().union(*times)), "%s: calls %s" % (where, [row[0] for row in rows]))
    for row in rows:
        for cell, time in zip(row[1:], times):
            expect(near(cell, time[row[0]] / unit if row[0] in time else None, 6e-5), "%s: %s" % (where, row))


def check_wires(where, tables, runs):
    with_wires = [(fabric, result["busiest_wires"]) for fabric, result in runs if result["busiest_wires"]]
    expect([table.find("caption").text for table in tables] == [fabric for fabric, _ in with_wires], "%s: fabrics with wires" % where)
    for table, (fabric, wires) in zip(tables, with_wires):
        shown = wires[:WIRES_SHOWN]
        units = [unit for unit in ("flits", "cells", "frames", "packets") if any(unit in wire for wire in shown)]
        expect([text_of(cell) for cell in table.findall("thead/tr/th")[2:]] == [unit.capitalize() for unit in units], "%s: %s: units of wires" % (where, fabric))
        want = [[wire["wire"], "%.2f" % (100 * wire["utilisation"])] + [str(wire.get(unit, "–")) for unit in units] for wire in shown]
        expect(rows_of(table) == want, "%s: wires of %s" % (where, fabric))


# ---- drawings ------------------------------------------------------------------------------------

def scales_of(runs):
    """Fabrics on one axis: those whose times differ by at most SCALE_RATIO from the longest that is left."""
    left, scales = list(runs), []
    while left:
        longest = max(result["simulated_seconds"] for _, result in left)
        scales.append([run for run in left if run[1]["simulated_seconds"] >= longest / SCALE_RATIO])
        left = [run for run in left if run not in scales[-1]]
    return scales


def axis_of(svg, name):
    """Units of length for a second, the place of zero, and the unit's name."""
    label = next(text for text in (t.text for t in svg.findall("text") if t.text) if text.startswith(name + ", "))
    unit = dict(UNITS)[label[len(name) + 2:]]
    grid = [float(path.get("d")[1:].split(" ")[0]) for path in svg.findall("path") if path.get("class") == "grid"]
    ticks = [t for t in svg.findall("text") if t.get("class") == "quiet" and t.get("text-anchor") == "middle"]
    last = float(ticks[-1].text)
    expect(len(ticks) == len(grid) and last > 0 and float(ticks[0].text) == 0, svg.get("id") + ": ticks")
    return (grid[-1] - grid[0]) / (last * unit), grid[0], label[len(name) + 2:]


def check_bars(where, svg, runs):
    per_second, left, unit = axis_of(svg, "time of a task, mean over all tasks")
    seconds = {fabric: 0 for fabric, _ in runs}
    by_style = collections.defaultdict(float)
    for label in svg.findall("text"):  # 7.5 units are more than the mean character of 12 px has
        if label.get("text-anchor") == "end":
            expect(7.5 * len(label.text) <= float(label.get("x")) < left, "%s: no room for %s" % (where, label.text))
    for bar in svg.findall("rect"):
        if not bar.get("class").startswith("bar"):
            continue
        tip = re.fullmatch(r"(.*): (.*) ([0-9.e+-]+) (\S+), ([0-9.]+) %", bar.find("title").text, re.S)
        length = float(bar.get("width")) / per_second
        expect(tip and tip[4] == unit and abs(float(tip[3]) * dict(UNITS)[unit] - length) <= 0.02 / per_second + 1e-3 * length, "%s: bar %s" % (where, bar.find("title").text))
        expect(abs(float(bar.get("x")) - left - seconds[tip[1]] * per_second) < 0.1, "%s: %s begins elsewhere" % (where, tip[0]))
        seconds[tip[1]] += length
        by_style[tip[1], tip[2]] = length
    for fabric, result in runs:
        mean = sum(task["seconds"] for task in result["per_task"]) / result["tasks"]
        expect(abs(seconds[fabric] - mean) <= 0.05 / per_second, "%s: bar of %s: %g s, want %g" % (where, fabric, seconds[fabric], mean))
        for call in result["profile"]:
            if (fabric, call["call"]) in by_style:
                expect(abs(by_style[fabric, call["call"]] - call["seconds"] / result["tasks"]) <= 0.02 / per_second, "%s: %s of %s" % (where, call["call"], fabric))


def group_of(tasks):
    return -(-tasks // ROWS_MAX)


def number_of(name):
    return int(re.match(r"tasks? (\d+)", name)[1])


def check_matrix(where, svg, result):
    group = group_of(result["tasks"])
    want = collections.defaultdict(lambda: [0, 0])
    for pair in result["pairs"]:
        cell = want[pair["sender"] // group, pair["receiver"] // group]
        cell[0] += pair["bytes"]
        cell[1] += pair["messages"]
    cells, side = {}, 360 / -(-result["tasks"] // group)
    for cell in svg.findall("rect"):
        if cell.find("title") is None:
            continue
        tip = re.fullmatch(r"(tasks? .*) to (tasks? .*): (\d+) octets in (\d+) messages?", cell.find("title").text)
        at = number_of(tip[1]) // group, number_of(tip[2]) // group
        cells[at] = [int(tip[3]), int(tip[4])]
        place = [(float(cell.get("y")) - 34) / side, (float(cell.get("x")) - 62) / side]
        expect(all(abs(a - b) < 0.02 for a, b in zip(at, place)), "%s: cell %s is at %s" % (where, at, place))
        want[at].append(float(cell.get("fill-opacity")))
    expect(cells == {at: cell[:2] for at, cell in want.items()}, "%s: cells" % where)
    shades = sorted((cell[0], cell[2]) for cell in want.values() if len(cell) == 3)
    expect(all(a[1] <= b[1] and (a[1] < b[1] or a[0] * 1.5 >= b[0]) for a, b in zip(shades, shades[1:])), "%s: more octets are not darker" % where)


def boxes_of(row):
    """[(style, x, y, width, height), ...] of a row of rectangles."""
    return [(path.get("class"), *(float(number) for number in box)) for path in row.findall("path")
            for box in re.findall(r"M(\S+) (\S+)h(\S+)v(\S+)h\S+z", path.get("d"))]


def check_columns(where, boxes, tasks, timeline, left, per_second, height):
    """At every time, boxes show the shares of that time, stacked without a gap or an overlap."""
    bins = max(len(task) for task in timeline["bins"])
    merged = -(-bins // COLUMNS_MAX)
    for column in range(-(-bins // merged)):
        shares = collections.Counter()
        for task in tasks:
            for cell in task[column * merged:(column + 1) * merged]:
                for state, share in cell:
                    shares[state] += share / len(tasks) / merged
        x = left + (column + 0.5) * merged * timeline["bin_seconds"] * per_second
        drawn = sorted((y, h) for _, box, y, w, h in boxes if box <= x < box + w)
        heights = sorted(h / height for _, h in drawn)
        want = sorted(share for share in shares.values() if share * height >= 0.03)
        heights = heights[len(heights) - len(want):]
        expect(len(heights) == len(want) and all(abs(a - b) < 0.01 for a, b in zip(heights, want)), "%s: column %d: %s, want %s" % (where, column, heights, want))
        expect(all(abs(a[0] + a[1] - b[0]) < 0.06 for a, b in zip(drawn, drawn[1:])), "%s: column %d: %s" % (where, column, drawn))


def check_timeline(where, svg, panel, fabric, result):
    per_second, left, _ = axis_of(svg, "simulated time")
    timeline, group = result["timeline"], group_of(result["tasks"])
    rows = panel.findall("g")
    expect(len(rows) == -(-result["tasks"] // group), "%s: %d rows" % (where, len(rows)))
    height = min(12, 160 / len(rows))
    for number, row in enumerate(rows):
        tasks = timeline["bins"][number * group:(number + 1) * group]
        spent = collections.Counter()
        for task in tasks:
            for cell in task:
                for state, share in cell:
                    spent[timeline["state_names"][state]] += share * timeline["bin_seconds"] / len(tasks)
        tip = row.find("title").text
        told = dict(re.findall(r"[:,] ([^:,]+) ([0-9.]+) %", tip))
        expect(number_of(tip) == number * group and set(told) == set(spent), "%s: %s: %s" % (where, fabric, tip))
        for state, seconds in spent.items():
            expect(abs(float(told.get(state, -1)) - 100 * seconds / result["simulated_seconds"]) < 0.06, "%s: %s: %s, want %s" % (where, fabric, tip, spent))
        areas, boxes = collections.Counter(), boxes_of(row)
        for style, _, _, w, h in boxes:
            areas[style] += w * h
        check_columns("%s: %s: row %d" % (where, fabric, number), boxes, tasks, timeline, left, per_second, height)
        drawn, want = sum(areas.values()) / height / per_second, sum(spent.values())
        expect(abs(drawn - want) < 0.01 * want, "%s: %s: row %d shows %g s, want %g" % (where, fabric, number, drawn, want))
        # The styles of a row show the times of its states; those without a colour share one.
        own = sorted(area / height / per_second for style, area in areas.items() if style != "s9")
        times = sorted(spent.values())
        expect(all(min(abs(a - t) for t in times) < 0.02 * want for a in own), "%s: %s: row %d: %s, want %s" % (where, fabric, number, own, times))


def states_of(timeline):
    """Those in which a task has been for a while."""
    return {timeline["state_names"][state] for task in timeline["bins"] for cell in task for state, _ in cell}


def check_legend(where, svg, states):
    names = [b.text for a, b in zip(svg, list(svg)[1:]) if a.tag == "rect" and "key" in a.get("class") and "cell" not in a.get("class")]
    styles = [a.get("class") for a in svg if a.tag == "rect" and "key" in a.get("class") and "cell" not in a.get("class")]
    expect(len(set(styles)) == len(styles) > 0, "%s: styles of the legend %s" % (where, styles))
    expect(set(names) <= states | {"other calls"} and (set(names) == states or "other calls" in names), "%s: legend %s, want %s" % (where, names, states))


# ---- the page ------------------------------------------------------------------------------------

def check_program(root, number, key, runs):
    where = "program %d" % number
    ids = {element.get("id"): element for element in root.iter() if element.get("id")}
    section = next(s for s in root.iter("section") if s.find("h2").get("id") == "program-%d" % number)
    expect(section.find("h2").text == "Program: " + key[0].translate({1: 0xfffd}), "%s: %s" % (where, section.find("h2").text))
    check_fabrics(where, ids["program-%d-fabrics" % number], runs)
    if any(result["profile"] for _, result in runs):
        check_calls(where, ids["program-%d-calls" % number], runs)
    check_wires(where, [table for table in section.iter("table") if table.get("class") == "wires"], runs)
    for s, scale in enumerate(scales_of(runs), 1):
        check_bars(where, ids["program-%d-bars-%d" % (number, s)], scale)
        timelines = [(fabric, result) for fabric, result in scale if len(result["timeline"]["state_names"]) > 1]
        svg = ids.get("program-%d-timeline-%d" % (number, s))
        expect((svg is not None) == bool(timelines), "%s: timeline of scale %d" % (where, s))
        for fabric, result in timelines:
            check_timeline(where, svg, ids["program-%d-tasks-%d" % (number, runs.index((fabric, result)) + 1)], fabric, result)
        if timelines:
            check_legend(where, svg, set().union(*(states_of(result["timeline"]) for _, result in timelines)))
    with_pairs = [(i, result["pairs"]) for i, (_, result) in enumerate(runs, 1) if result["pairs"]]
    if all(pairs == with_pairs[0][1] for _, pairs in with_pairs): # drawn once
        with_pairs = with_pairs[:1]
    shown = [i for i in range(1, len(runs) + 1) if "program-%d-matrix-%d" % (number, i) in ids]
    expect(shown == [i for i, _ in with_pairs], "%s: matrices %s" % (where, shown))
    for i in shown:
        check_matrix(where, ids["program-%d-matrix-%d" % (number, i)], runs[i - 1][1])
    commands = text_of(section.findall("pre")[-1]).splitlines()
    expect(len(commands) == len(runs) and all(c.startswith("leat run --fabric ") and key[1] in c for c in commands), "%s: commands %s" % (where, commands))


def check(page, store):
    text = open(page, encoding="utf-8").read()
    root = xml.etree.ElementTree.fromstring(re.sub(r' xmlns="[^"]*"', "", text))
    programs = read(store)
    shown = [h.text for h in root.iter("h2") if h.get("id", "").startswith("program-")]
    expect(len(shown) == len(programs) > 0, "programs: %s" % shown)
    for number, (key, runs) in enumerate(programs, 1):
        check_program(root, number, key, runs)
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    expect(len(ids) == len(set(ids)), "an id twice")
    for element in root.iter():
        expect(element.tag not in ("script", "img", "iframe", "object"), "a <%s>" % element.tag)
