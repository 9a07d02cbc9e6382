/*
 * Reads the octets of a recording into columns: typed arrays with one item per event. The format and
 * its rules are those of sim/record/sim_recording.h; what is wrong is reported with the same octet
 * and code as `leat export` reports.
 *
 * Fields that few events are asked for stay in the octets, where eventOf() finds them.
 */

export const CLOCK = 0x01;
export const GROUP = 0x02;
export const LANE = 0x03;
export const SIGNAL = 0x04;
export const NAME = 0x05;
export const TIME = 0x06;
export const BEGIN = 0x10;
export const END = 0x11;
export const INSTANT = 0x12;
export const VALUE = 0x13;
export const FRAME = 0x14;
export const FLOW = 0x15;
export const PLACE = 0x16;
export const CLOSE = 0x1f;

/* A FLOW's step and a FRAME's direction share the octet of the kind. */
export const KIND_MASK = 0x1f;
export const PART_SHIFT = 5;
export const DIRECTIONS = ["", "in", "out"];
export const STEPS = ["leaves", "passes", "arrives"];
export const LEAVES = 0;
export const PASSES = 1;
export const ARRIVES = 2;

export const TWO_32 = 4294967296;
export const NO_EVENT = 0xffffffff;

const HEAD = [0x4c, 0x45, 0x41, 0x54, 0x52, 0x45, 0x43, 0x02]; /* "LEATREC", version 2 */
const CLOCKS_MAX = 255;
const TRACKS_MAX = 65535;
const NAMES_MAX = 65535;
const PATH_LEN_MAX = 127;
const SPANS_MAX = 8;
const WIDTH_MAX = 64;
const FRAME_LEN_MAX = 65535;
const STRINGS_LEN_MAX = 4 << 20;
const NUMBER_LEN_MAX = 10; /* 9 * 7 bits and one more */
const ALL = 2 ** 64; /* above every number: no limit */

const OCTETS_MAX = TWO_32 - 1; /* offsets have 32 bits */
const RECORDS_PER_PROGRESS = 1 << 19;

const TEXTS = {
    SHORT: "the recording ends here",
    MAGIC: "not a recording of this version",
    SYNTAX: "not in the form that recordings have",
    RANGE: "a number is outside its limits",
    TYPE: "an unknown kind of record, or a track of another kind",
    FIELD: "the lane cannot have this record",
    LENGTH: "a length is not allowed",
    FULL: "more of these than a recording may have",
};

/* ---- fields ------------------------------------------------------------------------------- */

/* The fields of one record, in order. The first fault and its place are kept; after it, every field
 * reads as 0. SHORT: octets are missing. */
class Fields {
    constructor(octets) {
        this.octets = octets;
        this.at = 0;
        this.fault = "";
        this.faultAt = 0;
        this.low = 0; /* the last number: its lower and upper 32 bits */
        this.high = 0;
    }

    refuse(code, at) {
        if (this.fault) return;
        this.fault = code;
        this.faultAt = at;
    }

    /* least..most, in the shortest form. Above 2^53 the result is rounded; low and high never are. */
    number(least, most) {
        const begin = this.at;
        const octet = this.octets[begin]; /* undefined at the end */
        if (octet < 0x80 && !this.fault) {
            this.low = octet;
            this.high = 0;
            this.at = begin + 1;
            if (octet >= least && octet <= most) return octet;
            this.refuse("RANGE", begin);
            return 0;
        }
        return this.longNumber(least, most);
    }

    longNumber(least, most) {
        const begin = this.at;
        let low = 0;
        let high = 0;
        for (let i = 0; !this.fault; i++) {
            if (this.at >= this.octets.length) {
                this.refuse("SHORT", this.octets.length);
                break;
            }
            const octet = this.octets[this.at];
            if ((i === NUMBER_LEN_MAX - 1 && octet > 1) || (i && !octet)) {
                this.refuse("SYNTAX", this.at);
                break;
            }
            this.at++;
            const bits = octet & 0x7f;
            if (i < 4) {
                low |= bits << (7 * i);
            } else if (i === 4) { /* astride the two halves */
                low |= (bits & 0xf) << 28;
                high = bits >> 4;
            } else {
                high |= bits << (7 * i - 32);
            }
            if (octet & 0x80) continue;
            this.low = low >>> 0;
            this.high = high >>> 0;
            const value = this.high * TWO_32 + this.low;
            if (value >= least && value <= most) return value;
            this.refuse("RANGE", begin);
        }
        return 0;
    }

    /* Where they begin. */
    take(length) {
        if (this.fault) return 0;
        if (this.octets.length - this.at < length) {
            this.refuse("SHORT", this.octets.length);
            return 0;
        }
        this.at += length;
        return this.at - length;
    }
}

