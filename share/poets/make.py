#!/usr/bin/env python3
"""POETS applications of any size, as XML on standard output.

    make.py heat WIDTH HEIGHT STEPS [REPORT]   a plate that warms up from a rim of fixed temperature
    make.py paths NODES EDGES SEED             shortest paths between all nodes of a random graph
    make.py ising WIDTH HEIGHT STEPS T SEED [REPORT]   spins on a torus of even sides, temperature T / 1000
    make.py pagerank PAGES LINKS STEPS SEED    how often a random walker visits each page
    make.py spikes NEURONS SYNAPSES STEPS SEED leaky integrate-and-fire neurons
"""
import math
import random
import sys

SCHEMA = "https://poets-project.org/schemas/virtual-graph-schema-v4"

HEAT = """<?xml version="1.0"?>
<!-- A plate of WIDTH x HEIGHT cells. Cells of the rim keep their temperature; all others approach the mean of
     their four neighbours, step by step. There is no clock: a cell begins its next step when it has the values
     of all neighbours for this one, so no cell is ever more than one step ahead of a neighbour.
     Temperatures are integers (1/65536 of a degree), so the result does not depend on the order of packets. -->
<Graphs xmlns="{schema}">
<GraphType id="heat_plate">
<Properties><![CDATA[
    uint32_t steps;
    uint32_t report;  // 1: every cell logs its last temperature
]]></Properties>
<SharedCode><![CDATA[
    template <class P, class S> static inline void advance(const P *p, S *s)
    {{
        // Steps if its own temperature is sent and those of all neighbours are received.
        while (s->sent == s->t + 1 && s->received[s->t & 1] == p->neighbours) {{
            if (!p->held) s->v += (s->sum[s->t & 1] - (int32_t)p->neighbours * s->v) >> 3;
            s->sum[s->t & 1] = 0;
            s->received[s->t & 1] = 0;
            s->t++;
        }}
    }}
]]></SharedCode>
<MessageTypes>
<MessageType id="temperature"><Message><![CDATA[ uint32_t t; int32_t v; ]]></Message></MessageType>
<MessageType id="done"><Message/></MessageType>
</MessageTypes>
<DeviceTypes>
<DeviceType id="cell">
<Properties><![CDATA[ int32_t start; uint8_t held; uint8_t neighbours; uint16_t x; uint16_t y; ]]></Properties>
<State><![CDATA[ int32_t v; uint32_t t; uint32_t sent; int32_t sum[2]; uint32_t received[2]; ]]></State>
<InputPin name="in" messageTypeId="temperature"><OnReceive><![CDATA[
    deviceState->sum[message->t & 1] += message->v;
    deviceState->received[message->t & 1]++;
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
<ReadyToSend/>
</DeviceType>
</DeviceTypes>
</GraphType>
<GraphInstance id="plate_{w}x{h}" graphTypeId="heat_plate" P="{{{steps},{report}}}">
<DeviceInstances>
"""

PATHS = """<?xml version="1.0"?>
<!-- Shortest paths between all nodes. Every node keeps the shortest known distance from every other one and
     informs its neighbours when it learns of a shorter path. When no packet is in flight (OnHardwareIdle: the
     machine detects it, no device can), all distances are right: each node logs its own, node 0 ends the run. -->
<Graphs xmlns="{schema}">
<GraphType id="shortest_paths">
<Properties><![CDATA[ uint32_t nodes; ]]></Properties>
<MessageTypes>
<MessageType id="distance"><Message><![CDATA[ uint32_t from; uint32_t length; ]]></Message></MessageType>
</MessageTypes>
<DeviceTypes>
<DeviceType id="node">
<Properties><![CDATA[ uint32_t number; ]]></Properties>
<State><![CDATA[ uint32_t length[{nodes}]; uint8_t news[{nodes}]; uint32_t next; uint32_t waiting; uint8_t logged; ]]></State>
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
    if (deviceState->logged) return;
    deviceState->logged = 1;
    deviceState->next = 0; // the position of the last search is not part of the result
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


ISING = """<?xml version="1.0"?>
<!-- The Ising model: spins of +1 and -1 on a torus, at a temperature. In each step every other spin may flip, in a
     checkerboard pattern, by the Metropolis rule: always if that lowers the energy, else with probability
     exp(-rise / T). A cell begins its next step when it has the spins of all four neighbours. Random numbers are made
     from seed, cell and step (splitmix64), so the result does not depend on the order of packets. -->
