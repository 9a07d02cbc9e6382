"""Expected results of the applications of share/poets/make.py, by plain models without packets."""
import importlib.util
import math
import os
import random
import subprocess
import sys
import tempfile

leat, make_py, seed, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
spec = importlib.util.spec_from_file_location("make", make_py)
make = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make)
wrong = 0


def run(xml, words):
    with tempfile.TemporaryDirectory() as folder:
        name = "graph.xml"  # always the same, so that handlers are compiled once
        with open(os.path.join(folder, name), "w") as file:
            file.write(xml)
        done = subprocess.run([leat, "graph", "run", name, *words], cwd=folder, capture_output=True, text=True, timeout=3600)
    return done.returncode, [line.split("): ", 1)[1].split() for line in done.stdout.splitlines() if "): " in line], done.stderr


def check(what, words, got, want):
    global wrong
    if got != want:
        wrong += 1
        print("%s %s: got %r, want %r" % (what, " ".join(words), got, want))


def heat(w, h, steps):
    """Jacobi steps on whole numbers, with the same shift."""
    v = {(x, y): make.start_of(x, y) for x in range(w) for y in range(h)}
    for _ in range(steps):
        v = {(x, y): v[x, y] if x in (0, w - 1) or y in (0, h - 1) else
             v[x, y] + ((v[x - 1, y] + v[x + 1, y] + v[x, y - 1] + v[x, y + 1] - 4 * v[x, y]) >> 3) for x, y in v}
    return v


def floyd_warshall(nodes, ways):
    d = [[0 if i == k else 10**9 for k in range(nodes)] for i in range(nodes)]
    for a, b, length in ways:
        d[a][b] = length
    for k in range(nodes):
        for i in range(nodes):
            for j in range(nodes):
                d[i][j] = min(d[i][j], d[i][k] + d[k][j])
    return d


