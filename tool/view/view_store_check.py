"""usage: view_store_check.py LEAT STORE TOLD: what the page is told about a store (TOLD: its JSON, "-": standard input)
against the table of leat report --csv."""
import csv
import io
import json
import math
import subprocess
import sys

leat, store, told = sys.argv[1:]
report = json.load(sys.stdin if told == "-" else open(told, encoding="utf-8"))["report"]
text = subprocess.run([leat, "report", store, "--csv", "-"], capture_output=True, text=True, check=True).stdout
rows = [row for row in csv.DictReader(io.StringIO(text, newline="")) if row["traffic"]]
assert len(rows) == report["runs"], (len(rows), report["runs"])
runs = {}
for row in rows:
    runs.setdefault((int(row["sweep"]), row["fabric"], row["traffic"], float(row["load"])), []).append(row)
assert len(runs) == len(report["points"]), (len(runs), len(report["points"]))


def student(freedom):
    """Of a two-sided 95 % interval; as in the tables."""
    return [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228][freedom - 1]


def check(what, got, want, digits=1e-9):
    assert got is not None and math.isclose(got, want, rel_tol=digits, abs_tol=1e-12), (what, got, want)


for point in report["points"]:
    p = dict(zip(report["columns"], point))
    line = report["lines"][p["line"]]
    key = (report["sweeps"][line["sweep"]]["id"], line["fabric"], report["traffics"][p["traffic"]], p["load"])
    of = runs.pop(key)
    assert p["runs"] == len(of), key
    for name, column in (("throughput", "throughput"), ("latency", "latency_ns.mean"), ("p99", "latency_ns.p99"), ("hops", "hops_mean")):
        values = [float(row[column]) for row in of]
        mean = sum(values) / len(values)
        check((key, name), p[name], mean)
        if 1 < len(values) <= 11 and name != "hops":
            spread = math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1) / len(values))
            check((key, name, "half"), p[name + "_half"], spread * student(len(values) - 1), 1e-3)
    saturated = sum(row["saturated"] == "true" for row in of)
    assert (p["saturated"], bool(p["is_saturated"])) == (saturated, saturated > 0), (key, p["saturated"], saturated)
assert not runs, list(runs)
print(len(report["points"]), "points")