/* ---- columns ------------------------------------------------------------------------------ */

function longer(column, capacity) {
    const copy = new column.constructor(capacity);
    copy.set(column);
    return copy;
}

class Columns {
    constructor(capacity) {
        this.capacity = capacity;
        this.count = 0;
        this.what = new Uint8Array(capacity);
        this.track = new Uint16Array(capacity);
        this.time = new Uint32Array(2 * capacity); /* lower and upper half, in turn */
        this.fields = new Uint32Array(capacity); /* the octet behind the track */
    }

    grow() {
        this.capacity = Math.ceil(this.capacity * 1.6) + 1024;
        this.what = longer(this.what, this.capacity);
        this.track = longer(this.track, this.capacity);
        this.time = longer(this.time, 2 * this.capacity);
        this.fields = longer(this.fields, this.capacity);
    }
}

/* ---- the reader --------------------------------------------------------------------------- */

class Reader {
    constructor(octets) {
        this.octets = octets;
        this.f = new Fields(octets);
        this.columns = new Columns(Math.ceil(octets.length / 5) + 64);
        this.clocks = [null]; /* index 0 of all three is unused */
        this.tracks = [{ kind: 0, parent: 0, clock: 0, link: 0, width: 0, name: "", path: "" }];
        this.names = [""];
        this.kinds = new Uint8Array(TRACKS_MAX + 1);
        this.depths = new Uint8Array(TRACKS_MAX + 1);
        this.stringsLength = 0;
        this.low = 0; /* the time */
        this.high = 0;
        this.records = 0;
        this.timed = false; /* a TIME precedes the next event */
        this.eventful = false;
        this.closed = false;
        this.begin = 0; /* of the record */
        this.flows = 0;
        this.damage = null;
    }

    /* A track of this kind. */
    trackOf(kind) {
        const f = this.f;
        const begin = f.at;
        const track = f.number(1, this.tracks.length - 1);
        if (!f.fault && this.kinds[track] !== kind) f.refuse("TYPE", begin);
        return track;
    }

    string() {
        const f = this.f;
        const begin = f.at;
        const length = f.number(1, PATH_LEN_MAX);
        if (!f.fault && length > STRINGS_LEN_MAX - this.stringsLength) f.refuse("FULL", begin);
        const at = f.take(length);
        let text = "";
        for (let i = at; i < at + length && !f.fault; i++) {
            const octet = this.octets[i];
            if (octet < 0x20 || octet > 0x7e) f.refuse("SYNTAX", i);
            text += String.fromCharCode(octet);
        }
        return text;
    }

    onClock() {
        const f = this.f;
        if (this.clocks.length > CLOCKS_MAX) f.refuse("FULL", this.begin);
        const num = f.number(1, ALL);
        const den = f.number(1, ALL);
        if (!f.fault) this.clocks.push({ num, den });
    }

    onTrack(kind) {
        const f = this.f;
        const track = { kind, parent: 0, clock: 0, link: 0, width: 0, name: "", path: "" };
        if (this.tracks.length > TRACKS_MAX) f.refuse("FULL", this.begin);
        const parentAt = f.at;
        track.parent = f.number(0, this.tracks.length - 1);
        if (track.parent && this.kinds[track.parent] !== GROUP) f.refuse("TYPE", parentAt);
        if (kind !== GROUP) track.clock = f.number(0, this.clocks.length - 1);
        if (kind === LANE) track.link = f.number(0, 65535);
        if (kind === SIGNAL) track.width = f.number(1, WIDTH_MAX);
        const stringAt = f.at;
        track.name = this.string();
        const above = this.tracks[track.parent].path;
        track.path = track.parent ? above + "." + track.name : track.name;
        if (track.parent && track.path.length > PATH_LEN_MAX) f.refuse("LENGTH", stringAt);
        if (f.fault) return;
        this.stringsLength += track.name.length;
        this.kinds[this.tracks.length] = kind;
        this.tracks.push(track);
    }

    onName() {
        const f = this.f;
        if (this.names.length > NAMES_MAX) f.refuse("FULL", this.begin);
        const text = this.string();
        if (f.fault) return;
        this.stringsLength += text.length;
        this.names.push(text);
    }

    /* The time never reaches 2^64 - 1, which is "never". */
    onTime() {
        const f = this.f;
        const begin = f.at;
        f.number(1, ALL);
        if (f.fault) return;
        const sum = this.low + f.low;
        const low = sum >>> 0;
        const high = this.high + f.high + (sum >= TWO_32 ? 1 : 0);
        if (high >= TWO_32 || (high === TWO_32 - 1 && low === TWO_32 - 1)) {
            f.refuse("RANGE", begin);
            return;
        }
        this.low = low;
        this.high = high;
        this.timed = true;
    }

