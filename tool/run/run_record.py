#!/usr/bin/env python3
"""The recording of a run compared with the run's own report: its exports must agree. Arguments: leat, the recording, the
run's JSON object (a file whose last line it is), the folder for exports, the word for a task (rank or task)."""
import collections
import csv
import json
import re
import shutil
import subprocess
import sys

leat, recording, told, folder, word = sys.argv[1:]
told = json.loads(open(told).read().splitlines()[-1])
wrong = []


def check(condition, text):
    if not condition:
        wrong.append(text)


def ps(seconds):
    return round(seconds * 10**12)


def read_table(path):
    events = list(csv.DictReader(open(path, newline="")))
    for e in events:
        for key in ("time_ps", "value", "message", "length", "tag"):
            e[key] = int(e[key]) if e[key] else None
    return events


def check_messages(events, tasks):
    """Every message of a task leaves and arrives, and tasks have sent and received what the run counted."""
    out, sent, received = {}, collections.Counter(), collections.Counter()
    for e in events:
        if not e["track"].startswith("program."):
            continue
        if e["event"] == "leaves":
            check(e["message"] not in out, "message %d leaves twice" % e["message"])
            out[e["message"]] = e
            sent[e["track"]] += 1
            sent[e["track"], "octets"] += e["length"]
        elif e["event"] == "arrives":
            left = out.get(e["message"])
            check(left is not None and left["time_ps"] < e["time_ps"], "message %d arrives before it leaves" % e["message"])
            if left:
                same = (left["track"], left["peer"], left["length"], left["tag"])
                check((e["peer"], e["track"], e["length"], e["tag"]) == same, "message %d is another one" % e["message"])
            received[e["track"]] += 1
            received[e["track"], "octets"] += e["length"]
    for t in tasks:
        lane = "program.%s %d" % (word, t["task"])
        got = (sent[lane], sent[lane, "octets"], received[lane], received[lane, "octets"])
        want = (t["messages_sent"], t["bytes_sent"], t["messages_received"], t["bytes_received"])
        check(got == want, "%s: messages and octets %s, the run told %s" % (lane, got, want))
    check(len(out) == told["messages"], "%d messages, the run told %d" % (len(out), told["messages"]))


def check_spans(events, tasks):
    """A task always does one thing, and waits as long as the run told."""
    for t in tasks:
        lane, waited, since, name, messages, busy_until = "program.%s %d" % (word, t["task"]), 0, None, None, 0, 0
        for e in (e for e in events if e["track"] == lane):
            if e["event"] == "place":
                busy_until = e["time_ps"]
                check(e["name"] == "port%d" % t["port"], "%s is at %s, not at port %d" % (lane, e["name"], t["port"]))
            elif e["event"] == "begin":
                check(since is None and e["time_ps"] == busy_until, "%s: a span begins at %d" % (lane, e["time_ps"]))
                since, name, messages = e["time_ps"], e["name"], 0
            elif e["event"] == "end":
                waited += (e["time_ps"] - since) * (name != "computing")
                check(messages or e["time_ps"] > since, "%s: a span of no time, %s" % (lane, name))
                since, busy_until = None, e["time_ps"]
            elif e["event"] in ("leaves", "arrives"):
                messages += 1
                check(since is not None, "%s: a message without a span at %d" % (lane, e["time_ps"]))
        check(since is None and busy_until == ps(t["seconds"]), "%s ends at %d, not at %d" % (lane, busy_until, ps(t["seconds"])))
        check(waited == ps(t["waiting_seconds"]), "%s waits for %d ps, the run told %d" % (lane, waited, ps(t["waiting_seconds"])))


def check_counters(events):
    """Messages under way follow from the messages; all counters end with 0 and change when they are told."""
    last, in_flight, at = {}, 0, 0
    for e in events:
        if e["time_ps"] > at:
            check(last.get("network.in_flight", 0) == in_flight, "%s messages are under way at %d" % (in_flight, at))
            at = e["time_ps"]
        if e["event"] == "value":
            check(last.get(e["track"]) != e["value"], "%s is told twice at %d" % (e["track"], at))
            last[e["track"]] = e["value"]
        elif e["track"].startswith("program."):
            in_flight += (e["event"] == "leaves") - (e["event"] == "arrives")
    check(not any(last.values()), "counters are left: %s" % last)
    check(max(v["value"] for v in events if v["track"] == "network.in_flight") > 0, "nothing was ever under way")


def check_perfetto(path):
    """Tasks are threads of a process; arrows begin and end within a slice; counters are C."""
    trace = json.load(open(path))["traceEvents"]
    process = {e["pid"]: e["args"]["name"] for e in trace if e["name"] == "process_name"}
    thread = {e["tid"]: e["args"]["name"] for e in trace if e["name"] == "thread_name"}
    depth, arrows = collections.Counter(), collections.Counter()
    for e in trace:
        if e["ph"] in "BE":
            depth[e["tid"]] += 1 if e["ph"] == "B" else -1
        elif e["ph"] in "sf":
            check(depth[e["tid"]] > 0, "an arrow outside of slices on %s" % thread[e["tid"]])
            if process[e["pid"]] == "program":
                arrows[e["ph"]] += 1
                check(thread[e["tid"]].startswith(word + " "), "an arrow on " + thread[e["tid"]])
    check(arrows["s"] == arrows["f"] == told["messages"], "%s arrows for %d messages" % (dict(arrows), told["messages"]))
    counters = {(process[e["pid"]], e["name"]) for e in trace if e["ph"] == "C"}
    check(("network", "in_flight") in counters and ("program", "inbox0") in counters, "counters: %s" % counters)


def check_otf2(path, tasks):
    run = subprocess.run(["otf2-print", path + "/traces.otf2"], capture_output=True, text=True)
    check(run.returncode == 0 and not run.stderr, "otf2-print: %s" % run.stderr)
    sent = collections.Counter()
    for line in run.stdout.splitlines():
        found = re.match(r"(MPI_SEND|MPI_RECV) +\d+ +\d+  (?:Receiver|Sender): \d+ \(\"(.*)\" <\d+>\).*Length: (\d+)$", line)
        if found and found.group(2).startswith(word):
            sent[found.group(1), found.group(2)] += 1
    for t in tasks:
        name = "%s %d" % (word, t["task"])
        check(sent["MPI_SEND", name] == t["messages_received"], "%s: %d messages go to it" % (name, sent["MPI_SEND", name]))
        check(sent["MPI_RECV", name] == t["messages_sent"], "%s: %d messages come from it" % (name, sent["MPI_RECV", name]))


outs = [folder + "/" + name for name in ("record.csv", "record.json", "record.otf2")]
subprocess.run([leat, "export", recording, "--csv", outs[0], "--perfetto", outs[1]], check=True)
table = read_table(outs[0])
check([e["time_ps"] for e in table] == sorted(e["time_ps"] for e in table), "time goes back")
check_messages(table, told["per_task"])
check_spans(table, told["per_task"])
check_counters(table)
check_perfetto(outs[1])
shutil.rmtree(outs[2], ignore_errors=True)
run = subprocess.run([leat, "export", recording, "--otf2", outs[2]], capture_output=True, text=True)
if "built without libotf2" not in run.stderr:
    check(run.returncode == 0, run.stderr)
    if shutil.which("otf2-print"):
        check_otf2(outs[2], told["per_task"])
sys.exit("\n".join(wrong[:10]) if wrong else 0)