<Graphs xmlns="{schema}">
<GraphType id="ising">
<Properties><![CDATA[
    uint32_t steps;
    uint32_t seed;
    uint32_t chance[2]; // of a rise by 4 and by 8, in units of 2^-32
    uint32_t report;    // 1: every cell logs its last spin
]]></Properties>
<SharedCode><![CDATA[
    static inline uint32_t draw(uint32_t seed, uint32_t cell, uint32_t t)
    {{
        uint64_t z = ((uint64_t)seed << 48) + ((uint64_t)t << 24) + cell + 0x9E3779B97F4A7C15;
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
        z = (z ^ z >> 27) * 0x94D049BB133111EB;
        return (uint32_t)((z ^ z >> 31) >> 32);
    }}
    template <class G, class P, class S> static inline void advance(const G *g, const P *p, S *s)
    {{
        // Steps if its own spin is sent and those of all neighbours are received.
        while (s->sent == s->t + 1 && s->received[s->t & 1] == 4) {{
            const int32_t along = s->spin * s->sum[s->t & 1]; // half the energy of a flip
            if ((s->t & 1) == p->colour &&
                (along <= 0 || draw(g->seed, p->number, s->t) < g->chance[along / 2 - 1]))
                s->spin = -s->spin;
            s->sum[s->t & 1] = 0;
            s->received[s->t & 1] = 0;
            s->t++;
        }}
    }}
]]></SharedCode>
<MessageTypes>
<MessageType id="spin"><Message><![CDATA[ uint32_t t; int32_t spin; ]]></Message></MessageType>
<MessageType id="last"><Message><![CDATA[ int32_t spin; ]]></Message></MessageType>
</MessageTypes>
<DeviceTypes>
<DeviceType id="cell">
<Properties><![CDATA[ uint32_t number; uint8_t colour; int8_t start; ]]></Properties>
<State><![CDATA[ int32_t spin; uint32_t t; uint32_t sent; int32_t sum[2]; uint32_t received[2]; ]]></State>
<InputPin name="in" messageTypeId="spin"><OnReceive><![CDATA[
    deviceState->sum[message->t & 1] += message->spin;
    deviceState->received[message->t & 1]++;
    advance(graphProperties, deviceProperties, deviceState);
]]></OnReceive></InputPin>
<OutputPin name="out" messageTypeId="spin"><OnSend><![CDATA[
    message->t = deviceState->t;
    message->spin = deviceState->spin;
    deviceState->sent++;
    advance(graphProperties, deviceProperties, deviceState);
]]></OnSend></OutputPin>
<OutputPin name="end" messageTypeId="last"><OnSend><![CDATA[
    deviceState->sent++; // once
    message->spin = deviceState->spin;
    if (graphProperties->report) handler_log(1, "spin %u %d", deviceProperties->number, deviceState->spin);
]]></OnSend></OutputPin>
<ReadyToSend><![CDATA[
    if (deviceState->sent == deviceState->t)
        *readyToSend = deviceState->t < graphProperties->steps ? RTS_FLAG_out : RTS_FLAG_end;
]]></ReadyToSend>
<OnInit><![CDATA[ deviceState->spin = deviceProperties->start; ]]></OnInit>
</DeviceType>
<DeviceType id="counter">
<Properties><![CDATA[ uint32_t cells; ]]></Properties>
<State><![CDATA[ uint32_t received; int32_t sum; ]]></State>
<InputPin name="in" messageTypeId="last"><OnReceive><![CDATA[
    deviceState->sum += message->spin;
    if (++deviceState->received < deviceProperties->cells) return;
    handler_log(1, "magnetisation %d of %u", deviceState->sum, deviceProperties->cells);
    handler_exit(0);
]]></OnReceive></InputPin>
<ReadyToSend/>
</DeviceType>
</DeviceTypes>
</GraphType>
<GraphInstance id="torus_{w}x{h}" graphTypeId="ising" P="{{{steps},{seed},{{{chance}}},{report}}}">
<DeviceInstances>
"""

PAGERANK = """<?xml version="1.0"?>
<!-- PageRank: a walker follows a random link of a page or, in 15 of 100 cases, goes to any page. In each step every
     page divides its rank among its links; the step ends when no packet is in flight (OnHardwareIdle). Ranks are
     integers (their sum is 2^40), so the result does not depend on the order of packets. -->
