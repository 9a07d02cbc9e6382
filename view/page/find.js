/* Search: a message or a packet by its number, tracks by a part of their path, spans and instants by a part of
 * their name, from the play time on. */
import { BEGIN, INSTANT, PLACE, NO_EVENT, KIND_MASK } from "./recording.js";
import { firstField, messageOfPacket, timeOf } from "./recording.js";
import { eventAfter } from "./lanes.js";
import { wayOf } from "./flows.js";
import { messageText, timeText } from "./words.js";

const TRACKS_MAX = 20;
const NAMES_MAX = 20;

/* The next event with one of these names, from `first` on, then from the beginning. */
function nextNamed(rec, wanted, first) {
    for (let i = 0; i < rec.count; i++) {
        const event = (first + i) % rec.count;
        const kind = rec.what[event] & KIND_MASK;
        if ((kind === BEGIN || kind === INSTANT || kind === PLACE) && wanted[firstField(rec, event)]) return event;
    }
    return NO_EVENT;
}

function findMessage({ rec, flows }, text) {
    const found = text.match(/^(message\s*|packet\s*)?(\d{1,20})$/i);
    if (!found || BigInt(found[2]) >= 1n << 64n) return [];
    const number = BigInt(found[2]);
    const what = found[1]?.trim().toLowerCase();
    const messages = [...(what === "packet" ? [] : [number]), ...(what === "message" ? [] : [messageOfPacket(number)])];
    return messages.filter((message) => message < 1n << 64n).flatMap((message) => {
        const way = wayOf(rec, flows, message);
        if (!way.length) return [];
        const event = flows.event[way[0]];
        return [{ text: `${messageText(message)}, ${timeText(timeOf(rec, event))}`, event }];
    });
}

function findTracks({ rec }, text) {
    const out = [];
    for (let track = 1; track < rec.tracks.length && out.length < TRACKS_MAX; track++)
        if (rec.tracks[track].path.toLowerCase().includes(text)) out.push({ text: rec.tracks[track].path, track });
    return out;
}

function findNames({ rec }, text, now) {
    const names = rec.names.map((name, i) => i).filter((i) => i && rec.names[i].toLowerCase().includes(text)).slice(0, NAMES_MAX);
    if (!names.length) return [];
    const wanted = new Uint8Array(rec.names.length);
    for (const name of names) wanted[name] = 1;
    const event = nextNamed(rec, wanted, eventAfter(rec, now));
    if (event === NO_EVENT) return [];
    return [{ text: `next “${rec.names[firstField(rec, event)]}”, ${timeText(timeOf(rec, event))}, ${rec.tracks[rec.track[event]].path}`, event }];
}

/* Places to go to: { text, event } or { text, track }. */
export function find(opened, text, now) {
    const wanted = text.trim().toLowerCase();
    if (!wanted) return [];
    return [...findMessage(opened, wanted), ...findNames(opened, wanted, now), ...findTracks(opened, wanted)];
}
