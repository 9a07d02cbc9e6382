"""The expected results of leat experiment, computed separately: experiment_model.py WHAT FILE..."""
import csv
import json
import random
import sys


def one_way(n):
    """T(N) of spec/atm.md, 5.4."""
    cells = -(-(n + 20) // 36)
    words = 19 * (n // 4) + (3 + 4 * (n % 4) if n % 4 else 0)
    return 145 + 10 * cells + 2 * words + (58 if cells > 1 else 0) + max(0, 61 * (cells - 2))


def fit(points):
    """Least squares, by the two normal equations."""
    n = len(points)
    sx = sum(x for x, _ in points)
    sy = sum(y for _, y in points)
    sxx = sum(x * x for x, _ in points)
    sxy = sum(x * y for x, y in points)
    slope = (n * sxy - sx * sy) / (n * sxx - sx * sx)
    return slope, (sy - slope * sx) / n


def near(what, got, want, tolerance):
    if abs(got - want) > tolerance:
        print(f"{what}: got {got}, want {want}")


def check_echo(said):
    more = said["network_cycles"] - 18  # the thesis' network has 18, T(N) with it
    points = [(p["bytes"], p["cycles"]) for p in said["delay"]]
    for n, cycles in points:
        near(f"delay of {n}", cycles, one_way(n) + more, 0)
    for p in said["delay"]:
        near(f"closed form of {p['bytes']}", p["theory_cycles"], one_way(p["bytes"]) + more, 0)
    r_max = max(n / (one_way(n) + more) for n, _ in points)
    half = next(n for n in range(1, 70000) if n / (one_way(n) + more) >= r_max / 2)
    for row in "measured", "theory":
        near(row + " r_max", said[row]["r_max"], r_max, 1e-9)
        near(row + " at 155.52", said[row]["mbit_155_52"], r_max * 155.52, 1e-5)
        near(row + " at 622.08", said[row]["mbit_622_08"], r_max * 622.08, 1e-5)
        near(row + " t_0", said[row]["t_0"], 193 + more, 0)
    near("theory n_half", said["theory"]["n_half"], half, 0)
    near("measured n_half", said["measured"]["n_half"], -(-half // 4) * 4, 0)
    slope, base = fit(points)
    near("slope", said["regression"]["slope"], slope, 1e-6)
    near("base", said["regression"]["base"], base, 1e-3)
    # As printed, and as recomputed by the note.
    near("published slope", said["published_regression"]["slope"], 17.356793, 1e-6)
    near("published base", said["published_regression"]["base"], 11068.4546, 1e-3)
    line = said["published_line"]
    near("published r_max", line["r_max"], 0.0570546, 1e-6)
    near("published at 155.52", line["mbit_155_52"], 8.8731, 1e-3)
    near("published at 622.08", line["mbit_622_08"], 35.4925, 1e-3)
    near("published n_half", line["n_half"], 625.4, 0.1)
    near("published t_0", line["t_0"], 11138, 1)


def write_records(path, seed):
    """A random program's records: tasks send to each other and to all, and receive in any order."""
    rnd = random.Random(seed)
    tasks = rnd.randrange(2, 24)
    clock = [rnd.randrange(1000) for _ in range(tasks)]
    wait = [[] for _ in range(tasks)]
    rows = []
    for _ in range(rnd.randrange(1, 120)):
        t = rnd.randrange(tasks)
        if wait[t] and rnd.random() < 0.6:
            at, tag = wait[t].pop(0)
            clock[t] = max(clock[t] + rnd.randrange(1, 50), at + rnd.randrange(193, 700))
            rows.append((clock[t], "rcv", tag, "", f"srp:{t}"))
        else:
            clock[t] += rnd.randrange(400)
            tag = rnd.randrange(5)
            to = rnd.choice([-1] + [i for i in range(tasks) if i != t])
            rows.append((clock[t], "snd", tag, f"srp:{t}", f"srp:{to}"))
            for i in range(tasks) if to == -1 else [to]:
                wait[i].append((clock[t], tag))
    rows.sort(key=lambda r: r[0])
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow("cycle op tag src_task dst_task note".split())
        for row in rows:
            out.writerow(row + ("",))


def without_contention(path, ports):
    """spec/atm.md, 7.5, record by record."""
    rows = [r for r in csv.DictReader(open(path)) if r["note"] != "start"]
    cycle = []
    for i, r in enumerate(rows):
        me = r["src_task"] or r["dst_task"]
        mine = [j for j in range(i) if (rows[j]["src_task"] or rows[j]["dst_task"]) == me]
        if r["op"] == "snd":
            cycle.append(int(r["cycle"]) if not mine else cycle[mine[-1]] + int(r["cycle"]) - int(rows[mine[-1]]["cycle"]))
            continue
        k = sum(1 for j in mine if rows[j]["op"] == "rcv" and rows[j]["tag"] == r["tag"])
        sends = [j for j, s in enumerate(rows)
                 if s["op"] == "snd" and s["tag"] == r["tag"] and s["dst_task"] in (me, "srp:-1")]
        at = cycle[sends[k]] + 193
        port = (int(me.split(":")[1]) + 1) % ports
        there = [j for j in range(i) if rows[j]["op"] == "rcv" and (int(rows[j]["dst_task"].split(":")[1]) + 1) % ports == port]
        cycle.append(max(at, cycle[there[-1]] + 40) if there else at)
    return max(cycle)


if sys.argv[1] == "echo":
    check_echo(json.load(open(sys.argv[2])))
elif sys.argv[1] == "records":
    write_records(sys.argv[2], int(sys.argv[3]))
else:
    print(without_contention(sys.argv[2], int(sys.argv[3])))