<Graphs xmlns="{schema}">
<GraphType id="pagerank">
<Properties><![CDATA[ uint32_t pages; uint32_t steps; ]]></Properties>
<SharedCode><![CDATA[ static const uint64_t WHOLE = (uint64_t)1 << 40; ]]></SharedCode>
<MessageTypes>
<MessageType id="share"><Message><![CDATA[ uint64_t rank; ]]></Message></MessageType>
</MessageTypes>
<DeviceTypes>
<DeviceType id="page">
<Properties><![CDATA[ uint32_t number; uint32_t links; ]]></Properties>
<State><![CDATA[ uint64_t rank; uint64_t received; uint32_t step; uint8_t send; ]]></State>
<InputPin name="in" messageTypeId="share"><OnReceive><![CDATA[ deviceState->received += message->rank; ]]></OnReceive></InputPin>
<OutputPin name="out" messageTypeId="share"><OnSend><![CDATA[
    message->rank = deviceState->rank / deviceProperties->links;
    deviceState->send = 0;
]]></OnSend></OutputPin>
<ReadyToSend><![CDATA[ if (deviceState->send) *readyToSend = RTS_FLAG_out; ]]></ReadyToSend>
<OnInit><![CDATA[
    deviceState->rank = WHOLE / graphProperties->pages;
    deviceState->send = 1;
]]></OnInit>
<OnHardwareIdle><![CDATA[
    if (deviceState->step == graphProperties->steps) return;
    deviceState->rank = (WHOLE * 15 / graphProperties->pages + deviceState->received * 85) / 100;
    deviceState->received = 0;
    if (++deviceState->step < graphProperties->steps) {{
        deviceState->send = 1;
        return;
    }}
    handler_log(1, "rank %u %llu", deviceProperties->number, (unsigned long long)deviceState->rank);
    if (deviceProperties->number == 0) handler_exit(0);
]]></OnHardwareIdle>
</DeviceType>
</DeviceTypes>
</GraphType>
<GraphInstance id="pages_{pages}" graphTypeId="pagerank" P="{{{pages},{steps}}}">
<DeviceInstances>
"""

SPIKES = """<?xml version="1.0"?>
<!-- Leaky integrate-and-fire neurons. In each step a neuron adds its own drive and the spikes that it received, loses
     a sixteenth, and fires if it has reached the threshold; then it rests. A step ends when no packet is in flight
     (OnHardwareIdle); the clock sends itself a tick in every step, since a step may have no spike. -->
