#!/usr/bin/env python3
"""POETS applications of any size, as XML on standard output.

    make.py heat WIDTH HEIGHT STEPS [REPORT]   a plate that warms up: its rim is held, cells know neighbours
    make.py paths NODES EDGES SEED             shortest paths between all nodes of a random graph
"""
import random
import sys

SCHEMA = "https://poets-project.org/schemas/virtual-graph-schema-v4"

HEAT = """<?xml version="1.0"?>
<!-- A plate of WIDTH x HEIGHT cells. Those of the rim keep their temperature; all others move towards the
     mean of their four neighbours, step by step. There is no clock: a cell goes on to its next step when it
     has heard of all neighbours in this one, so no cell is ever more than one step ahead of another.
     Temperatures are whole numbers (1/65536 of a degree), so that every order of packets gives the same. -->
<Graphs xmlns="{schema}">
<GraphType id="heat_plate">
<Properties><![CDATA[
    uint32_t steps;
    uint32_t report;  // 1: every cell logs its last temperature
]]></Properties>
<SharedCode><![CDATA[
    template <class P, class S> static inline void advance(const P *p, S *s)
    {{
        // Once its own temperature is out and those of all neighbours are in.
        while (s->sent == s->t + 1 && s->heard[s->t & 1] == p->neighbours) {{
            if (!p->held) s->v += (s->sum[s->t & 1] - (int32_t)p->neighbours * s->v) >> 3;
            s->sum[s->t & 1] = 0;
            s->heard[s->t & 1] = 0;
            s->t++;
        }}
    }}
]]></SharedCode>
<MessageTypes>
<MessageType id="temperature"><Message><![CDATA[ uint32_t t; int32_t v; ]]></Message></MessageType>
<MessageType id="done"/>
</MessageTypes>
<DeviceTypes>
<DeviceType id="cell">
<Properties><![CDATA[ int32_t start; uint8_t held; uint8_t neighbours; uint16_t x; uint16_t y; ]]></Properties>
<State><![CDATA[ int32_t v; uint32_t t; uint32_t sent; int32_t sum[2]; uint32_t heard[2]; ]]></State>
<InputPin name="in" messageTypeId="temperature"><OnReceive><![CDATA[
    deviceState->sum[message->t & 1] += message->v;
    deviceState->heard[message->t & 1]++;
    advance(deviceProperties, deviceState);
]]></OnReceive></InputPin>
<OutputPin name="out" messageTypeId="temperature"><OnSend><![CDATA[
    message->t = deviceState->t;
    message->v = deviceState->v;
    deviceState->sent++;
    advance(deviceProperties, deviceState);
]]></OnSend></OutputPin>
<OutputPin name="end" messageTypeId="done"><OnSend><![CDATA[
    deviceState->sent++; // once
    if (graphProperties->report)
        handler_log(1, "cell %u %u %d", deviceProperties->x, deviceProperties->y, deviceState->v);
]]></OnSend></OutputPin>
<ReadyToSend><![CDATA[
    if (deviceState->sent == deviceState->t)
        *readyToSend = deviceState->t < graphProperties->steps ? RTS_FLAG_out : RTS_FLAG_end;
]]></ReadyToSend>
<OnInit><![CDATA[ deviceState->v = deviceProperties->start; ]]></OnInit>
</DeviceType>
<DeviceType id="counter">
<Properties><![CDATA[ uint32_t cells; ]]></Properties>
<State><![CDATA[ uint32_t done; ]]></State>
<InputPin name="in" messageTypeId="done"><OnReceive><![CDATA[
    if (++deviceState->done == deviceProperties->cells) handler_exit(0);
]]></OnReceive></InputPin>
</DeviceType>
</DeviceTypes>
</GraphType>
<GraphInstance id="plate_{w}x{h}" graphTypeId="heat_plate" P="{{{steps},{report}}}">
<DeviceInstances>
"""

