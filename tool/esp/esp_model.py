#!/usr/bin/env python3
"""leat esp sim against a plain reading of spec/esp.md: paths by Bellman and Ford, trees of sets.

esp_model.py LEAT SEED CASES FOLDER
"""
import json
import random
import subprocess
import sys

KEYS = {"service", "members", "routers", "true_answer", "esp_answer", "right", "status", "schema", "counted",
        "rounds", "shards", "attempts", "voids", "errors", "branches_missing", "unplaced", "seconds",
        "packets", "packets_per_link_max", "announce_packets", "announce_per_link_max",
        "unicast_packets", "unicast_per_link_max", "executed", "aborted", "store_full", "lost",
        "duplicated", "reordered", "certificate"}


def leat(words):
    done = subprocess.run([LEAT, "esp", "sim"] + [str(w) for w in words] + ["--json"],
                          capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"leat esp sim {' '.join(map(str, words))}: {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


class Network:
    """Routers, wires as (from, to, delay) in the order of the command, places of members."""

    def __init__(self, routers, wires, places, root):
        self.routers, self.wires, self.places, self.root = routers, wires, places, root

    def parents(self):
        """Of each router, the next one towards the root: shortest, then by the lowest wire."""
        far = [None] * self.routers
        far[self.root] = 0
        for _ in range(self.routers):
            for a, b, delay in self.wires:
                if far[b] is not None and (far[a] is None or far[b] + delay < far[a]):
                    far[a] = far[b] + delay
        parent = [None] * self.routers
        for a, b, delay in self.wires:
            if a != self.root and parent[a] is None and far[b] + delay == far[a]:
                parent[a] = b
        return parent

    def cost(self, members):
        """Links of the tree, values over all links by unicast, branch points."""
        parent = self.parents()
        children, unicast = {}, 0
        for m in range(members):
            child, at = ("member", m), self.places[m % len(self.places)]
            while at is not None:
                children.setdefault(at, set()).add(child)
                child, at = ("router", at), parent[at]
                unicast += 1
            children.setdefault("root", set()).add(child)
            unicast += 1
        links = sum(len(c) for c in children.values())
        return links, unicast, sum(len(c) >= 2 for c in children.values())


def draw_tree(r):
    levels, fanout = r.choice([(1, 1), (2, 3), (3, 4), (4, 2), (5, 1), (3, r.randint(1, 6))])
    routers = sum(fanout ** i for i in range(levels))
    wires = []
    for i in range(1, routers):
        wires += [(i, (i - 1) // fanout, 1), ((i - 1) // fanout, i, 1)]
    first = routers - fanout ** (levels - 1)
    return ["--tree", f"{levels},{fanout}"], Network(routers, wires, range(first, routers), 0)


def draw_graph(r):
    """Every router is joined to an earlier one; the ports of a router are in the order of edges."""
    routers = r.randint(2, 30)
    edges = [(i, r.randrange(i), r.randint(1, 5)) for i in range(1, routers)]
    edges += [(a, b, r.randint(1, 5)) for a, b in (r.sample(range(routers), 2) for _ in range(routers // 2))]
    with open(f"{FOLDER}/graph", "w", encoding="ascii") as file:
        file.write("".join(f"{a} {b} {cycles}\n" for a, b, cycles in edges))
    ports = [[] for _ in range(routers)]
    for a, b, cycles in edges:
        ports[a].append((a, b, cycles))
        ports[b].append((b, a, cycles))
    wires = [w for of_router in ports for w in of_router]
    root = r.randrange(routers)
    return (["--graph", f"{FOLDER}/graph", "--at-router", root],
            Network(routers, wires, range(routers), root))


def draw_mesh(r):
    x, y = r.randint(2, 5), r.randint(2, 5)
    wires = []
    for i in range(x * y):
        px, py = i % x, i // x
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            if 0 <= px + dx < x and 0 <= py + dy < y:
                wires.append((i, i + dx + x * dy, 1))
    root = r.randrange(x * y)
    return (["--fabric", f"mesh:{x},{y}", "--at-router", root],
            Network(x * y, wires, range(x * y), root))


def expect(what, got, want):
    if got != want:
        raise SystemExit(f"{what}: got {got}, want {want}; replay: LEAT_SEED={SEED}")


def check_sound(r, words, network):
    """Nothing goes wrong: answers, and packets by counting links."""
    members = r.choice([1, 2, r.randint(1, 60)])
    bits = r.choice([8, 32, 64])
    values = [r.getrandbits(bits) for _ in range(members)]
    with open(f"{FOLDER}/values", "w", encoding="ascii") as file:
        file.write("".join(f"{v}\n" for v in values))
    links, unicast, branches = network.cost(members)
    truth = {"census": members, "max": max(values), "min": min(values), "sum": sum(values) % 2 ** 64,
             "average": None, "tree": branches, "robust-census": members,
             "robust-sum": sum(values) % 2 ** 64}
    service = r.choice(sorted(truth))
    case = words + ["--members", members, "--values", f"{FOLDER}/values", "--service", service,
                    "--seed", r.randrange(1000), "--bits", bits]
    got = leat(case)
    expect(f"{case}: keys", set(got), KEYS)
    expect(f"{case}: right", (got["right"], got["status"]), (True, "done"))
    expect(f"{case}: unicast", (got["unicast_packets"], got["unicast_per_link_max"]), (unicast, members))
    if service == "average":
        whole = sum(values)
        expect(f"{case}: average", got["esp_answer"], float(f"{whole // members}.{whole % members * 10 ** 6 // members:06d}"))
    else:
        expect(f"{case}: answer", (got["esp_answer"], got["true_answer"]), (truth[service],) * 2)
    if service == "census":  # COUNT and COLLECT over every link of the tree
        expect(f"{case}: packets", (got["packets"], got["packets_per_link_max"]), (2 * links, 2))
    if service == "tree":  # RCHLD over every link
        expect(f"{case}: packets", (got["packets"], got["unplaced"]), (links, 0))
    if service == "robust-census":  # every node sends on eight packets of each phase
        expect(f"{case}: packets", (got["packets"], got["packets_per_link_max"]), (16 * links, 16))
    return case, got


def main():
    r = random.Random(SEED)
    for i in range(CASES):
        words, network = r.choice([draw_tree, draw_graph, draw_mesh])(r)
        case, got = check_sound(r, words, network)
        if i % 5 == 0:
            expect(f"{case}: again", leat(case), got)
        # The same network with faults: a robust answer is right or there is none.
        faults = ["--loss", 0.1, "--duplicate", 0.1, "--reorder", 0.1, "--attempts", 20, "--rounds", 8]
        got = leat(words + ["--members", 20, "--service", "robust-sum", "--seed", i] + faults)
        expect(f"{words} {faults}: right", got["right"], True)


if __name__ == "__main__":
    LEAT, SEED, CASES, FOLDER = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    main()