<Graphs xmlns="{schema}">
<GraphType id="spikes">
<Properties><![CDATA[ uint32_t steps; int32_t threshold; uint32_t rest; ]]></Properties>
<MessageTypes>
<MessageType id="spike"><Message/></MessageType>
</MessageTypes>
<DeviceTypes>
<DeviceType id="neuron">
<Properties><![CDATA[ uint32_t number; int32_t drive; ]]></Properties>
<State><![CDATA[ int32_t v; int32_t received; uint32_t step; uint32_t rest; uint32_t spikes; uint32_t last; uint8_t fire; ]]></State>
<InputPin name="in" messageTypeId="spike">
<Properties><![CDATA[ int32_t weight; ]]></Properties>
<OnReceive><![CDATA[ deviceState->received += edgeProperties->weight; ]]></OnReceive></InputPin>
<OutputPin name="out" messageTypeId="spike"><OnSend><![CDATA[ deviceState->fire = 0; ]]></OnSend></OutputPin>
<ReadyToSend><![CDATA[ if (deviceState->fire) *readyToSend = RTS_FLAG_out; ]]></ReadyToSend>
<OnHardwareIdle><![CDATA[
    if (deviceState->step == graphProperties->steps) return;
    if (deviceState->rest) {{
        deviceState->rest--;
    }} else {{
        deviceState->v += deviceProperties->drive + deviceState->received - (deviceState->v >> 4);
        if (deviceState->v >= graphProperties->threshold) {{
            deviceState->v = 0;
            deviceState->rest = graphProperties->rest;
            deviceState->spikes++;
            deviceState->last = deviceState->step;
            deviceState->fire = 1;
        }}
    }}
    deviceState->received = 0;
    if (++deviceState->step < graphProperties->steps) return;
    deviceState->fire = 0;
    handler_log(1, "neuron %u %u %u %d", deviceProperties->number, deviceState->spikes, deviceState->last, deviceState->v);
]]></OnHardwareIdle>
</DeviceType>
<DeviceType id="clock">
<State><![CDATA[ uint32_t step; uint8_t tick; ]]></State>
<InputPin name="in" messageTypeId="spike"><OnReceive><![CDATA[ ]]></OnReceive></InputPin>
<OutputPin name="out" messageTypeId="spike"><OnSend><![CDATA[ deviceState->tick = 0; ]]></OnSend></OutputPin>
<ReadyToSend><![CDATA[ if (deviceState->tick) *readyToSend = RTS_FLAG_out; ]]></ReadyToSend>
<OnHardwareIdle><![CDATA[
    if (++deviceState->step == graphProperties->steps)
        handler_exit(0);
    else
        deviceState->tick = 1;
]]></OnHardwareIdle>
</DeviceType>
</DeviceTypes>
</GraphType>
<GraphInstance id="neurons_{neurons}" graphTypeId="spikes" P="{{{steps},{threshold},{rest}}}">
<DeviceInstances>
"""

THRESHOLD, REST = 1000, 2  # of neurons


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
    """(from, to, length), no two from and to the same nodes; a cycle first, so that every node is reachable."""
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


def chances(temperature):
    """Of a rise by 4 and by 8, in units of 2^-32."""
    return [min(int(math.exp(-rise * 1000 / temperature) * 2**32), 2**32 - 1) for rise in (4, 8)]


def spins(w, h, seed):
    r = random.Random(seed)
    return [r.choice((-1, 1)) for _ in range(w * h)]


def ising(w, h, steps, temperature, seed, report=0):
    if w % 2 or h % 2 or w < 4 or h < 4 or not temperature:
        sys.exit("ising: expected even sides of at least 4, and a temperature above 0")
    out = [ISING.format(schema=SCHEMA, w=w, h=h, steps=steps, seed=seed, chance="%d,%d" % tuple(chances(temperature)), report=report)]
    for i, start in enumerate(spins(w, h, seed)):
        out.append('<DevI id="s%d" type="cell" P="{%d,%d,%d}"/>\n' % (i, i, (i % w + i // w) % 2, start))
    out.append('<DevI id="counter" type="counter" P="{%d}"/>\n</DeviceInstances>\n<EdgeInstances>\n' % (w * h))
    for i in range(w * h):
        x, y = i % w, i // w
        for a, b in ((x, y - 1), (x - 1, y), (x + 1, y), (x, y + 1)):
            out.append('<EdgeI path="s%d:in-s%d:out"/>\n' % (a % w + b % h * w, i))
        out.append('<EdgeI path="counter:in-s%d:end"/>\n' % i)
    return "".join(out) + "</EdgeInstances>\n</GraphInstance>\n</Graphs>\n"


def pagerank(pages, links, steps, seed):
    web = road_map(pages, links, seed)
    out = [PAGERANK.format(schema=SCHEMA, pages=pages, steps=steps)]
    for i in range(pages):
        out.append('<DevI id="p%d" type="page" P="{%d,%d}"/>\n' % (i, i, sum(a == i for a, b, length in web)))
    out.append("</DeviceInstances>\n<EdgeInstances>\n")
    out += ['<EdgeI path="p%d:in-p%d:out"/>\n' % (b, a) for a, b, length in web]
    return "".join(out) + "</EdgeInstances>\n</GraphInstance>\n</Graphs>\n"


def drives(neurons, seed):
    """Some fire by themselves, most only with the help of others."""
    r = random.Random(seed)
    return [r.randint(30, 75) for _ in range(neurons)]


def weight_of(length, neuron):
    """Of a synapse: every fifth neuron holds others back."""
    return -4 * length if neuron % 5 == 4 else 4 * length


def spikes(neurons, synapses, steps, seed):
    out = [SPIKES.format(schema=SCHEMA, neurons=neurons, steps=steps, threshold=THRESHOLD, rest=REST)]
    out += ['<DevI id="n%d" type="neuron" P="{%d,%d}"/>\n' % (i, i, drive) for i, drive in enumerate(drives(neurons, seed))]
    out.append('<DevI id="clock" type="clock"/>\n</DeviceInstances>\n<EdgeInstances>\n<EdgeI path="clock:in-clock:out"/>\n')
    out += ['<EdgeI path="n%d:in-n%d:out" P="{%d}"/>\n' % (b, a, weight_of(length, a)) for a, b, length in road_map(neurons, synapses, seed)]
    return "".join(out) + "</EdgeInstances>\n</GraphInstance>\n</Graphs>\n"


if __name__ == "__main__":
    kinds = {"heat": (heat, 3, 4), "paths": (paths, 3, 3), "ising": (ising, 5, 6), "pagerank": (pagerank, 4, 4), "spikes": (spikes, 4, 4)}
    words = sys.argv[2:]
    if len(sys.argv) < 2 or sys.argv[1] not in kinds or not kinds[sys.argv[1]][1] <= len(words) <= kinds[sys.argv[1]][2] or not all(w.isdigit() for w in words):
        sys.exit(__doc__)
    sys.stdout.write(kinds[sys.argv[1]][0](*map(int, words)))
