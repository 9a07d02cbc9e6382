/* Wires of a network: their places, their use, and where packets are between two hops. */
import { test } from "node:test";
import assert from "node:assert/strict";
import { Recorder } from "../../tool/view/recorder.mjs";
import { readRecording, flowLength, isPacket, packetNumber } from "./recording.js";
import { lanesOf } from "./lanes.js";
import { flowsOf, wayOf } from "./flows.js";
import { wiresOf } from "./wires.js";
import { placesOf } from "./places.js";
import { messageText } from "./words.js";
import { find } from "./find.js";

const FIRST = 1n << 34n;
const PERIOD = 1000;
const [LEAVES, PASSES, ARRIVES] = [0, 1, 2];

/* Ports 0 and 1 at routers 0 and 1, two wires between; packet 0 is not hindered, packet 1 waits for
 * 5000 ps in router 1. */
function twoRouters() {
    const r = new Recorder();
    r.clock(PERIOD, 1);
    const network = r.group(0, "network");
    const ports = [r.lane(network, 1, 0, "port0"), r.lane(network, 1, 0, "port1")];
    const wires = r.group(network, "wires");
    const lane = {};
    for (const name of ["0>1", "0>1 #2", "1>0", "0>port0", "1>port1"]) lane[name] = r.lane(wires, 1, 0, name);
    const width = r.signal(wires, 1, 32, "width");
    r.value(width, 8);
    for (const [packet, wire, wait] of [[0n, "0>1", 0], [1n, "0>1 #2", 5000], [2n, "0>1 #2", 0]]) {
        r.flow(ports[0], LEAVES, FIRST + packet, 0, 16, null);
        r.time(2000);
        r.flow(lane[wire], PASSES, FIRST + packet, 0, 16, null);
        r.time(3000 + wait);
        r.flow(lane["1>port1"], PASSES, FIRST + packet, 0, 16, null);
        r.time(4000);
        r.flow(ports[1], ARRIVES, FIRST + packet, 0, 16, null);
    }
    r.close();
    const rec = readRecording(r.octets.subarray(0, r.length));
    assert.equal(rec.damage, null);
    return { rec, lanes: lanesOf(rec), flows: flowsOf(rec), lane, ports };
}

const drawing = JSON.stringify({ left: 0, top: 0, width: 200, height: 100, routers: [50, 50, 150, 50], terminals: [10, 50, 0, 190, 50, 1],
                                 senders: [], wires: [0, 1, 100, 40, 0, 1, 100, 60] });

test("lanes are wires of the drawing, twins and directions apart", () => {
    const { lane, ports, ...opened } = twoRouters();
    const wires = wiresOf({ ...opened, drawing });
    assert.equal(wires.hasHops, true);
    assert.deepEqual([lane["0>1"], lane["0>1 #2"], lane["1>0"]].map((track) => [wires.wireOf[track], wires.isBack[track]]), [[0, 0], [1, 0], [0, 1]]);
    assert.deepEqual(wires.lanesOf, [[lane["0>1"], lane["1>0"]], [lane["0>1 #2"]]]);
    assert.equal(wires.wireOf[lane["1>port1"]], -1);
    assert.deepEqual(wires.terminal(1, false), [190, 50]);
    assert.equal(wires.laneOfTerminal.get(1), ports[1]);
});

test("a packet is on its wire as long as the quickest one, then in the router", () => {
    const { lane, ports, ...opened } = twoRouters();
    const wires = wiresOf({ ...opened, drawing });
    const { least } = opened.flows;
    assert.deepEqual([ports[0], lane["0>1"], lane["0>1 #2"], lane["1>port1"]].map((track) => least[track]), [2000, 3000, 3000, 4000]);
    assert.equal(least[lane["1>0"]], Infinity);
    assert.deepEqual(wires.placeOf(ports[0], lane["0>1"], 1000), { x: 30, y: 50, waitsAt: -1 });
    assert.deepEqual(wires.placeOf(ports[0], lane["0>1"], 2000), { x: 50, y: 50, waitsAt: 0 });
    assert.deepEqual(wires.placeOf(lane["0>1"], lane["1>port1"], 1500), { x: 100, y: 40, waitsAt: -1 });
    assert.deepEqual(wires.placeOf(lane["0>1 #2"], lane["1>port1"], 1500), { x: 100, y: 60, waitsAt: -1 });
    assert.deepEqual(wires.placeOf(lane["0>1 #2"], lane["1>port1"], 4000), { x: 150, y: 50, waitsAt: 1 });
    assert.deepEqual(wires.placeOf(lane["1>port1"], ports[1], 2000), { x: 170, y: 50, waitsAt: -1 });
});

test("use is the octets of a wire by what it can take", () => {
    const { lane, ports, ...opened } = twoRouters();
    const wires = wiresOf({ ...opened, drawing });
    assert.equal(wires.width, 8);
    /* 16 octets are two cycles: of 0 to 20 ns one packet passes "0>1", at 2 ns. */
    assert.equal(wires.useOf(lane["0>1"], 0, 20000), 0.1);
    assert.equal(wires.useOf(lane["0>1"], 2000, 20000), 0);
    assert.equal(wires.useOf(lane["0>1"], 0, 1000), 0);
    assert.equal(wires.useOf(lane["1>0"], 0, 20000), 0);
    const { flows, rec } = opened;
    for (const flow of flows.event) assert.equal(flowLength(rec, flow), 16);
});

test("without a drawing, or with a damaged one, routers are in a circle", () => {
    for (const bad of [undefined, null, "", "<svg>", "{"]) {
        const { lane, ports, ...opened } = twoRouters();
        const wires = wiresOf({ ...opened, drawing: bad });
        assert.equal(wires.routers, 2);
        assert.notDeepEqual(wires.router(0), wires.router(1));
        assert.deepEqual(wires.placeOf(lane["0>1"], lane["1>port1"], 9e9).waitsAt, 1);
        assert.ok(wires.terminal(0, true) && wires.terminal(1, false));
    }
});

test("a recording without wires and drawing has none", () => {
    const r = new Recorder();
    r.lane(r.group(0, "network"), 0, 0, "port0");
    r.close();
    const rec = readRecording(r.octets.subarray(0, r.length));
    assert.equal(wiresOf({ rec, lanes: lanesOf(rec), flows: flowsOf(rec), drawing: null }), null);
});

test("wires are no places, packets have numbers of their own, and both can be found", () => {
    const { lane, ports, ...opened } = twoRouters();
    const places = placesOf(opened.rec, opened.lanes);
    assert.deepEqual(places.list.map(({ label }) => label), ["port0", "port1"]);
    assert.equal(messageText(FIRST + 7n), "packet 7");
    assert.ok(isPacket(FIRST) && !isPacket(FIRST - 1n) && !isPacket(1n << 62n));
    assert.equal(packetNumber(FIRST + 5n), 5n);
    assert.equal(wayOf(opened.rec, opened.flows, FIRST + 1n).length, 4);
    assert.deepEqual(find(opened, "packet 1", 0).map(({ text }) => text), ["packet 1, 9 ns"]);
    assert.deepEqual(find(opened, "message 1", 0), []);
});
