/*
 * The events of each track, and what a view of a track needs: which spans are open, how busy a lane
 * was, how many events there were. All of it for any stretch of time in some dozens of steps, so
 * that a recording of ten million events is drawn as quickly as one of a hundred.
 *
 * An item is the place of an event among those of all tracks, sorted by track, then time.
 *
 *   first[track]..first[track + 1]   the items of a track
 *   event[item]                      which event it is
 *   time[item]                       when it is: beside each other, as a search needs them
 *   link[item]                       of a BEGIN: the item of its END; of others: of the BEGIN that
 *                                    is open after it; NO_EVENT: none
 *   amount[item]                     of a signal: the value; of a lane with spans: picoseconds in
 *                                    spans up to here; of another lane: octets of frames, and of
 *                                    packets that pass, up to here
 */
import { BEGIN, END, VALUE, FRAME, FLOW, PASSES, LANE, SIGNAL, NO_EVENT, KIND_MASK } from "./recording.js";
import { firstField, flowLength, frameLength, kindOf, partOf, timeOf, eventOf } from "./recording.js";
import { pyramidOf, extremesOf } from "./pyramid.js";

const SPANS_MAX = 8;

/* ---- making ------------------------------------------------------------------------------- */

function countOfTracks(rec) {
    const first = new Uint32Array(rec.tracks.length + 1);
    for (let i = 0; i < rec.count; i++) first[rec.track[i] + 1]++;
    for (let t = 0; t < rec.tracks.length; t++) first[t + 1] += first[t];
    return first;
}

/* What is known of each track up to the event at hand. All events are gone through once, in their
 * order: what one track needs of them would be spread over all the memory. */
class Maker {
    constructor(rec) {
        const count = rec.tracks.length;
        this.rec = rec;
        this.lanes = {
            first: countOfTracks(rec),
            event: new Uint32Array(rec.count),
            time: new Float64Array(rec.count),
            link: new Uint32Array(rec.count),
            amount: new Float64Array(rec.count),
            hasSpans: new Uint8Array(count),
            values: {}, /* of signals: pyramids */
        };
        this.next = this.lanes.first.slice();
        this.open = new Uint32Array(count * SPANS_MAX);
        this.depth = new Uint8Array(count);
        this.sum = new Float64Array(count);
        this.since = new Float64Array(count);
    }

    /* Counts the time in spans, and links BEGINs and ENDs. */
    onLane(kind, track, item) {
        const { lanes, depth } = this;
        const time = lanes.time[item];
        const stack = track * SPANS_MAX;
        if (depth[track]) this.sum[track] += time - this.since[track];
        this.since[track] = time;
        lanes.amount[item] = this.sum[track];
        if (kind === BEGIN) {
            lanes.hasSpans[track] = 1;
            lanes.link[item] = NO_EVENT; /* until it ends */
            this.open[stack + depth[track]++] = item;
            return;
        }
        if (kind === END) lanes.link[this.open[stack + --depth[track]]] = item;
        lanes.link[item] = depth[track] ? this.open[stack + depth[track] - 1] : NO_EVENT;
    }

    readAll() {
        const { rec, lanes, next } = this;
        for (let event = 0; event < rec.count; event++) {
            const track = rec.track[event];
            const item = next[track]++;
            const kind = rec.what[event] & KIND_MASK;
            lanes.event[item] = event;
            lanes.time[item] = timeOf(rec, event);
            if (kind === VALUE) lanes.amount[item] = firstField(rec, event);
            else this.onLane(kind, track, item);
        }
    }

    /* A lane without spans: octets of its frames, and of packets that pass. */
    sumOctets(track) {
        const { rec, lanes } = this;
        let sum = 0;
        for (let item = lanes.first[track]; item < lanes.first[track + 1]; item++) {
            const event = lanes.event[item];
            const kind = kindOf(rec, event);
            if (kind === FRAME) sum += frameLength(rec, event);
            else if (kind === FLOW && !rec.tracks[track].link && partOf(rec, event) === PASSES) sum += flowLength(rec, event);
            lanes.amount[item] = sum;
        }
    }
}

export function lanesOf(rec) {
    const maker = new Maker(rec);
    const { lanes } = maker;
    maker.readAll();
    rec.tracks.forEach(({ kind }, t) => {
        if (kind === SIGNAL) lanes.values[t] = pyramidOf(lanes.amount.subarray(lanes.first[t], lanes.first[t + 1]));
        if (kind === LANE && !lanes.hasSpans[t]) maker.sumOctets(t);
    });
    return lanes;
}

