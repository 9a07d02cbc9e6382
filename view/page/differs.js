/* Where two recordings differ: for each track of the same path, its first event that is another. */
import { BEGIN, END, INSTANT, PLACE, FLOW, FRAME, VALUE, GROUP } from "./recording.js";
import { eventOf, firstField, kindOf, timeOf } from "./recording.js";
import { timeAt } from "./lanes.js";

function sameOctets(a, b) {
    return a.length === b.length && a.every((octet, i) => octet === b[i]);
}

/* Names and peers have other numbers in another recording: their texts are compared. */
function sameEvent(a, eventA, b, eventB) {
    if (a.rec.what[eventA] !== b.rec.what[eventB] || timeOf(a.rec, eventA) !== timeOf(b.rec, eventB)) return false;
    const kind = kindOf(a.rec, eventA);
    if (kind === END) return true; /* the span's BEGIN was compared */
    if (kind === BEGIN || kind === INSTANT || kind === PLACE)
        return a.rec.names[firstField(a.rec, eventA)] === b.rec.names[firstField(b.rec, eventB)];
    const [x, y] = [eventOf(a.rec, eventA), eventOf(b.rec, eventB)];
    if (kind === VALUE) return x.value === y.value;
    if (kind === FRAME) return sameOctets(x.octets, y.octets);
    if (kind === FLOW)
        return x.message === y.message && x.length === y.length && x.tag === y.tag &&
               a.rec.tracks[x.peer].path === b.rec.tracks[y.peer].path;
    return true;
}

/* The time of the first difference; undefined: there is none. */
export function firstDifference(a, trackA, b, trackB) {
    const [beginA, endA] = [a.lanes.first[trackA], a.lanes.first[trackA + 1]];
    const [beginB, endB] = [b.lanes.first[trackB], b.lanes.first[trackB + 1]];
    const count = Math.min(endA - beginA, endB - beginB);
    for (let i = 0; i < count; i++) {
        const [eventA, eventB] = [a.lanes.event[beginA + i], b.lanes.event[beginB + i]];
        if (!sameEvent(a, eventA, b, eventB)) return Math.min(timeOf(a.rec, eventA), timeOf(b.rec, eventB));
    }
    if (endA - beginA > count) return timeAt(a.lanes, beginA + count);
    if (endB - beginB > count) return timeAt(b.lanes, beginB + count);
    return undefined;
}

/* Calls found(path, trackA, trackB, time) for each track that differs; a track is 0 where there is
 * none. Works a track at a time, so that the page stays alive; done() at the end. */
export function compare(a, b, found, done) {
    const inB = new Map(b.rec.tracks.map((track, t) => [track.path, t]));
    const inA = new Set(a.rec.tracks.map((track) => track.path));
    let track = 1;
    const next = () => {
        const until = performance.now() + 20;
        for (; track < a.rec.tracks.length && performance.now() < until; track++) {
            const { path, kind } = a.rec.tracks[track];
            const other = inB.get(path);
            if (kind === GROUP && other) continue;
            const time = other ? firstDifference(a, track, b, other) : 0;
            if (time !== undefined) found(path, track, other ?? 0, time);
        }
        if (track < a.rec.tracks.length) {
            setTimeout(next);
            return;
        }
        b.rec.tracks.forEach(({ path }, t) => { if (t && !inA.has(path)) found(path, 0, t, 0); });
        done();
    };
    next();
}
