#!/usr/bin/env python3
"""Recordings written here, by the picture in sim/record/sim_recording.h alone, exported by leat, and every
export compared with what was recorded. Arguments: leat, folder, seed."""
import csv
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys

leat, folder, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
random.seed(seed)


def number(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def string(text):
    return number(len(text)) + text.encode("ascii")


class Recording:
    """Octets, and what they mean."""

    def __init__(self):
        self.octets, self.records, self.now, self.at = b"LEATREC\x02", 0, 0, 0
        self.parts, self.tracks, self.names, self.events = [], [None], [None], []

    def put(self, kind, *fields):
        self.parts.append(bytes([kind]) + b"".join(number(f) if isinstance(f, int) else f for f in fields))
        self.records += 1

    def track(self, kind, parent, name, *fields, **more):
        self.put({"group": 2, "lane": 3, "signal": 4}[kind], parent, *fields, string(name))
        path = (self.tracks[parent]["path"] + "." if parent else "") + name
        self.tracks.append(dict(kind=kind, parent=parent, name=name, path=path, **more))
        return len(self.tracks) - 1

    def name(self, text):
        self.put(5, string(text))
        self.names.append(text)

    def event(self, kind, *fields, **more):
        if self.at > self.now:
            self.put(6, self.at - self.now)
            self.now = self.at
        self.put(kind, *fields)
        self.events.append(dict(kind=kind, at=self.at, **more))

    def close(self):
        self.event(0x1F, self.records + (self.at > self.now))
        return self.octets + b"".join(self.parts)


def record(events):
    r = Recording()
    r.put(1, 10000, 3)
    net = r.track("group", 0, "net")
    groups = [0, net] + [r.track("group", net, "bmx[%d]" % i) for i in range(3)]
    lanes = [r.track("lane", random.choice(groups), "lane %d" % i, i % 2, 147 + i % 5, clock=i % 2, link=147 + i % 5)
             for i in range(6)]
    signals = [r.track("signal", random.choice(groups), "s%d" % i, 1, w, width=w) for i, w in enumerate((1, 8, 33, 64))]
    for text in ("busy", 'a "quoted" \\ name', "idle"):
        r.name(text)
    open_spans = {lane: [] for lane in lanes}
    for _ in range(events):
        r.at += random.choice((0, 0, 1, 3333, 50000, random.getrandbits(40)))
        lane, name = random.choice(lanes), random.randint(1, len(r.names) - 1)
        kind = random.randint(0x10, 0x16)
        if kind == 0x10 and len(open_spans[lane]) < 8:
            open_spans[lane].append(name)
            r.event(kind, lane, name, track=lane, name=name)
        elif kind == 0x11 and open_spans[lane]:
            r.event(kind, lane, track=lane, name=open_spans[lane].pop())
        elif kind == 0x13:
            signal = random.choice(signals)
            value = random.getrandbits(r.tracks[signal]["width"])
            r.event(kind, signal, value, track=signal, value=value)
        elif kind == 0x14:
            direction, octets = random.randint(0, 2), random.randbytes(random.choice((0, 53, random.randint(1, 3000))))
            r.event(kind, lane, direction, len(octets), octets, track=lane, direction=direction, octets=octets)
        elif kind == 0x15:
            step, message, peer = random.randint(0, 2), random.getrandbits(64), random.choice([0] + lanes)
            length, tag = random.getrandbits(random.choice((4, 16, 64))), random.choice((None, 0, random.getrandbits(32)))
            r.event(kind, lane, step, message, peer, length, 0 if tag is None else tag + 1,
                    track=lane, step=step, message=message, peer=peer, length=length, tag=tag)
        elif kind == 0x16:
            r.event(kind, lane, name, track=lane, name=name)
        else:
            r.event(0x12, lane, name, track=lane, name=name)
        if random.random() < 0.01:
            r.name("name %d" % len(r.names))
    r.at += 7
    return r, r.close()


def check(condition, text):
    if not condition:
        sys.exit("recording.py, seed %d: %s" % (seed, text))


def check_pcapng(r, path):
    frames = [e for e in r.events if e["kind"] == 0x14]
    data, at, interfaces, got = open(path, "rb").read(), 0, [], []
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 1:
            link, _, _, _, name_len = struct.unpack_from("<HHIHH", data, at + 8)
            interfaces.append((link, data[at + 20:at + 20 + name_len].decode()))
        elif kind == 6:
            interface, high, low, captured, _ = struct.unpack_from("<IIIII", data, at + 8)
            got.append((interfaces[interface], high << 32 | low, data[at + 28:at + 28 + captured]))
        at += length
    want = [((r.tracks[e["track"]]["link"], r.tracks[e["track"]]["path"] + ("", " in", " out")[e["direction"]]),
             e["at"] // 1000, e["octets"]) for e in frames]
    check(got == want, "frames differ")
    check(len(set(interfaces)) == len(interfaces), "an interface is there twice")
    if shutil.which("tshark"):
        out = subprocess.run(["tshark", "-r", path, "-T", "fields", "-e", "frame.len", "-e", "frame.time_epoch"],
                             capture_output=True, text=True, check=True).stdout
        rows = [line.split("\t") for line in out.splitlines()]
        want = [[str(len(w[2])), "%d.%09d" % (w[1] // 10**9, w[1] % 10**9)] for w in want]
        check(rows == want, "tshark reads other frames")


def check_vcd(r, path):
    now, scope, signals, changes, started = 0, [], {}, {}, False
    for line in open(path):
        words = line.split()
        if words[0] == "$scope":
            scope.append(words[2])
        elif words[0] == "$upscope":
            scope.pop()
        elif words[0] == "$timescale":
            check(words[1:3] == ["1", "ps"], "another timescale")
        elif words[0] == "$var":
            signals[words[3]] = ".".join(scope + [words[4]])
        elif words[0] == "$enddefinitions":
            started = True
        elif words[0][0] == "#":
            check(int(words[0][1:]) >= now, "time goes back")
            now = int(words[0][1:])
        elif started and words[0][0] in "01b" and words[0][0] != "$":
            value, code = (words[0][1:], words[1]) if words[0][0] == "b" else (words[0][0], words[0][1:])
            if "x" not in value:
                changes.setdefault(signals[code], []).append((now, int(value, 2)))
    check(now == r.at, "the waveform ends at %d" % now)
    want, spans = {}, {}
    for number_, t in enumerate(r.tracks):
        if t and t["kind"] != "group":
            t["wave"] = t["path"].replace(" ", "_")
            want[t["wave"]], spans[number_] = [(0, 0)] if t["kind"] == "lane" else [], []
    for e in r.events:
        if e["kind"] not in (0x10, 0x11, 0x13):
            continue
        stack = spans[e["track"]]
        if e["kind"] == 0x10:
            stack.append(e["name"])
        elif e["kind"] == 0x11:
            stack.pop()
        value = e["value"] if e["kind"] == 0x13 else stack[-1] if stack else 0
        wave = want[r.tracks[e["track"]]["wave"]]
        if not wave or wave[-1][1] != value:
            wave.append((e["at"], value))
    check(changes == {k: v for k, v in want.items() if v}, "waveforms differ")


def check_perfetto(r, path):
    trace = json.load(open(path), parse_float=str)["traceEvents"]
    processes = {e["pid"]: e["args"]["name"] for e in trace if e["ph"] == "M" and e["name"] == "process_name"}
    threads = {e["tid"]: (e["pid"], e["args"]["name"]) for e in trace if e["ph"] == "M" and e["name"] == "thread_name"}
    for e in trace:
        check(e["name"] and e["pid"] in processes, "an event without a name or a process: %s" % e)
        check(e["ph"] in "MC" or threads[e["tid"]][0] == e["pid"], "an event without a thread: %s" % e)
    got, stacks = [], {}
    for e in trace:
        if e["ph"] == "M":
            continue
        whole, fraction = e["ts"].split(".")
        check(len(fraction) == 6, "time has another form")
        at, place = int(whole + fraction), (processes[e["pid"]], threads[e["tid"]][1] if e["ph"] != "C" else e["name"])
        if e["ph"] == "B":
            stacks.setdefault(place, []).append(e["name"])
        elif e["ph"] == "E":
            check(stacks[place].pop() == e["name"], "spans do not nest")
        if "cycle" in e["args"]:
            cycle = e["args"]["cycle"]
            check(cycle * 10000 // 3 <= at < (cycle + 1) * 10000 // 3, "another cycle than its time's")
        flow = (e.get("id"), e["args"].get("length"), e["args"].get("tag"), e["args"].get("group"), e["args"].get("number"))
        more = {"C": e["args"].get("value"), "i": e["args"].get("length"), "s": flow, "t": flow, "f": flow}
        got.append((e["ph"], at, place, None if e["ph"] == "C" else e["name"], more.get(e["ph"])))
    check(not any(stacks.values()), "spans stay open")
    want, depth = [], {}
    for e in r.events[:-1]:
        t, kind = r.tracks[e["track"]], e["kind"]
        place = (r.tracks[t["parent"]]["path"] if t["parent"] else "recording", t["name"])
        name, more = r.names[e["name"]] if "name" in e else None, None
        if kind == 0x14:
            name, more = ("frame", "frame in", "frame out")[e["direction"]], len(e["octets"])
        elif kind == 0x13:
            more = e["value"]
        elif kind == 0x15:
            of = is_operation(e)
            number = (None, e["message"] >> 44 & 0x3FFFF, e["message"] >> 12 & 0xFFFFFFFF) if of else (signed(e["tag"]), None, None)
            name, more = "operation" if of else "packet" if is_packet(e) else "message", ("0x%x" % e["message"], e["length"], *number)
        elif kind == 0x16:
            name = "at " + name
        if kind == 0x15 and is_packet(e) and not depth.get(e["track"]):
            want.append(("X", e["at"], place, name, None))
        depth[e["track"]] = depth.get(e["track"], 0) + {0x10: 1, 0x11: -1}.get(kind, 0)
        phase = "stf"[e["step"]] if kind == 0x15 else "BEiCi i"[kind - 0x10]
        want.append((phase, e["at"], place, name, more))
    check(got[:len(want)] == want, "the trace differs")
    check(all(g[0] == "E" and g[1] == r.at for g in got[len(want):]), "other events after the last")


def is_operation(e):
    """A collective operation of a network, not a message: 01, group, number, member."""
    return e["message"] >> 62 == 1


def signed(tag):
    return None if tag is None else tag - (tag >> 31 << 32)


def check_csv(r, path):
    rows = list(csv.DictReader(open(path, newline="")))
    want = []
    for e in r.events:
        row = dict.fromkeys(("time_ps", "event", "track", "name", "value", "message", "peer", "length", "tag"), "")
        row["time_ps"], kind = str(e["at"]), e["kind"]
        row["event"] = ("begin", "end", "instant", "value", "frame", "", "place")[kind - 0x10] if kind < 0x1F else "close"
        if "track" in e:
            row["track"] = r.tracks[e["track"]]["path"]
        if "name" in e:
            row["name"] = r.names[e["name"]]
        if kind == 0x13:
            row["value"] = str(e["value"])
        elif kind == 0x14:
            row["name"], row["length"] = ("", "in", "out")[e["direction"]], str(len(e["octets"]))
        elif kind == 0x15:
            row["event"] = ("leaves", "passes", "arrives")[e["step"]]
            row["message"], row["length"] = str(e["message"]), str(e["length"])
            row["peer"] = r.tracks[e["peer"]]["path"] if e["peer"] else ""
            row["tag"] = "" if e["tag"] is None else str(signed(e["tag"]))
        want.append(row)
    check(rows == want, "the table differs")


def is_packet(e):
    """A packet or a cell of a network, not a message."""
    return e["message"] >> 62 == 0 and e["message"] >= 1 << 34


def wanted_archive(r):
    """What each location should have, by its name; lanes in the order in which they come."""
    want, ranks, stacks = {}, [], {}
    for e in r.events:
        kind, at = e["kind"], e["at"]
        if kind in (0x14, 0x16, 0x1F) or kind == 0x15 and is_packet(e):
            continue
        t = r.tracks[e["track"]]
        if kind == 0x13:
            group = r.tracks[t["parent"]]["path"] if t["parent"] else ""
            want.setdefault("counters of " + group, []).append((at, "METRIC", t["path"], e["value"]))
            continue
        for lane in [e["track"]] + ([e["peer"]] if e.get("peer") else []):
            if lane not in ranks:
                ranks.append(lane)
                want[r.tracks[lane]["path"]] = []
        events, stack = want[t["path"]], stacks.setdefault(e["track"], [])
        if kind in (0x10, 0x12):
            events.append((at, "ENTER", r.names[e["name"]]))
            stack.append(e["name"])
        if kind in (0x11, 0x12):
            events.append((at, "LEAVE", r.names[stack.pop()]))
        if kind == 0x15 and e["step"] != 1 and not is_operation(e):
            events.append((at, "MPI_SEND" if e["step"] == 0 else "MPI_RECV", e["peer"], e["tag"] or 0, e["length"]))
    for lane, stack in stacks.items():
        want[r.tracks[lane]["path"]] += [(r.at, "LEAVE", r.names[name]) for name in reversed(stack)]
    numbers = {lane: rank for rank, lane in enumerate(ranks)}
    for events in want.values():
        for i, e in enumerate(events):
            if e[1].startswith("MPI_"):
                events[i] = e[:2] + (numbers.get(e[2]),) + e[3:]
    return want, [r.tracks[lane]["path"] for lane in ranks]


def otf2_print(path, *options):
    run = subprocess.run(["otf2-print", *options, path + "/traces.otf2"], capture_output=True, text=True)
    check(run.returncode == 0 and not run.stderr, "otf2-print: %s" % run.stderr)
    return run.stdout.splitlines()


def check_tree(r, lanes, group_of, parent_of):
    """Every lane is below its first place, or else its group."""
    for lane, location in lanes:
        places = [r.names[e["name"]] for e in r.events if e["kind"] == 0x16 and r.tracks[e["track"]]["path"] == lane]
        group = next(t["parent"] for t in r.tracks if t and t["path"] == lane)
        want = "place::" + places[0] if places else "group::" + r.tracks[group]["name"] if group else "machine::leat"
        check(parent_of[group_of[location]] == want, "%s is below %s, want %s" % (lane, parent_of[group_of[location]], want))


def check_otf2(r, path):
    members, group_of, parent_of = [], {}, {}
    for line in otf2_print(path, "-G"):
        what, number_, rest = re.match(r"(\S*) *(\d*) *(.*)", line).groups()
        if what == "GROUP" and "COMM_LOCATIONS" in rest:
            members = re.findall(r"<(\d+)>", re.split("Members?:", rest)[1])
        elif what == "LOCATION":
            group_of[number_] = re.search(r"Group: .*<(\d+)>$", rest).group(1)
        elif what == "LOCATION_GROUP":
            parent_of[number_] = re.search(r'Parent: "(.*)" <\d+>, Creator', rest).group(1)
    want, ranks = wanted_archive(r)
    check(len(members) == len(ranks), "%d lanes in the communicator, want %d" % (len(members), len(ranks)))
    check_tree(r, list(zip(ranks, members)), group_of, parent_of)
    got = {}
    for line in otf2_print(path):
        found = re.match(r"(ENTER|LEAVE|METRIC|MPI_SEND|MPI_RECV) +(\d+) +(\d+)  (.*)$", line)
        if not found:
            check(not re.match(r"[A-Z_]+ +\d+ +\d+ ", line), "another event: " + line)
            continue
        what, location, at, rest = found.groups()
        if what in ("ENTER", "LEAVE"):
            event = (int(at), what, re.match(r'Region: "(.*)" <\d+>$', rest).group(1))
        elif what == "METRIC":
            signal, value = re.search(r'\("(.*)" <\d+>; UINT64; (\d+)\)', rest).groups()
            event = (int(at), what, signal, int(value))
        else:
            peer, tag, length = re.match(r"(?:Receiver|Sender): (\d+|UNDEFINED).*Tag: (\d+), Length: (\d+)$", rest).groups()
            event = (int(at), what, None if peer == "UNDEFINED" else int(peer), int(tag), int(length))
        got.setdefault(location, []).append(event)
    for rank, lane in enumerate(ranks):
        check(got.pop(members[rank], []) == want.pop(lane), "the archive differs: " + lane)
    check(sorted(got.values()) == sorted(want.values()), "the archive's metrics differ")


for events in (0, 1, 10, 300, 5000):
    r, octets = record(events)
    path = "%s/%d.leatrec" % (folder, events)
    open(path, "wb").write(octets)
    outs = [path + end for end in (".pcapng", ".vcd", ".json")]
    subprocess.run([leat, "export", path, "--pcapng", outs[0], "--vcd", outs[1], "--perfetto", outs[2]], check=True)
    check_pcapng(r, outs[0])
    check_vcd(r, outs[1])
    check_perfetto(r, outs[2])
    table, archive = path + ".csv", path + ".otf2"
    subprocess.run([leat, "export", path, "--csv", table], check=True)
    check_csv(r, table)
    shutil.rmtree(archive, ignore_errors=True)
    run = subprocess.run([leat, "export", path, "--otf2", archive], capture_output=True, text=True)
    if "built without libotf2" in run.stderr or not shutil.which("otf2-print"):
        continue
    if wanted_archive(r)[1]:
        check(run.returncode == 0, run.stderr)
        check_otf2(r, archive)
    else:
        check(run.returncode == 1 and "no lane with spans" in run.stderr and not os.path.exists(archive), run.stderr)