def ising(w, h, steps, temperature, seed):
    """A chessboard whose fields take turns; all of a colour at once, since none of them are neighbours."""
    chance = make.chances(temperature)
    spin = make.spins(w, h, seed)
    for t in range(steps):
        old = list(spin)
        for i in range(w * h):
            x, y = i % w, i // w
            if (x + y) % 2 != t % 2:
                continue
            along = old[i] * (old[(x + 1) % w + y * w] + old[(x - 1) % w + y * w] + old[x + (y + 1) % h * w] + old[x + (y - 1) % h * w])
            if along <= 0 or draw(seed, i, t) < chance[along // 2 - 1]:
                spin[i] = -old[i]
    return spin


def draw(seed, cell, t):
    """The upper half of what splitmix64 makes of seed, step and cell."""
    z = ((seed << 48) + (t << 24) + cell + 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
    return (z ^ z >> 31) >> 32


def onsager(temperature):
    """Energy of a spin of an endless magnet (L. Onsager, Physical Review 65, 1944)."""
    beta = 1 / temperature
    k = 2 * math.sinh(2 * beta) / math.cosh(2 * beta) ** 2
    a, b = 1.0, math.sqrt(1 - k * k)  # the complete elliptic integral, by the arithmetic-geometric mean
    for _ in range(40):
        a, b = (a + b) / 2, math.sqrt(a * b)
    return -(1 + 2 / math.pi * (2 * math.tanh(2 * beta) ** 2 - 1) * math.pi / 2 / a) / math.tanh(2 * beta)


def energy(w, h, spin):
    return -sum(spin[i] * (spin[(i % w + 1) % w + i // w * w] + spin[(i + w) % (w * h)]) for i in range(w * h)) / (w * h)


def power_iteration(pages, web, steps):
    """Ranks as real numbers: the vector times the matrix, again and again."""
    out = [0] * pages
    for a, b in web:
        out[a] += 1
    rank = [1 / pages] * pages
    for _ in range(steps):
        new = [0.15 / pages] * pages
        for a, b in web:
            new[b] += 0.85 * rank[a] / out[a]
        rank = new
    return rank


def spikes(drive, synapses, steps, threshold, rest):
    """Step by step: all neurons, then all synapses of those that have fired."""
    n = len(drive)
    v, heard, resting, count, last = [0] * n, [0] * n, [0] * n, [0] * n, [0] * n
    for step in range(steps):
        fired = set()
        for i in range(n):
            if resting[i]:
                resting[i] -= 1
                continue
            v[i] += drive[i] + heard[i] - v[i] // 16
            if v[i] >= threshold:
                v[i], resting[i], last[i] = 0, rest, step
                count[i] += 1
                fired.add(i)
        heard = [0] * n
        for a, b, weight in synapses:
            if a in fired:
                heard[b] += weight
    return {i: (count[i], last[i], v[i]) for i in range(n)}


schedules = [["-j", "1"], ["-j", "3"], ["--schedule", "fifo"], ["--schedule", "lifo"], ["--schedule", "random"], ["--schedule", "delay:0.5"],
             ["--engine", "fabric:tinsel:2,1", "--mailbox", "slots=2", "--placement", "random"],
             ["--engine", "fabric:mesh:3,3/vcs=1/buffer=1", "--mailbox", "threads=2,slots=1"]]
chance = random.Random(seed)
for i in range(rounds):
    words = schedules[i % len(schedules)] + (["--seed", str(chance.randrange(2**64))] if i >= 2 else [])
    w, h, steps = chance.randint(3, 12), chance.randint(3, 12), chance.randint(1, 30)
    code, lines, said = run(make.heat(w, h, steps, 1), words)
    check("heat %dx%d, %d steps" % (w, h, steps), words, (code, {(int(x), int(y)): int(v) for c, x, y, v in lines if c == "cell"}), (0, heat(w, h, steps)))
nodes, ways = 12, 12 + chance.randint(0, 60)
number = chance.randrange(10**6)
xml, want = make.paths(nodes, ways, number), floyd_warshall(nodes, make.road_map(nodes, ways, number))
for i in range(rounds):
    words = schedules[i % len(schedules)] + (["--seed", str(chance.randrange(2**64))] if i >= 2 else [])
    code, lines, said = run(xml, words)
    got = [[None] * nodes for _ in range(nodes)]
    for line in lines:
        if line[0] == "path":
            got[int(line[1])][int(line[2])] = int(line[3])
    check("paths %d %d %d" % (nodes, ways, number), words, (code, got), (0, want))
for i in range(rounds):
    words = schedules[i % len(schedules)] + (["--seed", str(chance.randrange(2**64))] if i >= 2 else [])
    w, h, steps, temperature, number = 2 * chance.randint(2, 5), 2 * chance.randint(2, 5), chance.randint(1, 30), chance.randint(500, 5000), chance.randrange(2**15)
    code, lines, said = run(make.ising(w, h, steps, temperature, number, 1), words)
    check("ising %dx%d %d %d %d" % (w, h, steps, temperature, number), words, (code, {int(l[1]): int(l[2]) for l in lines if l[0] == "spin"}),
          (0, dict(enumerate(ising(w, h, steps, temperature, number)))))
    pages, links, steps, number = chance.randint(2, 20), chance.randint(2, 80), chance.randint(1, 40), chance.randrange(10**6)
    web = [(a, b) for a, b, length in make.road_map(pages, links, number)]
    code, lines, said = run(make.pagerank(pages, links, steps, number), words)
    got = {int(l[1]): int(l[2]) / 2**40 for l in lines if l[0] == "rank"}
    want = power_iteration(pages, web, steps)
    check("pagerank %d %d %d %d" % (pages, links, steps, number), words, (code, len(got), all(abs(got.get(k, 0) - want[k]) < 1e-9 for k in range(pages))), (0, pages, True))
    n, synapses, steps, number = chance.randint(2, 30), chance.randint(2, 200), chance.randint(1, 300), chance.randrange(10**6)
    code, lines, said = run(make.spikes(n, synapses, steps, number), words)
    wires = [(a, b, make.weight_of(length, a)) for a, b, length in make.road_map(n, synapses, number)]
    check("spikes %d %d %d %d" % (n, synapses, steps, number), words, (code, {int(l[1]): tuple(map(int, l[2:])) for l in lines if l[0] == "neuron"}),
          (0, spikes(make.drives(n, number), wires, steps, make.THRESHOLD, make.REST)))
# A magnet that is large and warm enough has nearly the energy of an endless one; four standard deviations are 0.1.
code, lines, said = run(make.ising(64, 64, 100, 3000, seed % 2**15, 1), [])
spin = {int(l[1]): int(l[2]) for l in lines if l[0] == "spin"}
check("the energy of a magnet", [], (code, abs(energy(64, 64, spin) - onsager(3.0)) < 0.1), (0, True))
sys.exit(wrong != 0)
