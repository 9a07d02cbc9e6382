"""The unit benches of the ATM prototype, a second time: a plain model written from spec/atm.md, 4 and 6,
random stimuli for it, and readers of the three trace formats. Used by unit_test.sh and unit_golden_test.sh.

  unit_model.py golden REFERENCE TRACE        every value of the reference is in the trace (JSON lines)
  unit_model.py random LEAT SEED ROUNDS       leat against the model, on random stimuli, all benches
  unit_model.py formats LEAT BENCH STIMULI    the thesis format and the waveform say what the JSON says
"""
import json, os, random, re, subprocess, sys, tempfile

SIZE = 424


# ---- units -------------------------------------------------------------------------------------

class Xpm:
    def __init__(self):
        self.head = self.tail = self.size = 0
        self.mem = [0] * SIZE

    def push(self, value):
        self.mem[self.tail] = value
        self.tail = (self.tail + 1) % SIZE
        self.size += 1


class Ppd:
    def __init__(self):
        for name in "a b o p q aind bind oind pind qind cind dind count suspend wadr wcmd".split():
            setattr(self, name, 0)
        self.first, self.second, self.select = [0] * 4, [0] * 4, [0] * 4
        self.datain, self.table = 0, [0] * 256
        self.xpm = [Xpm() for _ in range(4)]

    def step(self, byte, byteind):
        if self.wcmd:
            self.table[self.wadr] = self.datain
            self.wcmd = 0
        full = any(self.select[u] and self.xpm[u].size >= 419 for u in range(4))
        refuse = 0
        if self.cind and full:
            refuse, self.select = 1, [0] * 4
        else:
            for u in range(4):
                if not self.select[u]: continue
                if self.qind: self.xpm[u].push(self.q)
                elif self.cind: self.xpm[u].push(self.first[u])
                elif self.dind: self.xpm[u].push(self.second[u])
        if self.bind:
            path, kept = (self.a * 256 + self.b) >> 4, self.b & 15
            entry = self.table[path] if path < 256 else 0
            for u in range(4):
                word = (entry >> (4 + 12 * u) & 0xfff) * 16 + kept
                self.first[u], self.second[u], self.select[u] = word >> 8, word & 255, entry >> u & 1
        self.dind = 0 if refuse else self.cind
        self.cind = self.bind
        self.q, self.qind = self.p, self.pind
        self.p, self.pind = self.o, 0 if refuse or self.suspend else self.oind
        self.aind = self.bind = self.oind = 0
        if byteind:
            if self.count == 0: self.a, self.aind, self.count = byte, 1, 1
            elif self.count == 1: self.b, self.bind, self.count = byte, 1, 2
            elif self.suspend: self.count = 0
            else: self.o, self.oind, self.count = byte, 1, (self.count + 1) % 53
        self.suspend = refuse

    def registers(self, names):
        letters = dict(zip("cdefghijklmn", sum(([self.first[u], self.second[u], self.select[u]] for u in range(4)), [])))
        return {"tstppd." + n: letters[n] if n in letters else getattr(self, n) for n in names.split()}

    def queues(self, label):
        out = {}
        for u, x in enumerate(self.xpm):
            at = (x.tail - 1) % SIZE
            out |= {f"{label}[{u}].size": x.size, f"{label}[{u}].head": x.head, f"{label}[{u}].tail": x.tail,
                    f"{label}[{u}].mem[{at}]": x.mem[at]}
        return out