    onBegin() {
        const f = this.f;
        const laneAt = f.at;
        const lane = this.trackOf(LANE);
        if (!f.fault && this.depths[lane] === SPANS_MAX) f.refuse("FULL", laneAt);
        const fields = f.at;
        f.number(1, this.names.length - 1);
        if (f.fault) return;
        this.depths[lane]++;
        this.put(BEGIN, lane, fields);
    }

    onEnd() {
        const f = this.f;
        const laneAt = f.at;
        const lane = this.trackOf(LANE);
        if (!f.fault && !this.depths[lane]) f.refuse("FIELD", laneAt);
        if (f.fault) return;
        this.depths[lane]--;
        this.put(END, lane, f.at);
    }

    onNamed(kind) {
        const f = this.f;
        const lane = this.trackOf(LANE);
        const fields = f.at;
        f.number(1, this.names.length - 1);
        if (!f.fault) this.put(kind, lane, fields);
    }

    onValue() {
        const f = this.f;
        const signal = this.trackOf(SIGNAL);
        const fields = f.at;
        f.number(0, ALL);
        if (f.fault) return;
        const width = this.tracks[signal].width;
        const fits = width > 32 ? width === WIDTH_MAX || f.high < 2 ** (width - 32)
                                : !f.high && f.low < 2 ** width;
        if (fits) this.put(VALUE, signal, fields);
        else f.refuse("RANGE", fields);
    }

    onFrame() {
        const f = this.f;
        const laneAt = f.at;
        const lane = this.trackOf(LANE);
        if (!f.fault && !this.tracks[lane].link) f.refuse("FIELD", laneAt);
        const fields = f.at;
        const direction = f.number(0, 2);
        f.take(f.number(0, FRAME_LEN_MAX));
        if (!f.fault) this.put(FRAME | (direction << PART_SHIFT), lane, fields);
    }

    onFlow() {
        const f = this.f;
        const lane = this.trackOf(LANE);
        const fields = f.at;
        const step = f.number(0, ARRIVES);
        f.number(0, ALL);
        const peerAt = f.at;
        const peer = f.number(0, this.tracks.length - 1);
        if (peer && this.kinds[peer] !== LANE) f.refuse("TYPE", peerAt);
        f.number(0, ALL);
        f.number(0, TWO_32);
        if (f.fault) return;
        this.flows++;
        this.put(FLOW | (step << PART_SHIFT), lane, fields);
    }

    onClose() {
        const f = this.f;
        f.number(this.records, this.records);
        if (f.fault) return;
        this.closed = true;
        this.put(CLOSE, 0, f.at);
    }

    put(what, track, fields) {
        const c = this.columns;
        if (c.count === c.capacity) c.grow();
        const i = c.count++;
        c.what[i] = what;
        c.track[i] = track;
        c.time[2 * i] = this.low;
        c.time[2 * i + 1] = this.high;
        c.fields[i] = fields;
    }

    /* The permitted places of each kind, so that a recording has one form only. */
    checkOrder(kind) {
        if (this.timed && kind < BEGIN) this.f.refuse("SYNTAX", this.begin);
        if (this.eventful && kind < NAME) this.f.refuse("SYNTAX", this.begin);
    }

    fieldsOf(kind) {
        switch (kind) {
        case CLOCK: return this.onClock();
        case GROUP:
        case LANE:
        case SIGNAL: return this.onTrack(kind);
        case NAME: return this.onName();
        case TIME: return this.onTime();
        case BEGIN: return this.onBegin();
        case END: return this.onEnd();
        case INSTANT:
        case PLACE: return this.onNamed(kind);
        case VALUE: return this.onValue();
        case FRAME: return this.onFrame();
        case FLOW: return this.onFlow();
        case CLOSE: return this.onClose();
        }
        return this.f.refuse("TYPE", this.begin);
    }

    /* Reads up to `most` records; false at the end, sound or not. */
    read(most) {
        const f = this.f;
        for (let i = 0; i < most; i++) {
            this.begin = f.at;
            if (f.at === this.octets.length) return this.stop(this.closed ? "" : "SHORT", f.at);
            if (this.closed) return this.stop("LENGTH", f.at);
            const kind = this.octets[f.at++];
            this.checkOrder(kind);
            this.fieldsOf(kind);
            if (f.fault) return this.stop(f.fault, f.faultAt);
            this.records++;
            if (kind >= TIME) this.eventful = true;
            if (kind !== TIME) this.timed = false;
        }
        return true;
    }

