#!/usr/bin/env python3
"""Random graphs between random externals: what processes receive is compared with a model that reads the same lists.

    graph_attach.py LEAT FOLDER SEED ROUNDS
"""
import collections
import json
import os
import random
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../share/poets"))
import external  # noqa: E402

leat, folder, seed, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
EXT = external.EXT

TYPES = """<Graphs xmlns="https://poets-project.org/schemas/virtual-graph-schema-v4"><GraphType id="g">
<MessageTypes><MessageType id="m"><Message>uint32_t n; int32_t v;</Message></MessageType>
<MessageType id="big"><Message>uint32_t n; int32_t v; int64_t more[4];</Message></MessageType></MessageTypes>
<DeviceTypes><DeviceType id="d"><Properties>int32_t id;</Properties>
<State>uint32_t first; uint32_t count; uint32_t n[64]; int32_t v[64];</State>
<SharedCode><![CDATA[ template <class S> static void push(S *s, uint32_t n, int32_t v)
{ int at = (s->first + s->count++) % 64; s->n[at] = n; s->v[at] = v; } ]]></SharedCode>
<InputPin name="in" messageTypeId="m"><Properties>int32_t w;</Properties><OnReceive><![CDATA[
assert(deviceState->count < 64); push(deviceState, message->n, message->v * edgeProperties->w + deviceProperties->id);
]]></OnReceive></InputPin>
<InputPin name="huge" messageTypeId="big"><OnReceive><![CDATA[
assert(deviceState->count < 64); push(deviceState, message->n, (int32_t)(message->more[3] - message->v));
]]></OnReceive></InputPin>
<OutputPin name="out" messageTypeId="m"><OnSend><![CDATA[
message->n = deviceState->n[deviceState->first]; message->v = deviceState->v[deviceState->first];
deviceState->first = (deviceState->first + 1) % 64; deviceState->count--;
]]></OnSend></OutputPin>
<ReadyToSend><![CDATA[ if (deviceState->count) *readyToSend = RTS_FLAG_out; ]]></ReadyToSend></DeviceType>
<ExternalType id="e"><InputPin name="in" messageTypeId="m"/>
<OutputPin name="all" messageTypeId="m"/><OutputPin name="some" messageTypeId="m"/>
<OutputPin name="huge" messageTypeId="big"/></ExternalType>
</DeviceTypes></GraphType>
"""
ALL, SOME, HUGE = range(3)
PIN = ["all", "some", "huge"]


def make(r):
    """Edges in the order of the file: (to, input, from, output, weight); devices are numbers, externals letters."""
    devices = range(r.randint(1, 12))
    externals = "abcdef"[:r.randint(1, 5)]
    edges = [(r.choice(externals), "in", d, "out", 0) for d in devices]
    for e in externals:
        for pin in (ALL, SOME, HUGE):
            for to in r.sample(devices, r.randint(0, len(devices))):
                edges.append((to, "huge" if pin == HUGE else "in", e, PIN[pin], r.randint(-9, 9) if pin != HUGE else 0))
        if r.random() < 0.3:
            edges.append((r.choice(externals), "in", e, "all", 0))
    r.shuffle(edges)
    return devices, externals, edges


def write(path, devices, externals, edges):
    name = lambda x: f"d{x}" if isinstance(x, int) else x
    order = [f'<DevI id="d{d}" type="d" P="{{{d * 1000}}}"/>' for d in devices]
    for k, e in enumerate(externals):  # among the devices, in their order
        order.insert(min(len(order), 2 * k), f'<ExtI id="{e}" type="e"/>')
    with open(path, "w", encoding="ascii") as out:
        out.write(TYPES + '<GraphInstance id="i" graphTypeId="g"><DeviceInstances>\n' + "\n".join(order))
        out.write("\n</DeviceInstances><EdgeInstances>\n")
        for to, pin, source, output, weight in edges:
            with_weight = f' P="{{{weight}}}"' if isinstance(to, int) and pin == "in" else ""
            out.write(f'<EdgeI path="{name(to)}:{pin}-{name(source)}:{output}"{with_weight}/>\n')
        out.write("</EdgeInstances></GraphInstance></Graphs>\n")


def expected(edges, source, pin, n, v, more):
    """What comes out for one packet: (external, edge of its input pin, n, v)."""
    into = collections.Counter()
    number = []  # of each edge at its input
    for to, name, *_ in edges:
        number.append(into[to, name])
        into[to, name] += 1
    for k, (to, _, where, output, weight) in enumerate(edges):
        if (where, output) != (source, PIN[pin]):
            continue
        if not isinstance(to, int):
            yield to, number[k], n, v
            continue
        value = more - v if pin == HUGE else v * weight + to * 1000
        for j, e in enumerate(edges):
            if e[2] == to:
                yield e[0], number[j], n, value


def one_round(number):
    r = random.Random(seed * 1000 + number)
    devices, externals, edges = make(r)
    path, door = f"{folder}/attach.xml", f"{folder}/door{number}"
    write(path, devices, externals, edges)
    address = f"unix:{door}"
    words = r.choice([["-j", "1"], ["-j", "3"], ["--schedule", "random", "--seed", str(number)], ["--schedule", "lifo"]])
    run = subprocess.Popen([leat, "graph", "run", path, "--attach", address, "--until", "idle", "--json", *words],
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    while not os.path.exists(door):
        assert run.poll() is None, path
        time.sleep(0.02)
    processes = [external.Externals(address) for _ in range(r.randint(1, len(externals)))]
    owner = {e: r.choice(processes) for e in externals}
    for p in processes:  # the application starts when the last one is there
        for e in externals:
            if owner[e] is p:
                p.send(external.SUP, external.BARRIER, 0, externals.index(e))
    for e in externals:
        owner[e].socket.settimeout(60)
        while True:
            if owner[e].receive()[1] == external.BARRIER:
                break
    sent = collections.Counter()
    for batch in range(5):
        want = collections.Counter()
        for n in range(r.randint(1, 20)):
            e, pin = r.choice(externals), r.choice([ALL, SOME, HUGE])
            v, more = r.randint(-1000, 1000), r.randint(-10**6, 10**6)
            payload = struct.pack("<Ii", n, v) + (struct.pack("<4q", 0, 1, 2, more) if pin == HUGE else b"")
            owner[e].send(EXT, 0, externals.index(e), pin, payload)
            sent[e] += 1
            want.update(expected(edges, e, pin, n, v, more))
        got = collections.Counter()
        for p in processes:
            mine = sum(count for (e, *_), count in want.items() if owner[e] is p)
            while mine:
                packet_class, _, device, pin_address, payload = p.receive()
                if packet_class != EXT:
                    continue
                n, v = struct.unpack_from("<Ii", payload)
                got[externals[device], pin_address >> 8, n, v] += 1
                mine -= 1
        assert got == want, (number, batch, got - want, want - got)
    for e in externals:
        owner[e].detach(e)
    result = json.load(run.stdout)
    assert run.wait() == 0 and result["reason"] == "idle", result
    assert {a["external"]: a["received"] for a in result["attachments"]} == {e: sent[e] for e in externals}
    assert not os.path.exists(door)


for number in range(rounds):
    try:
        one_round(number)
    except Exception:
        print(f"graph_attach.py: round {number} of seed {seed}", file=sys.stderr)
        raise