class Spd:
    def __init__(self, xpm):
        self.buf = self.byte = self.bufind = self.byteind = self.trsmit = self.siqnum = self.lsthead = 0
        self.iqcnt, self.xpm = [0] * 4, xpm

    def step(self, suspend):
        self.byte, self.byteind = self.buf, self.bufind
        x = self.xpm[self.siqnum]
        if suspend:
            x.head, x.size = self.lsthead, x.size + 5
            self.iqcnt[self.siqnum] = self.trsmit = 0
        if self.trsmit:
            count = self.iqcnt[self.siqnum]
            self.buf, self.bufind = x.mem[x.head], 1
            if count == 0: self.lsthead = x.head
            x.head, x.size = (x.head + 1) % SIZE, x.size - 1
            if count == 52: self.trsmit = 0
            self.iqcnt[self.siqnum] = (count + 1) % 53
        else:
            self.bufind = 0
        if not self.trsmit:
            for i in range(1, 5):
                candidate = (self.siqnum + i) % 4
                if self.xpm[candidate].size != 0:
                    self.siqnum, self.trsmit = candidate, 1
                    break

    def registers(self):
        out = {f"tstspd.{n}": getattr(self, n) for n in "siqnum lsthead trsmit buf byte bufind byteind".split()}
        for i, x in enumerate(self.xpm):
            out |= {f"tstspd.iqcnt[{i}]": self.iqcnt[i], f"tstspd.xpm_src[{i}].head": x.head,
                    f"tstspd.xpm_src[{i}].tail": x.tail, f"tstspd.xpm_src[{i}].size": x.size}
        return out


# ---- benches: stimuli {name: [(cycle, text)]} in, [{signal: value}] out -------------------------

REGISTERS = "a b o p q aind bind oind pind qind count c d e f g h i j k l m n cind dind suspend"


def by_cycle(stimuli):
    """{cycle: [(name, value)]}, and the last cycle."""
    out, last = {}, 0
    for name, values in stimuli.items():
        for cycle, text in values:
            if re.match(r"byte\d?$|fifo", name): items = list(bytes.fromhex(text))
            elif "datain" in name or "wadr" in name: items = [int(text, 16)]
            else: items = [int(text)]
            for i, value in enumerate(items): out.setdefault(cycle + i, []).append((name, value))
            last = max(last, cycle + len(items) - 1)
    return out, last


def simulate(bench, stimuli, cycles=None):
    events, last = by_cycle(stimuli)
    ppds = [Ppd() for _ in range(4 if bench == "bmx" else 1)]
    sources = [Xpm() for _ in range(4)]
    if bench == "bmx": spds = [Spd([p.xpm[s] for p in ppds]) for s in range(4)]
    else: spds = [Spd(sources)]
    byte, byteind, suspend, out = [0] * 4, [0] * 4, [0] * 4, []
    for cycle in range(1, (cycles or last + 128) + 1):
        signals = {}
        for name, value in events.get(cycle, []):
            queue = re.match(r"tstppd.xpm_dst\[(\d)\]\.(\w+)", name)
            index = int(name[-1]) if name[-1].isdigit() else 0
            if queue: setattr(ppds[0].xpm[int(queue[1])], queue[2], value)
            elif name.startswith("fifo"): sources[index].push(value)
            elif name.startswith("byteind"): byteind[index] = value
            elif name.startswith("byte"): byte[index] = value
            elif name.startswith("suspend"): suspend[index] = value
            else:
                setattr(ppds[index], re.match(r"tstppd.trsltab.([a-z]+)", name)[1], value)
                if bench != "bmx": ppds[0].wcmd = 1
                if bench == "ppd":
                    signals |= {"tstppd.trsltab.wcmd": 1, "tstppd.trsltab.wadr": ppds[0].wadr, "tstppd.trsltab.datain":
                                "".join("%x" % o for o in ppds[0].datain.to_bytes(7, "big"))}
        if bench == "spdppd": suspend[0] = ppds[0].suspend
        if bench != "ppd":
            for s, spd in enumerate(spds): spd.step(suspend[s])
        if bench == "spdppd": byte[0], byteind[0] = spds[0].byte, spds[0].byteind
        if bench != "spd":
            for p, ppd in enumerate(ppds): ppd.step(byte[p], byteind[p])
        if bench == "ppd":
            signals |= {"byte": byte[0], "byteind": byteind[0]}
            signals |= ppds[0].registers(REGISTERS) | ppds[0].queues("tstppd.xpmdst")
        if bench == "spd": signals |= spds[0].registers() | {"suspend": suspend[0]}
        if bench == "spdppd":
            signals |= spds[0].registers() | ppds[0].registers(REGISTERS) | ppds[0].queues("tstppd.xpm_dst")
        if bench == "bmx":
            for i in range(4):
                signals |= {f"byte[{i}]": byte[i], f"byteind[{i}]": byteind[i], f"suspend[{i}]": suspend[i],
                            f"tstppd[{i}].suspend": ppds[i].suspend}
                signals |= {f"tstspd[{i}].{n}": getattr(spds[i], n) for n in "buf byte bufind byteind".split()}
        out.append(signals)
    return out


