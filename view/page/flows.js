/*
 * Messages: which FLOW events belong to one number, and which are on their way at a time.
 *
 *   event[flow]      which event it is; flows are in the order of the recording
 *   previous[flow]   the flow of the same message before it; NO_EVENT: none
 *   source[flow]     of one that arrives or passes: where it came from, the last of its message
 *                    that left or passed; NO_EVENT: it left here, or nobody knows
 *   last             a table, by number, of each message's last flow
 *   least[track]     the shortest time from a flow here to the next of its message; Infinity: none
 */
import { FLOW, ARRIVES, LEAVES, NO_EVENT, KIND_MASK, PART_SHIFT, timeOf } from "./recording.js";
import { pyramidOf, visitAtMost } from "./pyramid.js";

const WAY_MAX = 10000; /* flows of one message that are listed */

/* ---- numbers ------------------------------------------------------------------------------ */

/* Leaves the message's number in `out`: its lower and upper half. */
function readMessage(rec, event, out) {
    let at = rec.fields[event] + 1; /* the step is one octet */
    let low = 0;
    let high = 0;
    for (let shift = 0; ; shift += 7) {
        const octet = rec.octets[at++];
        const bits = octet & 0x7f;
        if (shift < 28) low |= bits << shift;
        else if (shift === 28) {
            low |= (bits & 0xf) << 28;
            high = bits >> 4;
        } else high |= bits << (shift - 32);
        if (octet < 0x80) break;
    }
    out[0] = low;
    out[1] = high;
}

function placeOf(low, high, mask) {
    let hash = Math.imul(low ^ Math.imul(high, 0x85ebca6b), 0x9e3779b1);
    hash ^= hash >>> 15;
    return Math.imul(hash, 0x2c1b3c6d) & mask;
}

function tableLength(count) {
    let length = 16;
    while (length < 2 * count) length *= 2;
    return length;
}

/* The place of a number in the table: its own, or the free one where it would be. */
function find(last, low, high, isNumber) {
    const mask = last.length - 1;
    let place = placeOf(low, high, mask);
    while (last[place] !== NO_EVENT && !isNumber(last[place], low, high)) place = (place + 1) & mask;
    return place;
}

/* ---- making ------------------------------------------------------------------------------- */

function sourceOf(flows, flow, step, previous, steps) {
    if (step === LEAVES || previous === NO_EVENT) return NO_EVENT;
    return steps[previous] === ARRIVES ? flows.source[previous] : previous;
}

function noteTime(rec, least, from, to) {
    const time = timeOf(rec, to) - timeOf(rec, from);
    const track = rec.track[from];
    if (time < least[track]) least[track] = time;
}

export function flowsOf(rec) {
    const count = rec.flowCount;
    const flows = {
        event: new Uint32Array(count),
        previous: new Uint32Array(count),
        source: new Uint32Array(count),
        last: new Uint32Array(tableLength(count)).fill(NO_EVENT),
        least: new Float64Array(rec.tracks.length).fill(Infinity),
    };
    const steps = new Uint8Array(count);
    const number = new Uint32Array(2);
    const numbers = new Uint32Array(2 * count);
    const isNumber = (flow, low, high) => numbers[2 * flow] === low && numbers[2 * flow + 1] === high;
    for (let i = 0, flow = 0; flow < count; i++) {
        if ((rec.what[i] & KIND_MASK) !== FLOW) continue;
        const step = rec.what[i] >> PART_SHIFT;
        readMessage(rec, i, number);
        numbers[2 * flow] = number[0];
        numbers[2 * flow + 1] = number[1];
        const place = find(flows.last, number[0], number[1], isNumber);
        const previous = flows.last[place];
        flows.event[flow] = i;
        steps[flow] = step;
        flows.previous[flow] = previous;
        flows.source[flow] = sourceOf(flows, flow, step, previous, steps);
        if (flows.source[flow] !== NO_EVENT) noteTime(rec, flows.least, flows.event[flows.source[flow]], i);
        flows.last[place] = flow++;
    }
    flows.sources = pyramidOf(flows.source);
    return flows;
}

/* ---- asking ------------------------------------------------------------------------------- */

/* The flow of a FLOW event. */
export function flowOf(flows, event) {
    return flowAfter(flows, event - 1);
}

/* The first flow after an event. */
export function flowAfter(flows, event) {
    let from = 0;
    let to = flows.event.length;
    while (from < to) {
        const middle = (from + to) >>> 1;
        if (flows.event[middle] > event) to = middle;
        else from = middle + 1;
    }
    return from;
}

/* The flows of a message, a BigInt, in order of time. */
export function wayOf(rec, flows, message) {
    const low = Number(message & 0xffffffffn) >>> 0;
    const high = Number(message >> 32n) >>> 0;
    const out = [];
    const number = new Uint32Array(2);
    const isNumber = (flow) => {
        readMessage(rec, flows.event[flow], number);
        return number[0] === low && number[1] === high;
    };
    let flow = flows.last[find(flows.last, low, high, isNumber)];
    for (; flow !== NO_EVENT && out.length < WAY_MAX; flow = flows.previous[flow])
        out.push(flow);
    return out.reverse();
}

/*
 * The parts of ways, from a lane to the next, that are there in some of [begin, end]: calls
 * visit(from, to), both events, for at most `most` of them. False: there are more.
 */
export function visitHops(rec, flows, begin, end, most, visit) {
    let left = most;
    return visitAtMost(flows.sources, flowAfter(flows, begin), flows.event.length,
                       flowAfter(flows, end) - 1, (flow) => {
        if (!left--) return false;
        visit(flows.event[flows.source[flow]], flows.event[flow]);
        return true;
    });
}
