#!/usr/bin/env python3
"""The recording of a run compared with the run's own report: its exports must agree. Arguments: leat, the recording, the
run's JSON object (a file whose last line it is), the folder for exports, the word for a task (rank or task)."""
import collections
import csv
import json
import os
import re
import shutil
import subprocess
import sys

leat, recording, told, folder, word = sys.argv[1:]
lua = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../share/wireshark/leat.lua")
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


def is_operation(e):
    """A flow of a collective operation of the network, not of a message (sim/record/sim_recording.h)."""
    return e["message"] is not None and e["message"] >> 62 == 1


def is_packet(e):
    return e["message"] is not None and e["message"] >> 62 == 0 and e["message"] >= 1 << 34


def check_messages(events, tasks):
    """Every message of a task leaves and arrives, and tasks have sent and received what the run counted."""
    out, sent, received = {}, collections.Counter(), collections.Counter()
    for e in events:
        if not e["track"].startswith("program.") or is_operation(e):
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
                if is_operation(e) and e["event"] == "arrives":
                    check(name.endswith(" in the network (group 0)"), "%s: a result in %s" % (lane, name))
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
        if e["event"] == "value" and e["track"] != "network.wires.width":
            check(last.get(e["track"]) != e["value"], "%s is told twice at %d" % (e["track"], at))
            last[e["track"]] = e["value"]
        elif e["track"].startswith("program.") and not is_operation(e):
            in_flight += (e["event"] == "leaves") - (e["event"] == "arrives")
    check(not any(last.values()), "counters are left: %s" % last)
    check(max(v["value"] for v in events if v["track"] == "network.in_flight") > 0, "nothing was ever under way")


def check_hops(events):
    """Packets pass wire after wire, each where the one before led to, from a port to another."""
    at, hops = {}, 0
    for e in filter(is_packet, events):
        what = e["track"].rsplit(".", 1)[1]
        if e["event"] == "passes":
            begin, end = what.split(" ")[0].split(">")
            hops += 1
            check(at.get(e["message"]) in (begin, None), "packet %d is at %s, not at %s" % (e["message"], at.get(e["message"]), begin))
            at[e["message"]] = end
        elif e["event"] == "leaves":
            check(e["message"] not in at, "packet %d leaves twice" % e["message"])
            at[e["message"]] = None
        else:
            check(at.pop(e["message"], None) == what, "packet %d arrives at %s" % (e["message"], what))
    places = [e["name"] for e in events if e["track"] == "network.fabric"]
    check(places == [told["fabric"]], "the fabric is %s, the run told %s" % (places, told["fabric"]))
    check(hops > 0 or not any(e["track"].startswith("network.wires.") for e in events), "no hops")


def check_operations(events, tasks):
    """The last member of each operation has an arrow to each other one's result; there are as many as calls. Returns the
    numbers of folds and casts, where each call is one operation."""
    calls = {c["call"]: c["in_network"] for c in told.get("collectives", [])}
    leaves, arrives = collections.defaultdict(dict), collections.defaultdict(dict)
    for e in filter(is_operation, events):
        operation, member = e["message"] >> 12, e["message"] & 0xFFF
        check(operation & 0xFFFFFFFF == e["tag"], "operation %x has tag %d" % (operation, e["tag"]))
        table = leaves if e["event"] == "leaves" else arrives
        check(member not in table[operation], "operation %x: an arrow twice" % operation)
        table[operation][member] = e
    check(len(leaves) * len(tasks) == sum(calls.values()), "%d operations of %d ranks, the run told %s" % (len(leaves), len(tasks), calls))
    for operation, arrows in leaves.items():
        check(arrows.keys() == arrives[operation].keys() and len(arrows) == len(tasks) - 1, "operation %x: %d arrows" % (operation, len(arrows)))
        check(len({(e["track"], e["time_ps"]) for e in arrows.values()}) == 1, "operation %x: two members are its last" % operation)
        for member, e in arrows.items():
            end = arrives[operation].get(member, e)
            check(end["time_ps"] > e["time_ps"] and end["track"] == e["peer"], "operation %x: a result before all parts" % operation)
    casts = calls.get("MPI_Bcast", 0) // len(tasks)
    return len(leaves) - casts, casts