# ---- random stimuli ----------------------------------------------------------------------------

def hexes(r, count): return bytes(r.randrange(256) for _ in range(count)).hex()


def cell(r, paths):
    """53 bytes with one of these paths, sometimes one that no table has."""
    path = r.choice(paths) if r.random() < 0.9 else r.randrange(4096)
    return "%04x" % (path << 4 | r.randrange(16)) + hexes(r, 51)


def entry(r):
    """Four new paths and the outputs: one, some, none or all."""
    flags = r.choice([1, 2, 4, 8, 15, 15, r.randrange(16)])
    return "%014x" % (r.getrandbits(48) << 4 | flags)


def table(r, paths, suffix="", wcmd=False):
    cycles = range(1, len(paths) + 1)
    out = {"tstppd.trsltab.wadr" + suffix: [(c, "%x" % p) for c, p in zip(cycles, paths)],
           "tstppd.trsltab.datain" + suffix: [(c, entry(r)) for c in cycles]}
    if wcmd: out["tstppd.trsltab.wcmd" + suffix] = [(c, "1") for c in cycles] + [(len(paths) + 1, "0")]
    return out


def arrivals(r, paths, length, torn):
    """byte and byteind: cells with idle gaps; `torn`: gaps inside cells and stumps, too."""
    byte, ind, cycle = [], [(1, "0")], r.randrange(2, 30)
    while cycle < length:
        text = cell(r, paths)
        if torn and r.random() < 0.2: text = text[:2 * r.randrange(1, 54)]
        while text:
            part = text if not torn or r.random() < 0.7 else text[:2 * r.randrange(1, 54)]
            byte.append((cycle, part))
            if ind[-1][1] == "0": ind.append((cycle, "1"))
            cycle, text = cycle + len(part) // 2, text[len(part):]
            if text and torn:
                ind.append((cycle, "0"))
                cycle += r.randrange(1, 5)
        gap = r.choice([0, 0, 1, 2, 3, r.randrange(1, 200)])
        if gap: ind.append((cycle, "0"))
        cycle += gap
    return byte, ind + ([(cycle, "0")] if ind[-1][0] < cycle else [])


def fifo(r, paths, length, torn):
    out, cycle = [], r.randrange(1, 60)
    while cycle < length:
        text = cell(r, paths)
        if torn and r.random() < 0.1: text = text[:2 * r.randrange(1, 54)]
        out.append((cycle, text))
        cycle += len(text) // 2 + r.choice([0, 0, 0, r.randrange(1, 300)])
    return out


def pulses(r, length):
    out, cycle = [], 1
    while (cycle := cycle + r.choice([6, 6, r.randrange(2, 80), 300])) < length:
        out.append((cycle, "1"))
        cycle += r.choice([1, 1, 1, r.randrange(1, 60)])
        out.append((cycle, "0"))
    return out


def levels(r, length, crowded):
    """Queue levels that are set from outside: full ones, and ones that have room again."""
    out = {}
    for u in range(4):
        if r.random() < 0.3: continue
        cycles = sorted(r.sample(range(1, length), 6))
        sizes = [r.choice([424, 424, 419, 418, 371, 0] if crowded else [371, 318, 0]) for _ in cycles]
        out[f"tstppd.xpm_dst[{u}].size"] = [(c, str(s)) for c, s in zip(cycles, sizes)]
        if r.random() < 0.5: out[f"tstppd.xpm_dst[{u}].tail"] = [(c, str(r.randrange(SIZE))) for c in cycles[::2]]
        if r.random() < 0.5: out[f"tstppd.xpm_dst[{u}].head"] = [(c, str(r.randrange(SIZE))) for c in cycles[1::2]]
    return out


