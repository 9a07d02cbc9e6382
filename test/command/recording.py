#!/usr/bin/env python3
"""Recordings written here, by the picture in sim/sim_recording.h alone, exported by leat, and every
export compared with what was recorded. Arguments: leat, folder, seed."""
import json
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
        self.octets, self.records, self.now, self.at = b"LEATREC\x01", 0, 0, 0
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
        kind = random.randint(0x10, 0x15)
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
            step, message = random.randint(0, 2), random.getrandbits(64)
            r.event(kind, lane, step, message, track=lane, step=step, message=message)
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
        more = {"C": e["args"].get("value"), "i": e["args"].get("length"), "s": e.get("id"), "t": e.get("id"), "f": e.get("id")}
        got.append((e["ph"], at, place, None if e["ph"] == "C" else e["name"], more.get(e["ph"])))
    check(not any(stacks.values()), "spans stay open")
    want = []
    for e in r.events[:-1]:
        t, kind = r.tracks[e["track"]], e["kind"]
        place = (r.tracks[t["parent"]]["path"] if t["parent"] else "recording", t["name"])
        name, more = r.names[e["name"]] if "name" in e else None, None
        if kind == 0x14:
            name, more = ("frame", "frame in", "frame out")[e["direction"]], len(e["octets"])
        elif kind == 0x13:
            more = e["value"]
        elif kind == 0x15:
            name, more = "message", "0x%x" % e["message"]
        phase = "BEiCi"[kind - 0x10] if kind < 0x15 else "stf"[e["step"]]
        want.append((phase, e["at"], place, name, more))
    check(got[:len(want)] == want, "the trace differs")
    check(all(g[0] == "E" and g[1] == r.at for g in got[len(want):]), "other events after the last")


for events in (0, 1, 10, 300, 5000):
    r, octets = record(events)
    path = "%s/%d.leatrec" % (folder, events)
    open(path, "wb").write(octets)
    outs = [path + end for end in (".pcapng", ".vcd", ".json")]
    subprocess.run([leat, "export", path, "--pcapng", outs[0], "--vcd", outs[1], "--perfetto", outs[2]], check=True)
    check_pcapng(r, outs[0])
    check_vcd(r, outs[1])
    check_perfetto(r, outs[2])
