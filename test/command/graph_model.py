"""What applications of share/poets/make.py must come to, by plain models that know nothing of packets."""
import importlib.util
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
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
        file.write(xml)
        file.flush()
        done = subprocess.run([leat, "graph", "run", file.name, *words], capture_output=True, text=True, timeout=120)
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
sys.exit(wrong != 0)