def random_stimuli(r, bench):
    length, torn = r.randrange(200, 1500), r.random() < 0.5
    paths = r.sample(range(256), r.randrange(1, 12))
    if bench == "ppd":
        byte, ind = arrivals(r, paths, length, torn)
        return {"byte": byte, "byteind": ind} | table(r, paths) | levels(r, length, True)
    if bench == "bmx":
        out = {}
        for i in range(4):
            byte, ind = arrivals(r, paths, length, torn)
            out |= {f"byte{i}": byte, f"byteind{i}": ind, f"suspend{i}": pulses(r, length) if r.random() < 0.5 else []}
            out |= table(r, paths, str(i), True)
        return out
    out = {f"fifo{i}": fifo(r, paths, length, torn) for i in range(4) if r.random() < 0.8}
    if bench == "spd": return out | {"suspend": pulses(r, length)}
    return out | table(r, paths) | levels(r, length, r.random() < 0.7)


def write_stimuli(stimuli, path):
    with open(path, "w") as f:
        print("# random\ninputs", file=f)
        for name, values in stimuli.items():
            print("  " + name, *(f"\t{cycle} {text}" for cycle, text in values), sep="\n", file=f)
        print("ouputs\n  *all", file=f)


# ---- readers -----------------------------------------------------------------------------------

def read_json(text):
    lines = [json.loads(line) for line in text.splitlines()]
    assert [line["cycle"] for line in lines] == list(range(1, len(lines) + 1)), "cycles in order"
    return [line["signals"] for line in lines]


HEX = re.compile(r"(^|\.)(byte|buf|[abcdfgijlmopq]|wadr)(\[\d\])?$|\.mem\[\d+\]$")


def names_of(label):
    """tstppd.(a, b) -> [tstppd.a, tstppd.b]; x[0, 1]->(head, tail) -> [x[0].head, x[0].tail, x[1].head, ..]"""
    label = label.replace("->", ".")
    many = re.match(r"([\w.]+)\[(\d(?:, ?\d)+)\](.*)$", label)
    if many: return sum((names_of(f"{many[1]}[{i.strip()}]{many[3]}") for i in many[2].split(",")), [])
    group = re.match(r"(.*)\((.*)\)$", label)
    return [group[1] + name.strip() for name in group[2].split(",")] if group else [label]


def read_thesis(text, bench):
    out = []
    for line in text.splitlines():
        if not line: continue
        head = re.fullmatch(r"::::::::: clock cycle number (\d+) :::::::::", line)
        if head:
            out.append({})
            assert int(head[1]) == len(out), "cycles in order"
            continue
        label, values = line.split(" = ")
        values = values.strip("()").split(", ")
        names = names_of(label)
        assert len(names) == len(values), line
        for name, value in zip(names, values):
            if bench == "spdppd": name = name.replace("xpmdst", "xpm_dst")
            out[-1][name] = value if "datain" in name else int(value, 16 if HEX.search(name) else 10)
    return out


def read_vcd(text, bench):
    """[{signal: value}] by cycle; strict about the grammar."""
    head, body = text.split("$enddefinitions $end\n")
    scope, names, out, state, now = [], {}, {}, {}, None
    for line in head.splitlines():
        words = line.split()
        assert words[-1] == "$end", line
        if words[0] == "$scope": scope.append(words[2])
        elif words[0] == "$upscope": scope.pop()
        elif words[0] == "$var":
            width = int(words[2])
            assert words[5:-1] == ([] if width == 1 else [f"[{width - 1}:0]"]), line
            assert words[3] not in names
            names[words[3]] = (".".join(scope + [words[4]]), width)
    assert not scope
    dump, body = body.split("$end\n", 1)
    assert dump.startswith("$dumpvars\n") and len(dump.splitlines()) == len(names) + 1
    for line in body.splitlines():
        if line[0] == "#":
            assert now is None or int(line[1:]) > now
            for cycle in range(now or 1, int(line[1:])): out[cycle] = dict(state)
            now = int(line[1:])
            continue
        value, code = line[1:].split() if line[0] == "b" else (line[0], line[1:])
        name, width = names[code]
        assert len(value) <= width and (line[0] == "b") == (width > 1), line
        number = int(value, 2)
        assert state.get(name) != number, "only changes"
        state[name] = number - (1 << 32) if width == 32 and number >> 31 else number
    return [{name.removeprefix(bench + "."): v for name, v in out[c].items()} for c in sorted(out)]


