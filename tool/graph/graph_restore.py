#!/usr/bin/env python3
"""Random graphs run in pieces, each of which goes on from the snapshot of the one before, with any engine: the last states and the sums of
all counters are those of one run that was never interrupted.

    graph_restore.py LEAT FOLDER SEED ROUNDS [MPIRUN]

What a device sends depends on how much it has received, not on the order, so that every schedule comes to the same states.
"""
import json
import random
import subprocess
import sys

leat, folder, seed, rounds, mpirun = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5:]

TYPES = """<Graphs xmlns="https://poets-project.org/schemas/virtual-graph-schema-v4"><GraphType id="g"><Properties>uint32_t sends; uint32_t spin;</Properties>
<MessageTypes><MessageType id="m"><Message>uint32_t n; int32_t v;</Message></MessageType></MessageTypes>
<DeviceTypes><DeviceType id="d"><Properties>uint32_t me; uint32_t inputs;</Properties>
<State>uint32_t sent[2]; uint32_t received; int64_t sum; uint8_t b; float f; double g[2]; uint32_t idles; uint32_t begun; uint64_t more[3];</State>
<OnInit><![CDATA[ deviceState->begun++; deviceState->f = 0.0f / (float)(deviceProperties->me % 3); deviceState->g[1] = -1.0 / (deviceProperties->me % 2); ]]></OnInit>
<InputPin name="in" messageTypeId="m"><Properties>int32_t w;</Properties><State>uint16_t count; int64_t sum;</State><OnReceive><![CDATA[
    for (volatile uint32_t i = 0; i < graphProperties->spin; i = i + 1) {}
    deviceState->received++; edgeState->count++; edgeState->sum += message->v;
    deviceState->sum += (int64_t)message->v * edgeProperties->w;
    deviceState->more[message->n % 3] ^= (uint64_t)message->v * 0x9E3779B97F4A7C15u;
    deviceState->g[0] += message->n; deviceState->b = deviceState->b + 1;
]]></OnReceive></InputPin>
<OutputPin name="even" messageTypeId="m"><OnSend><![CDATA[ message->n = deviceState->sent[0]++; message->v = (int32_t)(message->n * 7 + deviceProperties->me); ]]></OnSend></OutputPin>
<OutputPin name="odd" messageTypeId="m"><OnSend><![CDATA[ message->n = deviceState->sent[1]++; message->v = -(int32_t)(message->n * 3 + deviceProperties->me); ]]></OnSend></OutputPin>
<OnDeviceIdle><![CDATA[ deviceState->idles++; ]]></OnDeviceIdle>
<ReadyToSend><![CDATA[
    const uint32_t inputs = deviceProperties->inputs ? deviceProperties->inputs : 1;
    const uint32_t may = 1 + deviceState->received / inputs + (deviceProperties->inputs ? 0 : graphProperties->sends);
    const uint32_t most = may < graphProperties->sends ? may : graphProperties->sends;
    if (deviceState->sent[0] < most) *readyToSend |= RTS_FLAG_even;
    if (deviceState->sent[1] < most) *readyToSend |= RTS_FLAG_odd;
    *requestIdle = deviceState->idles < deviceState->sent[0] / 8;
]]></ReadyToSend></DeviceType>
<DeviceType id="mute"><InputPin name="in" messageTypeId="m"><OnReceive></OnReceive></InputPin></DeviceType></DeviceTypes></GraphType>
"""


def write(path, r):
    count, mute = r.randint(1, 40), r.randint(0, 3)
    edges = []
    for d in range(count):
        for pin in ("even", "odd"):
            for to in r.sample(range(count), r.randint(0, min(count, 3))):
                edges.append((to, d, pin))
            if mute and r.random() < 0.2:
                edges.append((count + r.randrange(mute), d, pin))
    r.shuffle(edges)
    inputs = [sum(1 for e in edges if e[0] == d) for d in range(count)]
    with open(path, "w", encoding="ascii") as out:
        out.write(TYPES + f'<GraphInstance id="i" graphTypeId="g" P="{{{r.randint(50, 3000)},{r.choice([0, 100, 1000])}}}"><DeviceInstances>\n')
        for d in range(count):
            out.write(f'<DevI id="d{d}" type="d" P="{{{d},{inputs[d]}}}"/>\n')
        for d in range(count, count + mute):
            out.write(f'<DevI id="d{d}" type="mute"/>\n')
        out.write("</DeviceInstances><EdgeInstances>\n")
        for to, source, pin in edges:
            weight = f' P="{{{r.randint(-9, 9)}}}"' if to < count else ""
            out.write(f'<EdgeI path="d{to}:in-d{source}:{pin}"{weight}/>\n')
        out.write("</EdgeInstances></GraphInstance></Graphs>\n")


def engine(r, mpi):
    choice = r.randrange(4 if mpi else 3)
    if choice == 0:
        return [], ["-j", str(r.randint(1, 4))]
    if choice == 1:
        return [], ["--schedule", r.choice(["fifo", "lifo", "random", "delay:0.5"]), "--seed", str(r.randint(0, 99)), "--quantum", str(r.randint(1, 40))]
    if choice == 2:
        return [], ["--fabric", r.choice(["tinsel", "mesh:4,4", "ring8"])]
    return mpi + ["-n", str(r.randint(1, 4))], ["--engine", "mpi", "-j", str(r.randint(1, 2))]


def run(prefix, words):
    done = subprocess.run([*prefix, leat, "graph", "run", f"{folder}/graph.xml", "--json", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 0, (words, done.returncode, done.stderr.decode()[-2000:])
    return json.loads(done.stdout)


COUNTS = ("receives", "sends")


def one_round(number):
    r = random.Random(seed * 1000 + number)
    write(f"{folder}/graph.xml", r)
    rts = r.choice(["level", "latched"])
    whole = run([], ["--until", "idle", "--rts", rts, "--snapshot", f"{folder}/whole.xml"])
    assert whole["dropped_by_cause"] == {}, whole
    sums, pieces = dict.fromkeys(COUNTS, 0), 0
    restore = []
    while True:
        prefix, words = engine(r, mpirun)
        limit = r.choice(["1ms", "3ms", "10ms", "30ms"]) if pieces < 12 else "1000s"
        if "--fabric" in words:
            limit = r.choice(["1us", "100us", "1ms"]) if pieces < 12 else "1000s"
        until = ["--until", "idle"] if pieces == 12 else ["--until", limit]
        piece = run(prefix, [*words, *until, *restore, "--rts", rts, "--snapshot", f"{folder}/piece.xml"])
        assert piece["dropped_by_cause"] == {}, (words, piece)
        for key in COUNTS:
            sums[key] += piece[key]
        pieces += 1
        restore = ["--restore", f"{folder}/piece.xml"]
        if piece["reason"] == "idle":
            break
        assert piece["reason"] == "limit", piece
    assert piece["states"] == whole["states"], (pieces, words)
    assert sums == {key: whole[key] for key in COUNTS}, (pieces, sums, whole)
    body = lambda name: open(f"{folder}/{name}.xml", encoding="ascii").read().split("\n")[3:]
    assert body("piece") == body("whole"), "other snapshots"
    return sums["receives"], pieces


for number in range(rounds):
    try:
        one_round(number)
    except Exception:
        print(f"graph_restore.py: round {number} of seed {seed}", file=sys.stderr)
        raise
