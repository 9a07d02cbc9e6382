#!/usr/bin/env python3
"""leat ring against a plain reading of spec/aton.md: lists of numbers, one station after the other.

ring_model.py LEAT SEED CASES FOLDER
"""
import json
import random
import subprocess
import sys

HEAD = ["schema", "command", "stations", "width", "register", "counter"]
COST = ["packets", "bit_times", "bit_times_expected", "host_based_bit_times", "certificate", "status"]
KEYS = HEAD + ["variable1", "variable2"] + COST


def leat(words):
    done = subprocess.run([LEAT, "ring"] + [str(w) for w in words], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"leat ring {' '.join(map(str, words))}: {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


class Ring:
    """A ring drawn at random."""

    def __init__(self, r):
        self.n = r.choice([1, 2, 3, 4, 8, r.randint(1, 64)])
        self.width = r.choice([16, 32, 64])
        self.each = r.choice([0, 0, 1, r.randint(0, 30)])
        self.delay = r.choice([1, 1, 1, 2, r.randint(1, 70), self.width + 1])
        self.start = r.randint(1, self.n)
        top = 2 ** self.width - 1
        kind = r.choice(["any", "few", "large"])
        draw = {"any": lambda: r.randint(0, top), "few": lambda: r.randint(0, 2),
                "large": lambda: top - r.randint(0, 2)}[kind]
        self.x = [draw() for _ in range(self.n)]
        self.off = sorted(r.sample(range(1, self.n + 1), r.choice([0, 0, r.randint(0, self.n)])))
        self.register = r.randint(0, 63)
        # x_1 is the sender's, then in ring order
        order = [(self.start - 1 + k) % self.n for k in range(self.n)]
        self.order, self.group, self.sender = order, None, None
        self.parts = [(i + 1, self.x[i]) for i in order if i + 1 not in self.off]

    def draw_group(self, r):
        """Only some stations take part, the sender among them or not."""
        self.group = sorted(r.sample(range(1, self.n + 1), r.randint(1, self.n)))
        self.sender = r.choice([None, "in", "out"])
        inside = self.start in self.group if self.sender is None else self.sender == "in"
        self.off = []
        self.parts = [(i + 1, self.x[i]) for i in self.order
                      if (inside if i + 1 == self.start else i + 1 in self.group)]

    def words(self, name, model):
        with open(f"{FOLDER}/operands", "w", encoding="ascii") as file:
            file.write("".join(f"{v}\n" for v in self.x))
        words = [name, "--stations", self.n, "--width", self.width, "--from", self.start,
                 "--propagation", self.each, "--hold", self.delay, "--register", self.register, "--operands",
                 f"{FOLDER}/operands", "--model", model, "--json"]
        if self.group:
            words += ["--only", ",".join(map(str, self.group))]
        if self.sender:
            words += ["--sender", self.sender]
        return words + (["--disabled", ",".join(map(str, self.off))] if self.off else [])

    def time(self, symbols):
        round_bits = self.n * (self.delay + self.each)
        return symbols + max(24, round_bits)

    def host_based(self):
        if self.group:
            places = [k for k, i in enumerate(self.order) if k and i + 1 in self.group]
            return (len(places) * self.time(128 + 2 * self.width)
                    + (places[-1] if places else 0) * (self.delay + self.each))
        return (self.n - 1) * (self.time(128 + 2 * self.width) + self.delay + self.each)


def fold(ring, command, value):
    """Variable-1 and Variable-2."""
    mask = 2 ** ring.width - 1
    x = [v for _, v in ring.parts]
    if command == "add":
        return sum(x) & mask, sum(x) >> ring.width
    if command in ("and", "or"):
        result = mask if command == "and" else 0
        for v in x:
            result = result & v if command == "and" else result | v
        return result, 0
    if command in ("max", "min"):
        if not x:
            return (0, 65535) if command == "max" else (mask, 65535)
        best = max(x) if command == "max" else min(x)
        return best, [who for who, v in ring.parts if v == best][-1]
    v = ring.x[ring.start - 1] if value is None else value
    relation = {"eq": lambda a: v == a, "lt": lambda a: v < a, "le": lambda a: v <= a}[command]
    return v, sum(relation(a) for a in x)


def same(what, got, want):
    if got != want:
        raise SystemExit(f"{what}: got {got}, want {want}")


def try_command(r):
    ring = Ring(r)
    if r.random() < 0.4:
        ring.draw_group(r)
    command = r.choice(["add", "and", "or", "max", "min", "eq", "lt", "le"])
    value = r.randint(0, 3) if command in ("eq", "lt", "le") and r.random() < 0.5 else None
    certificates = []
    for model in ("bit", "word"):
        words = ring.words("sim", model) + ["--command", command]
        words += ["--value", value] if value is not None else []
        got = leat(words)
        what = f"leat ring {' '.join(map(str, words))} with {ring.x}"
        same(what, list(got), KEYS)
        v1, v2 = fold(ring, command, value)
        bits = ring.time(128 + 2 * ring.width)
        want = [command, ring.n, ring.width, ring.register, len(ring.parts), v1, v2, 1, bits, bits,
                ring.host_based()]
        same(what, list(got.values())[1:-2], want)
        certificates.append(got["certificate"])
    same("certificates of the models", certificates[0], certificates[1])


def tree_of(ring, ops):
    """Slots as a binary counter; what is left, lowest first as the right operand."""
    mask = 2 ** ring.width - 1
    op = {"add": lambda a, b: (a + b) & mask, "and": lambda a, b: a & b, "or": lambda a, b: a | b,
          "max": max, "min": min}
    slots = {}
    for _, carry in ring.parts:
        h = 0
        while h in slots:
            carry = op[ops[min(h, len(ops) - 1)]](slots.pop(h), carry)
            h += 1
        slots[h] = carry
    result = None
    for h in sorted(slots):
        result = slots[h] if result is None else op[ops[min(h, len(ops) - 1)]](slots[h], result)
    return result


OPERATIONS = {"and": lambda a, b: a & b, "or": lambda a, b: a | b, "max": max, "min": min,
              "eq": lambda a, b: int(a == b), "lt": lambda a, b: int(a < b),
              "le": lambda a, b: int(a <= b)}


def draw_expression(r, ring, stations, levels):
    """An expression over all these stations, and its value."""
    if len(stations) == 1:
        return str(stations[0]), ring.x[stations[0] - 1]
    name = r.choice(["add", "and", "or", "max", "min", "eq", "lt", "le"])
    parts = 2 if name in ("eq", "lt", "le") else r.randint(2, min(4, len(stations)))
    if levels == 1:  # the rest in one command of many operands
        name, parts = r.choice(["add", "and", "or", "max", "min"]), len(stations)
    cuts = [0] + sorted(r.sample(range(1, len(stations)), parts - 1)) + [len(stations)]
    items = [draw_expression(r, ring, stations[a:b], levels - 1) for a, b in zip(cuts, cuts[1:])]
    value = items[0][1]
    for _, other in items[1:]:
        value = (value + other) % 2 ** ring.width if name == "add" else OPERATIONS[name](value, other)
    return f"{name}({r.choice([',', ', ']).join(text for text, _ in items)})", value


def try_expression(r):
    ring = Ring(r)
    ring.off = []
    stations = r.sample(range(1, ring.n + 1), r.randint(1, ring.n))
    if r.random() < 0.5:
        stations.sort()
    text, value = draw_expression(r, ring, stations, r.randint(1, 4))
    certificates = []
    for model in ("bit", "word"):
        words = ring.words("tree", model) + ["--expression", text]
        got = leat(words)
        what = f"leat ring {' '.join(map(str, words))} with {ring.x}"
        same(what, [got["value"], got["counter"], got["bit_times"]],
             [value, len(stations), got["bit_times_expected"]])
        slots, rest = divmod(got["bit_times"] - ring.time(144), 1 + ring.width)
        least = 1 if ring.delay > ring.width else (len(stations) - 1).bit_length() + 1
        if rest or not least <= slots <= 17:
            raise SystemExit(f"{what}: {slots} slots and {rest} bits")
        certificates.append(got["certificate"])
    same("certificates of the models", certificates[0], certificates[1])


def algorithm(r, ring, name):
    """Keys and values that it adds, and the symbols of its packets; more words."""
    x = [v for _, v in ring.parts]
    w, n = ring.width, ring.n
    if name == "sort":
        return {"values": sorted(x)}, [144 + w * len(x)], []
    if name == "majority":
        candidate = sum(2 ** j for j in range(w) if 2 * sum(v >> j & 1 for v in x) > len(x))
        votes = x.count(candidate)
        return {"majority": candidate if 2 * votes > len(x) else None, "votes": votes}, \
            [144 + w * n.bit_length(), 128 + 2 * w], []
    if name == "tree":
        ops = [r.choice(["add", "and", "or", "max", "min"]) for _ in range(r.randint(1, 4))]
        slots = (n - 1).bit_length() + 1
        return {"value": tree_of(ring, ops)}, [144 + slots * (1 + w)], ["--tree", ",".join(ops)]
    if name == "average":
        return {"average": sum(x) // len(x) if x else None,
                "remainder": sum(x) % len(x) if x else None}, [128 + 2 * w], []
    best, who = fold(ring, "min" if name == "gvt" else "max", None)
    value = {"gvt": "gvt", "elect": "identity", "work": "priority"}[name]
    told = {value: best if x else None, "station": who if x else None}
    if name != "work":
        return told, [128 + 2 * w], []
    asks = bool(x) and who != ring.start
    told["requested"] = 1 if asks else None
    return told, [128 + 2 * w] + ([128 + 16] if asks else []), []


def try_algorithm(r):
    ring = Ring(r)
    if r.random() < 0.4:
        ring.draw_group(r)
    name = r.choice(["sort", "majority", "tree", "average", "gvt", "elect", "work"])
    told, symbols, more = algorithm(r, ring, name)
    bits = sum(ring.time(s) for s in symbols)
    host_based = ring.host_based() + (ring.time(144) if name == "work" and len(symbols) > 1 else 0)
    certificates = []
    for model in ("bit", "word"):
        words = ring.words(name, model) + more
        got = leat(words)
        what = f"leat ring {' '.join(map(str, words))} with {ring.x}"
        same(what, list(got), HEAD + list(told) + COST)
        same(what, {k: got[k] for k in told}, told)
        same(what, [got["counter"]] + [got[k] for k in COST[:-2]],
             [len(ring.parts), len(symbols), bits, bits, host_based])
        certificates.append(got["certificate"])
    same("certificates of the models", certificates[0], certificates[1])


def try_barrier(r):
    ring = Ring(r)
    ring.off = []
    ring.x = [r.randint(0, 5000) for _ in range(ring.n)]
    got = [leat(ring.words("barrier", model)) for model in ("bit", "word")]
    same("barrier, models", got[0], got[1])
    same("barrier", got[0]["arrived_at"], max(ring.x))
    bits = ring.time(128 + 2 * ring.width)
    late = got[0]["passed_at"] - max(ring.x)
    if not 0 <= late <= 2 * bits + 2 * max(24, ring.n * (ring.delay + ring.each)):
        raise SystemExit(f"barrier: passed {late} bit times after the last arrival")


def main():
    r = random.Random(int(sys.argv[2]))
    for case in range(int(sys.argv[3])):
        try_command(r)
        try_algorithm(r)
        try_expression(r)
        if case % 4 == 0:
            try_barrier(r)


LEAT, FOLDER = sys.argv[1], sys.argv[4]
main()
