/* Times, numbers and events in words. */
import { BEGIN, END, INSTANT, VALUE, FRAME, FLOW, PLACE, CLOSE } from "./recording.js";
import { DIRECTIONS, STEPS, isOperation, isPacket, operationOf, packetNumber } from "./recording.js";

const UNITS = [["s", 1e12], ["ms", 1e9], ["µs", 1e6], ["ns", 1e3], ["ps", 1]];

/* The unit in which a length of time reads best. */
function unitOf(ps) {
    return UNITS.find(([, size]) => Math.abs(ps) >= size) ?? UNITS[UNITS.length - 1];
}

/* With as many digits as tell apart times that are `grain` apart. */
export function timeText(ps, grain = 0) {
    const [name, size] = unitOf(ps);
    const digits = grain > 0 ? Math.ceil(Math.log10(size / grain)) : 3;
    const text = (ps / size).toFixed(Math.max(0, Math.min(12, digits)));
    return `${grain > 0 || !text.includes(".") ? text : text.replace(/\.?0+$/, "")} ${name}`;
}

/* "12 345 678 ps" */
export function exactTimeText(ps) {
    return `${numberText(ps)} ps`;
}

export function numberText(value) {
    return String(value).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

export function countText(count, what) {
    return `${numberText(count)} ${what}${count === 1 ? "" : "s"}`;
}

/* Short forms for little room: 1.2k, 3.4M. */
export function shortNumber(value) {
    const [size, letter] = [[1e9, "G"], [1e6, "M"], [1e3, "k"]].find(([least]) => Math.abs(value) >= least) ?? [1, ""];
    const text = value / size;
    return `${Number.isInteger(text) ? text : text.toFixed(1)}${letter}`;
}

export function messageText(message) {
    if (isPacket(message)) return `packet ${packetNumber(message)}`;
    if (!isOperation(message)) return `message ${message}`;
    const { group, operation, member } = operationOf(message);
    return `operation ${operation} of group ${group}, member ${member}`;
}

const KIND_WORDS = { [BEGIN]: "begin", [END]: "end", [INSTANT]: "instant", [VALUE]: "value",
                     [FRAME]: "frame", [PLACE]: "place", [CLOSE]: "close" };

export function kindText(e) {
    return e.kind === FLOW ? STEPS[e.step] : KIND_WORDS[e.kind];
}

/* What an event is, without its time and track. */
export function eventText(rec, e) {
    switch (e.kind) {
    case BEGIN: return `${rec.names[e.name]} begins`;
    case END: return `${rec.names[e.name]} ends`;
    case INSTANT: return rec.names[e.name];
    case VALUE: return `value ${numberText(e.value)}`;
    case FRAME: return `frame ${DIRECTIONS[e.direction]}, ${countText(e.octets.length, "octet")}`;
    case FLOW: return `${messageText(e.message)} ${STEPS[e.step]}${peerText(rec, e)}`;
    case PLACE: return `is at ${rec.names[e.name]}`;
    case CLOSE: return "the recording ends";
    }
    return "";
}

function peerText(rec, e) {
    if (!e.peer) return "";
    return `${e.step === 0 ? " for " : " from "}${rec.tracks[e.peer].path}`;
}

export function hexOf(octets) {
    return Array.from(octets, (octet) => octet.toString(16).padStart(2, "0")).join("");
}
