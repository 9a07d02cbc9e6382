/* What views ask of lanes, signals and messages, compared with a search through all events. */
import { test } from "node:test";
import assert from "node:assert/strict";
import { busyNetwork, Recorder, randomOf } from "../../tool/view/recorder.mjs";
import { readRecording, eventOf, timeOf, kindOf, partOf } from "./recording.js";
import { BEGIN, END, VALUE, FLOW, LANE, SIGNAL, ARRIVES, NO_EVENT } from "./recording.js";
import { lanesOf, busyShare, firstAfter, spansBefore, valuesBetween, valueRange, itemOf } from "./lanes.js";
import { flowsOf, wayOf, visitHops } from "./flows.js";
import { pyramidOf, extremesOf, visitAtMost } from "./pyramid.js";

const rec = readRecording(busyNetwork(4000, 5));
const lanes = lanesOf(rec);
const flows = flowsOf(rec);
const all = Array.from({ length: rec.count }, (_, event) => ({ ...eventOf(rec, event), time: timeOf(rec, event) }));
const random = randomOf(3);
const tracks = (kind) => rec.tracks.map((track, t) => (track.kind === kind ? t : 0)).filter(Boolean);

test("busy shares are the sums of spans", () => {
    for (let i = 0; i < 200; i++) {
        const track = tracks(LANE)[random(5)];
        const from = random(rec.end);
        const to = from + 1 + random(20000);
        let busy = 0;
        let depth = 0;
        let since = 0;
        for (const e of all.filter((event) => event.track === track)) {
            const time = Math.min(Math.max(e.time, from), to);
            if (depth) busy += time - since;
            since = time;
            if (e.kind === BEGIN) depth++;
            if (e.kind === END) depth--;
        }
        if (depth) busy += to - since;
        assert.equal(busyShare(rec, lanes, track, from, to), busy / (to - from));
    }
});

test("open spans are those that began and did not end", () => {
    for (let i = 0; i < 200; i++) {
        const track = tracks(LANE)[random(5)];
        const time = random(rec.end);
        const open = [];
        for (const e of all) {
            if (e.track !== track || e.time > time) continue;
            if (e.kind === BEGIN) open.push(e.event);
            if (e.kind === END) open.pop();
        }
        const item = firstAfter(lanes, track, time);
        assert.deepEqual(spansBefore(rec, lanes, track, item).map((span) => lanes.event[span]), open);
    }
});

test("each event is found among its track's items", () => {
    for (const e of all) assert.equal(lanes.event[itemOf(rec, lanes, e.event)], e.event);
});

test("extremes of signals are those of their values", () => {
    for (const track of tracks(SIGNAL)) {
        const values = all.filter((e) => e.track === track && e.kind === VALUE).map((e) => Number(e.value));
        assert.deepEqual(valueRange(lanes, track), { low: Math.min(...values), high: Math.max(...values) });
        const begin = lanes.first[track];
        const from = random(values.length);
        const to = from + 1 + random(values.length - from);
        const part = values.slice(from, to);
        assert.deepEqual(valuesBetween(lanes, track, begin + from, begin + to),
                         { low: Math.min(...part), high: Math.max(...part) });
    }
});

test("a pyramid has the extremes of every stretch, and finds all small numbers", () => {
    const row = Float64Array.from({ length: 700 }, () => random(1000));
    const pyramid = pyramidOf(row);
    for (let i = 0; i < 500; i++) {
        const from = random(row.length);
        const to = from + 1 + random(row.length - from);
        const part = row.slice(from, to);
        assert.deepEqual(extremesOf(pyramid, from, to), { low: Math.min(...part), high: Math.max(...part) });
        const limit = random(40);
        const found = [];
        visitAtMost(pyramid, from, to, limit, (at) => found.push(at));
        assert.deepEqual(found, [...part.keys()].filter((at) => part[at] <= limit).map((at) => at + from));
    }
});

test("a message's way is all its flows", () => {
    const numbers = new Set(all.filter((e) => e.kind === FLOW).map((e) => e.message));
    for (const message of numbers)
        assert.deepEqual(wayOf(rec, flows, message).map((flow) => flows.event[flow]),
                         all.filter((e) => e.message === message).map((e) => e.event));
    assert.deepEqual(wayOf(rec, flows, 1n << 62n), []);
});

test("hops of a stretch are those that end after it begins and begin before it ends", () => {
    const last = new Map();
    const hops = [];
    for (const e of all) {
        if (kindOf(rec, e.event) !== FLOW) continue;
        if (partOf(rec, e.event) === ARRIVES) hops.push([last.get(e.message), e.event]);
        else last.set(e.message, e.event);
    }
    for (let i = 0; i < 100; i++) {
        const begin = random(rec.count);
        const end = begin + random(rec.count - begin);
        const got = [];
        assert.ok(visitHops(rec, flows, begin, end, Infinity, (from, to) => got.push([from, to])));
        assert.deepEqual(got, hops.filter(([from, to]) => to > begin && from <= end));
        if (got.length > 1) assert.equal(visitHops(rec, flows, begin, end, 1, () => {}), false);
    }
});

test("a message to many goes from one source to each", () => {
    const r = new Recorder();
    const [a, b, c] = ["a", "b", "c"].map((name) => r.lane(0, 0, 0, name));
    r.flow(a, 0, 5, 0, 1, null);
    r.time(10);
    r.flow(b, 2, 5, a, 1, null);
    r.flow(c, 2, 5, a, 1, null);
    r.flow(c, 2, 6, a, 1, null); /* nobody saw it leave */
    const many = readRecording(r.close());
    assert.deepEqual([...flowsOf(many).source], [NO_EVENT, 0, 0, NO_EVENT]);
});