# ---- commands ----------------------------------------------------------------------------------

def differences(want, got, exact=False):
    if exact and len(want) != len(got): return [f"{len(got)} cycles, want {len(want)}"]
    bad = []
    for cycle, signals in enumerate(want, 1):
        shown = got[cycle - 1] if cycle <= len(got) else {}
        names = signals.keys() | shown.keys() if exact else signals.keys()
        bad += [f"cycle {cycle}: {n} is {shown.get(n)}, want {signals.get(n)}" for n in sorted(names)
                if shown.get(n) != signals.get(n)]
    return bad


def golden(reference, trace):
    wanted = [json.loads(line) for line in open(reference)]
    got, bad, values = read_json(open(trace).read()), [], 0
    for line in wanted:
        shown = got[line["cycle"] - 1] if line["cycle"] <= len(got) else {}
        for name, value in line["signals"].items():
            values += 1
            if shown.get(name) != value: bad.append(f"cycle {line['cycle']}: {name} is {shown.get(name)}, want {value}")
    print(f"{values} values, {len(bad)} differ")
    return bad if values else ["no values"]


def leat_unit(leat, *words):
    return subprocess.run([leat, "unit", *words], check=True, capture_output=True, text=True).stdout


def campaign(leat, seed, rounds):
    suspensions = multicasts = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "stimuli")
        for i in range(rounds):
            for bench in "ppd spd spdppd bmx".split():
                stimuli = random_stimuli(random.Random(f"{seed} {i} {bench}"), bench)
                write_stimuli(stimuli, path)
                want = simulate(bench, stimuli)
                bad = differences(want, read_json(leat_unit(leat, bench, path)), exact=True)
                if bad: return [f"seed {seed}, round {i}, bench {bench}"] + bad
                suspensions += sum(v for s in want for n, v in s.items() if n.endswith("suspend"))
                multicasts += sum(s.get("tstppd.e", 0) & s.get("tstppd.h", 0) for s in want)
    print(f"{suspensions} suspended cycles, {multicasts} cycles of multicast")
    return [] if suspensions and multicasts else ["nothing was suspended or sent to many"]


def formats(leat, bench, path):
    with tempfile.TemporaryDirectory() as folder:
        wave = os.path.join(folder, "wave.vcd")
        want = read_json(leat_unit(leat, bench, path, "--vcd", wave))
        thesis = read_thesis(leat_unit(leat, bench, path, "--format", "thesis"), bench)
        waves = read_vcd(open(wave).read(), bench)
    bad = [f"thesis: {b}" for b in differences(thesis, want)]
    for signals in want:  # an empty queue's byte is not printed
        for name in [n for n in signals if ".mem[" in n]:
            if signals[name.split(".mem[")[0] + ".size"] == 0: del signals[name]
    bad += [f"thesis: {b}" for b in differences(want, thesis, exact=True)]
    for signals, shown in zip(want, waves):  # the waveform has the last byte by another name, and datain as a number
        for name in [n for n in signals if ".mem[" in n]: signals[name.split(".mem[")[0] + ".last"] = signals.pop(name)
        shown["tstppd.trsltab.datain"] = "".join("%x" % o for o in shown.get("tstppd.trsltab.datain", 0).to_bytes(7, "big"))
    bad += [f"vcd: {b}" for b in differences(want, waves)]
    return bad if len(waves) == len(want) else bad + [f"vcd: {len(waves)} cycles, want {len(want)}"]


def main():
    command, arguments = sys.argv[1], sys.argv[2:]
    if command == "golden": bad = golden(*arguments)
    elif command == "random": bad = campaign(arguments[0], int(arguments[1]), int(arguments[2]))
    else: bad = formats(*arguments)
    print(*bad[:10], sep="\n")
    sys.exit(bool(bad))


if __name__ == "__main__": main()