PATHS = """<?xml version="1.0"?>
<!-- Shortest paths between all nodes. Every node knows how far it is from every other one, as far as it has
     heard, and tells its neighbours when it hears of something shorter. When nothing moves any more (the
     machine knows when, no device does) all distances are right: each node logs its own, node 0 ends it. -->
<Graphs xmlns="{schema}">
<GraphType id="shortest_paths">
<Properties><![CDATA[ uint32_t nodes; ]]></Properties>
<MessageTypes>
<MessageType id="distance"><Message><![CDATA[ uint32_t from; uint32_t length; ]]></Message></MessageType>
</MessageTypes>
<DeviceTypes>
<DeviceType id="node">
<Properties><![CDATA[ uint32_t number; ]]></Properties>
<State><![CDATA[ uint32_t length[{nodes}]; uint8_t news[{nodes}]; uint32_t next; uint32_t waiting; uint8_t told; ]]></State>
<InputPin name="in" messageTypeId="distance">
<Properties><![CDATA[ uint32_t length; ]]></Properties>
<OnReceive><![CDATA[
    const uint32_t length = message->length + edgeProperties->length;
    if (length >= deviceState->length[message->from]) return;
    deviceState->length[message->from] = length;
    deviceState->waiting += !deviceState->news[message->from];
    deviceState->news[message->from] = 1;
]]></OnReceive></InputPin>
<OutputPin name="out" messageTypeId="distance"><OnSend><![CDATA[
    while (!deviceState->news[deviceState->next])
        deviceState->next = (deviceState->next + 1) % graphProperties->nodes;
    message->from = deviceState->next;
    message->length = deviceState->length[deviceState->next];
    deviceState->news[deviceState->next] = 0;
    deviceState->waiting--;
]]></OnSend></OutputPin>
<ReadyToSend><![CDATA[ if (deviceState->waiting) *readyToSend = RTS_FLAG_out; ]]></ReadyToSend>
<OnInit><![CDATA[
    for (uint32_t i = 0; i < graphProperties->nodes; i++)
        deviceState->length[i] = 1000000000;
    deviceState->length[deviceProperties->number] = 0;
    deviceState->news[deviceProperties->number] = 1;
    deviceState->waiting = 1;
]]></OnInit>
<OnHardwareIdle><![CDATA[
    if (deviceState->told) return;
    deviceState->told = 1;
    for (uint32_t i = 0; i < graphProperties->nodes; i++)
        handler_log(1, "path %u %u %u", i, deviceProperties->number, deviceState->length[i]);
    if (deviceProperties->number == 0) handler_exit(0);
]]></OnHardwareIdle>
</DeviceType>
</DeviceTypes>
</GraphType>
<GraphInstance id="nodes_{nodes}" graphTypeId="shortest_paths" P="{{{nodes}}}">
<DeviceInstances>
"""


def start_of(x, y):
    """Degrees at the beginning: a warm corner, a cold one, something in between elsewhere."""
    return (x * 37 + y * 91) % 100 * 65536


def heat(w, h, steps, report=0):
    out = [HEAT.format(schema=SCHEMA, w=w, h=h, steps=steps, report=report)]
    near = lambda x, y: [(a, b) for a, b in ((x, y - 1), (x - 1, y), (x + 1, y), (x, y + 1)) if 0 <= a < w and 0 <= b < h]
    for y in range(h):
        for x in range(w):
            held = x in (0, w - 1) or y in (0, h - 1)
            out.append('<DevI id="c_%d_%d" type="cell" P="{%d,%d,%d,%d,%d}"/>\n' % (x, y, start_of(x, y), held, len(near(x, y)), x, y))
    out.append('<DevI id="counter" type="counter" P="{%d}"/>\n</DeviceInstances>\n<EdgeInstances>\n' % (w * h))
    for y in range(h):
        for x in range(w):
            for a, b in near(x, y):
                out.append('<EdgeI path="c_%d_%d:in-c_%d_%d:out"/>\n' % (a, b, x, y))
            out.append('<EdgeI path="counter:in-c_%d_%d:end"/>\n' % (x, y))
    return "".join(out) + "</EdgeInstances>\n</GraphInstance>\n</Graphs>\n"


def road_map(nodes, edges, seed):
    """(from, to, length), no two of the same way; a circle first, so that all can be reached."""
    r = random.Random(seed)
    ways = {(i, (i + 1) % nodes): r.randint(1, 99) for i in range(nodes)}
    while len(ways) < min(edges, nodes * (nodes - 1)):
        a, b = r.randrange(nodes), r.randrange(nodes)
        if a != b:
            ways.setdefault((a, b), r.randint(1, 99))
    return [(a, b, length) for (a, b), length in ways.items()]


def paths(nodes, edges, seed):
    out = [PATHS.format(schema=SCHEMA, nodes=nodes)]
    out += ['<DevI id="n%d" type="node" P="{%d}"/>\n' % (i, i) for i in range(nodes)]
    out.append("</DeviceInstances>\n<EdgeInstances>\n")
    out += ['<EdgeI path="n%d:in-n%d:out" P="{%d}"/>\n' % (b, a, length) for a, b, length in road_map(nodes, edges, seed)]
    return "".join(out) + "</EdgeInstances>\n</GraphInstance>\n</Graphs>\n"


if __name__ == "__main__":
    kinds = {"heat": (heat, 3, 4), "paths": (paths, 3, 3)}
    words = sys.argv[2:]
    if len(sys.argv) < 2 or sys.argv[1] not in kinds or not kinds[sys.argv[1]][1] <= len(words) <= kinds[sys.argv[1]][2] or not all(w.isdigit() for w in words):
        sys.exit(__doc__)
    sys.stdout.write(kinds[sys.argv[1]][0](*map(int, words)))