def check_packets(events, capture, tasks, folds, casts):
    """The packets of operations, counted at the ports of all kinds of networks; leat and tshark read all of them."""
    frames = collections.Counter((e["track"], e["name"]) for e in events if e["event"] == "frame")
    subprocess.run([leat, "export", recording, "--pcapng", capture], check=True)
    lines = subprocess.run([leat, "decode", "--json", capture], check=True, capture_output=True, text=True).stdout.splitlines()
    packets = [json.loads(line) for line in lines]
    check(len(packets) == sum(frames.values()), "%d packets in the capture, %d frames" % (len(packets), sum(frames.values())))
    check(not any(p["error"] for p in packets), "leat decode refuses packets")
    if shutil.which("tshark"):
        names = ["leat_" + f for f in ("atmtask", "aton", "esp", "packetway")]
        tshark = ["tshark", "-X", "lua_script:" + lua, "-r", capture, "-T", "fields", "-e", "frame.number", "-Y"]
        run = subprocess.run(tshark + ["(%s) && !_ws.malformed" % " || ".join(names)], capture_output=True, text=True)
        check(len(run.stdout.splitlines()) == len(packets), "tshark reads %d of %d packets: %s" % (len(run.stdout.splitlines()), len(packets), run.stderr))
    sum_calls = sum(c["in_network"] for c in told["collectives"] if c["call"] == "MPI_Reduce")
    kind, ports, ranks = told["fabric"], sorted({t["port"] for t in tasks}), len(tasks)
    heads = collections.Counter(p["fields"].get("octets", "")[:2] for p in packets if p["format"] == "aton")
    if kind.startswith("ring"):
        stations = int(re.match(r"ring(\d+)", kind).group(1))
        check((heads["82"], heads["83"]) == (stations * folds, stations * casts), "%s packets for %d folds, %d casts" % (dict(heads), folds, casts))
        sums = sum(p["fields"].get("opcode") == "ADD" for p in packets)
        check(sums == 2 * sum_calls // ranks, "%d packets of sums" % sums)
    elif kind.startswith(("torus", "ether")):
        got = sum(frames["network.port%d" % p, "in"] for p in ports), sum(frames["network.port%d" % p, "out"] for p in ports)
        check(got == (folds * ranks + casts, folds * ranks + casts * (ranks - 1)), "%s ESP packets at hosts" % (got,))
    elif kind.startswith("clos"):
        check(15 not in ports and frames["network.port15", "out"] == 0, "%d cells outside of the group" % frames["network.port15", "out"])
        check(all(frames["network.port%d" % p, "out"] >= folds + casts * (ranks - 1) // ranks for p in ports), "cells of multicasts are missing")
    elif kind.startswith("twosan"):
        got = [frames["network.west." + end, way] for end in ("ring7", "clos0") for way in ("in", "out")]
        check(got[0] == got[3] and got[1] == got[2] and sum(got) == 4 * folds + 2 * casts, "%s messages of half-routers" % got)
        check(heads["82"] and heads["83"], "no packets of the ring")


def check_perfetto(path):
    """Tasks are threads of a process; arrows begin and end within a slice; counters are C."""
    trace = json.load(open(path))["traceEvents"]
    process = {e["pid"]: e["args"]["name"] for e in trace if e["name"] == "process_name"}
    thread = {e["tid"]: e["args"]["name"] for e in trace if e["name"] == "thread_name"}
    depth, arrows = collections.Counter(), collections.Counter()
    for e in trace:
        if e["ph"] in "BE":
            depth[e["tid"]] += 1 if e["ph"] == "B" else -1
        elif e["ph"] in "sf" and e["cat"] != "packet":
            check(depth[e["tid"]] > 0, "an arrow outside of slices on %s" % thread[e["tid"]])
            if process[e["pid"]] == "program":
                arrows[e["ph"]] += 1
                check(thread[e["tid"]].startswith(word + " "), "an arrow on " + thread[e["tid"]])
    check(arrows["s"] == arrows["f"] == told["messages"] + operations, "%s arrows for %d messages" % (dict(arrows), told["messages"]))
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
check_hops(table)
folds, casts = check_operations(table, told["per_task"])
operations = (folds + casts) * (len(told["per_task"]) - 1)
if operations:
    check_packets(table, folder + "/record.pcapng", told["per_task"], folds, casts)
check_perfetto(outs[1])
shutil.rmtree(outs[2], ignore_errors=True)
run = subprocess.run([leat, "export", recording, "--otf2", outs[2]], capture_output=True, text=True)
if "built without libotf2" not in run.stderr:
    check(run.returncode == 0, run.stderr)
    if shutil.which("otf2-print"):
        check_otf2(outs[2], told["per_task"])
sys.exit("\n".join(wrong[:10]) if wrong else 0)