    readHead() {
        const octets = this.octets;
        if (octets.length > OCTETS_MAX) return this.stop("FULL", OCTETS_MAX);
        for (let i = 0; i < HEAD.length; i++) {
            if (i === octets.length) return this.stop("SHORT", i);
            if (octets[i] !== HEAD[i]) return this.stop("MAGIC", i);
        }
        this.f.at = HEAD.length;
        return true;
    }

    stop(code, octet) {
        if (code) this.damage = { code, octet, text: TEXTS[code] };
        return false;
    }
}

/*
 * All of a recording that can be read; `damage` says where reading ended and why, null: nowhere.
 * onProgress(share) is called with 0 to 1.
 */
export function readRecording(octets, onProgress) {
    const reader = new Reader(octets);
    let more = reader.readHead();
    while (more) {
        more = reader.read(RECORDS_PER_PROGRESS);
        if (onProgress) onProgress(octets.length ? reader.f.at / octets.length : 1);
    }
    const { count, what, track, time, fields } = reader.columns;
    return {
        octets,
        clocks: reader.clocks,
        tracks: reader.tracks,
        names: reader.names,
        count,
        what: what.subarray(0, count),
        track: track.subarray(0, count),
        time: time.subarray(0, 2 * count),
        fields: fields.subarray(0, count),
        flowCount: reader.flows,
        end: reader.high * TWO_32 + reader.low,
        damage: reader.damage,
    };
}

/* ---- one event ---------------------------------------------------------------------------- */

/* Exact up to 2^53 ps, which is two and a half hours. */
export function timeOf(rec, event) {
    return rec.time[2 * event + 1] * TWO_32 + rec.time[2 * event];
}

export function exactTimeOf(rec, event) {
    return (BigInt(rec.time[2 * event + 1]) << 32n) | BigInt(rec.time[2 * event]);
}

export function kindOf(rec, event) {
    return rec.what[event] & KIND_MASK;
}

export function partOf(rec, event) {
    return rec.what[event] >> PART_SHIFT;
}

/* The number at an offset, rounded above 2^53. */
function numberAt(octets, at) {
    let scale = 1;
    let value = 0;
    for (;;) {
        const octet = octets[at++];
        value += (octet & 0x7f) * scale;
        if (octet < 0x80) return value;
        scale *= 128;
    }
}

/* What begins the fields of an event: a name, or a value. */
export function firstField(rec, event) {
    return numberAt(rec.octets, rec.fields[event]);
}

export function frameLength(rec, event) {
    return numberAt(rec.octets, rec.fields[event] + 1); /* the direction is one octet */
}

/* Octets of a FLOW: behind its step, message and peer. */
export function flowLength(rec, event) {
    let at = rec.fields[event] + 1;
    for (let numbers = 0; numbers < 2; at++) numbers += rec.octets[at] < 0x80 ? 1 : 0;
    return numberAt(rec.octets, at);
}

function exact(f) {
    return (BigInt(f.high) << 32n) | BigInt(f.low);
}

/* All fields of an event, exactly: numbers that may have 64 bits are BigInts. An END's name is its
 * span's, which the lanes know. */
export function eventOf(rec, event) {
    const kind = kindOf(rec, event);
    const out = { event, kind, track: rec.track[event], at: exactTimeOf(rec, event) };
    const f = new Fields(rec.octets);
    f.at = rec.fields[event];
    if (kind === BEGIN || kind === INSTANT || kind === PLACE) out.name = f.number(0, ALL);
    if (kind === VALUE) {
        f.number(0, ALL);
        out.value = exact(f);
    }
    if (kind === FRAME) {
        out.direction = f.number(0, ALL);
        const length = f.number(0, ALL);
        out.octets = rec.octets.subarray(f.at, f.at + length);
    }
    if (kind === FLOW) {
        out.step = f.number(0, ALL);
        f.number(0, ALL);
        out.message = exact(f);
        out.peer = f.number(0, ALL);
        f.number(0, ALL);
        out.length = exact(f);
        const tag = f.number(0, ALL);
        out.tag = tag ? (tag - 1) | 0 : null; /* with its sign */
    }
    return out;
}

/* Packets and cells of a network have numbers from 2^34 on, */
const FIRST_PACKET = 1n << 34n;

export function isPacket(message) {
    return message >= FIRST_PACKET && message >> 62n === 0n;
}

export function packetNumber(message) {
    return message - FIRST_PACKET;
}

export function messageOfPacket(number) {
    return number + FIRST_PACKET;
}

/* collective operations from 2^62 on. */
export function isOperation(message) {
    return message >> 62n === 1n;
}

export function operationOf(message) {
    return {
        group: Number((message >> 44n) & 0x3ffffn),
        operation: Number((message >> 12n) & 0xffffffffn),
        member: Number(message & 0xfffn),
    };
}
