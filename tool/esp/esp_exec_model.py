#!/usr/bin/env python3
"""leat esp exec against a plain reading of spec/esp.md: instructions that members of a tree send to the root one
after the other, as they must arrive. The model keeps each router's values in a dictionary.

esp_exec_model.py LEAT SEED CASES FOLDER
"""
import json
import random
import subprocess
import sys

WORD = 2 ** 64
TAU_MS, DELAY_MS = 40, 1
OPERANDS = {"COUNT": ("compValTag", "thresh"), "COMPARE": ("compValTag", "pktVal", "op"),
            "COLLECT": ("compValTag", "val", "chldCntTag", "op")}
COMPARES = {"LT": lambda a, b: a < b, "GE": lambda a, b: a >= b, "NE": lambda a, b: a != b}
FOLDS = {"ADD": lambda a, b: (a + b) % WORD, "MAX": max, "XOR": lambda a, b: a ^ b}


class Router:
    """Values by (computation, tag), each with the time of its end, which is set once."""

    def __init__(self):
        self.bound = {}

    def get(self, now, computation, tag):
        value, end = self.bound.get((computation, tag), (None, 0))
        return value if now < end else None

    def put(self, now, computation, tag, value):
        end = self.bound[computation, tag][1] if self.get(now, computation, tag) is not None else now + TAU_MS
        self.bound[computation, tag] = (value % WORD, end)

    def execute(self, now, p):
        """True: the packet goes on."""
        c = p["computationId"]
        old = self.get(now, c, p["compValTag"])
        if p["opcode"] == "COUNT":
            self.put(now, c, p["compValTag"], (old or 0) + 1)
            return (old or 0) + 1 <= p["thresh"]
        if p["opcode"] == "COMPARE":
            if old is not None and not COMPARES[p["op"]](old, p["pktVal"]):
                return False
            self.put(now, c, p["compValTag"], p["pktVal"])
            return True
        left = self.get(now, c, p["chldCntTag"])
        if not left:  # not bound, or 0: an abort
            p["flags"] = "E|X"
            return True
        total = p["val"] if old is None else FOLDS[p["op"]](old, p["val"])
        self.put(now, c, p["compValTag"], total)
        self.put(now, c, p["chldCntTag"], left - 1)
        if left - 1:
            return False
        p["val"] = total
        return True


def draw_packet(r):
    p = {"opcode": r.choice(sorted(OPERANDS)), "computationId": r.randint(1, 3), "flags": "X"}
    tags = r.sample(range(1, 5), 2)
    for name in OPERANDS[p["opcode"]]:
        if name.endswith("Tag"):
            p[name] = tags.pop()
        elif name == "op":
            p[name] = r.choice(sorted(COMPARES if p["opcode"] == "COMPARE" else FOLDS))
        else:
            p[name] = r.randint(0, 4) if name == "thresh" else r.choice([r.randint(0, 9), r.getrandbits(64)])
    return p


def words(p):
    return " ".join(f"{name}={value}" for name, value in p.items())


def travel(routers, fanout, router, now, p):
    """Up the tree; None: a router has stopped it. Otherwise the time of its arrival at the root."""
    while True:
        now += DELAY_MS
        if "E" not in p["flags"] and not routers[router].execute(now, p):
            return None
        if not router:
            return now + DELAY_MS
        router = (router - 1) // fanout


def play(r, index):
    levels, fanout = r.choice([(1, 1), (2, 3), (3, 2), (4, 1)])
    count = sum(fanout ** level for level in range(levels))
    first = count - fanout ** (levels - 1)
    members = r.randint(1, 6)
    routers = [Router() for _ in range(count)]
    script, arrivals, now = [], [], 0
    for _ in range(40):
        member, p = r.randrange(members), draw_packet(r)
        script.append(f"send member.{member} {words(p)}")
        came = travel(routers, fanout, first + member % (count - first), now, p)
        wait = levels + r.choice([2, 2, 5, 17])
        if came is None:
            script.append(f"silence root within {wait}ms")
        else:
            script.append(f"expect root {words(p)} within {wait}ms\nwait {wait - (came - now)}ms")
            arrivals.append((came * 10 ** 6, f"member.{member}", p))
        now += wait
    with open(f"{FOLDER}/script.esp", "w", encoding="ascii") as file:
        file.write("\n".join(script) + "\n")
    case = [LEAT, "esp", "exec", f"{FOLDER}/script.esp", "--tree", f"{levels},{fanout}", "--members", str(members),
            "--tau", f"{TAU_MS}ms", "--json"]
    done = subprocess.run(case, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{case}: {done.returncode}: {done.stderr}; replay: LEAT_SEED={SEED}, case {index}")
    got = json.loads(done.stdout)
    seen = [(a["at_ns"], a["from_host"], {k: v for k, v in a["fields"].items() if k not in ("loc", "length", "crc")})
            for a in got["arrivals"]]
    # Of a passed COUNT or COMPARE nothing changes; a COLLECT comes from the member that completed it.
    for want, have in zip(arrivals, seen):
        if want != have:
            raise SystemExit(f"case {index}: got {have}, want {want}; replay: LEAT_SEED={SEED}")
    if len(arrivals) != len(seen):
        raise SystemExit(f"case {index}: {len(seen)} arrivals, want {len(arrivals)}; replay: LEAT_SEED={SEED}")


if __name__ == "__main__":
    LEAT, SEED, CASES, FOLDER = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    stream = random.Random(SEED)
    for number in range(CASES):
        play(stream, number)