/* ---- asking ------------------------------------------------------------------------------- */

export function timeAt(lanes, item) {
    return lanes.time[item];
}

/* The first item of [from, to) that is later than `time`; `to`: none. */
function itemAfter(lanes, from, to, time) {
    while (from < to) {
        const middle = (from + to) >>> 1;
        if (timeAt(lanes, middle) > time) to = middle;
        else from = middle + 1;
    }
    return from;
}

export function firstAfter(lanes, track, time) {
    return itemAfter(lanes, lanes.first[track], lanes.first[track + 1], time);
}

/* The same, from a near item before it on. */
export function nextAfter(lanes, track, item, time) {
    const end = lanes.first[track + 1];
    let from = item;
    let step = 1;
    while (from + step < end && timeAt(lanes, from + step) <= time) {
        from += step;
        step *= 2;
    }
    return itemAfter(lanes, from, Math.min(end, from + step), time);
}

/* The event after which the recording is later than `time`. */
export function eventAfter(rec, time) {
    let from = 0;
    let to = rec.count;
    while (from < to) {
        const middle = (from + to) >>> 1;
        if (timeOf(rec, middle) > time) to = middle;
        else from = middle + 1;
    }
    return from;
}

/* The BEGIN of the innermost span that is open after an item; NO_EVENT: none. */
export function openAfter(rec, lanes, item) {
    return kindOf(rec, lanes.event[item]) === BEGIN ? item : lanes.link[item];
}

function openBefore(rec, lanes, track, item) {
    return item > lanes.first[track] ? openAfter(rec, lanes, item - 1) : NO_EVENT;
}

/* The spans around the place before `item`, the outermost first. */
export function spansBefore(rec, lanes, track, item) {
    const out = [];
    let open = openBefore(rec, lanes, track, item);
    while (open !== NO_EVENT) {
        out.unshift(open);
        open = openBefore(rec, lanes, track, open);
    }
    return out;
}

/* The BEGIN that an END closes. */
export function beginOf(rec, lanes, end) {
    return openBefore(rec, lanes, rec.track[lanes.event[end]], end);
}

/* Where an event is among the items; the events of a track are in order there. */
export function itemOf(rec, lanes, event) {
    let from = lanes.first[rec.track[event]];
    let to = lanes.first[rec.track[event] + 1];
    while (from < to) {
        const middle = (from + to) >>> 1;
        if (lanes.event[middle] < event) from = middle + 1;
        else to = middle;
    }
    return from;
}

/* All fields, an END's name too. */
export function wholeEvent(rec, lanes, event) {
    const out = eventOf(rec, event);
    if (out.kind === END) {
        const begin = beginOf(rec, lanes, itemOf(rec, lanes, event));
        out.name = firstField(rec, lanes.event[begin]);
    }
    return out;
}

/* The sum of a lane's amounts (time in spans, or octets) up to `time`, whose next item is `item`. */
export function amountUpTo(rec, lanes, track, item, time) {
    if (item === lanes.first[track]) return 0;
    const before = lanes.amount[item - 1];
    if (!lanes.hasSpans[track] || openAfter(rec, lanes, item - 1) === NO_EVENT) return before;
    return before + (time - timeAt(lanes, item - 1));
}

/* How much of [from, to) a lane was in spans, 0 to 1. */
export function busyShare(rec, lanes, track, from, to) {
    if (!(to > from)) return 0;
    const last = firstAfter(lanes, track, to);
    const first = firstAfter(lanes, track, from);
    const busy = amountUpTo(rec, lanes, track, last, to) - amountUpTo(rec, lanes, track, first, from);
    return Math.min(1, busy / (to - from));
}

/* A signal's value after the item before `item`; NaN: it has none yet. */
export function valueBefore(lanes, track, item) {
    return item > lanes.first[track] ? lanes.amount[item - 1] : NaN;
}

export function valuesBetween(lanes, track, from, to) {
    const begin = lanes.first[track];
    return extremesOf(lanes.values[track], from - begin, to - begin);
}

/* Of a whole signal. */
export function valueRange(lanes, track) {
    const { row, levels } = lanes.values[track];
    if (!row.length) return { low: 0, high: 1 };
    const top = levels.length ? levels[levels.length - 1] : { least: row, greatest: row };
    return { low: top.least[0], high: top.greatest[0] };
}
