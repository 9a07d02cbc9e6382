/* Writes recordings for tests, by the picture in sim/record/sim_recording.h alone. */

const HEAD = Buffer.from("LEATREC\x02", "latin1");

export class Recorder {
    constructor(capacity = 1 << 16) {
        this.octets = Buffer.alloc(capacity);
        this.length = HEAD.copy(this.octets);
        this.records = 0;
        this.tracks = 0;
        this.names = 0;
    }

    octet(value) {
        if (this.length === this.octets.length) this.octets = Buffer.concat([this.octets, Buffer.alloc(this.length)]);
        this.octets[this.length++] = value;
    }

    number(value) {
        if (typeof value === "bigint") return this.bigNumber(value);
        for (; value >= 0x80; value = Math.floor(value / 128)) this.octet((value % 128) | 0x80);
        this.octet(value);
    }

    bigNumber(value) {
        for (; value >= 0x80n; value >>= 7n) this.octet(Number(value & 0x7fn) | 0x80);
        this.octet(Number(value));
    }

    string(text) {
        this.octet(text.length);
        for (const octet of Buffer.from(text, "latin1")) this.octet(octet);
    }

    record(kind, ...fields) {
        this.octet(kind);
        for (const field of fields) {
            if (typeof field === "string") this.string(field);
            else if (Buffer.isBuffer(field)) field.forEach((octet) => this.octet(octet));
            else this.number(field);
        }
        this.records++;
    }

    clock(num, den) { this.record(1, num, den); }
    group(parent, name) { this.record(2, parent, name); return ++this.tracks; }
    lane(parent, clock, link, name) { this.record(3, parent, clock, link, name); return ++this.tracks; }
    signal(parent, clock, width, name) { this.record(4, parent, clock, width, name); return ++this.tracks; }
    name(text) { this.record(5, text); return ++this.names; }
    time(ps) { if (ps) this.record(6, ps); }
    begin(lane, name) { this.record(0x10, lane, name); }
    end(lane) { this.record(0x11, lane); }
    instant(lane, name) { this.record(0x12, lane, name); }
    value(signal, value) { this.record(0x13, signal, value); }
    frame(lane, direction, octets) { this.record(0x14, lane, direction, octets.length, octets); }
    flow(lane, step, message, peer, length, tag) {
        this.record(0x15, lane, step, message, peer, length, tag === null ? 0 : tag + 1);
    }
    place(lane, name) { this.record(0x16, lane, name); }
    close() {
        this.record(0x1f, this.records);
        return this.octets.subarray(0, this.length);
    }
}

/* The same numbers every time, evenly spread: of [0, limit). */
export function randomOf(seed) {
    let state = seed >>> 0;
    return (limit) => {
        state = (state + 0x6d2b79f5) >>> 0;
        let mixed = Math.imul(state ^ (state >>> 15), state | 1);
        mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
        return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
    };
}

/* Ranks that compute and send round, through ports with queues: at least `events` events. */
export function busyNetwork(events, ranks) {
    const r = new Recorder(1 << 26);
    const random = randomOf(1);
    r.clock(50000, 1);
    const program = r.group(0, "program");
    const network = r.group(0, "network");
    const lanes = [];
    const queues = [];
    for (let i = 0; i < ranks; i++) lanes.push(r.lane(program, 0, 0, `rank ${i}`));
    for (let i = 0; i < ranks; i++) queues.push(r.signal(network, 1, 32, `queue${i}`));
    const names = ["computing", "MPI_Send", "MPI_Recv"].map((name) => r.name(name));
    const places = lanes.map((lane, i) => r.name(`port${i}`));
    lanes.forEach((lane, i) => r.place(lane, places[i]));
    const sent = [];
    let message = 0;
    for (let count = ranks; count < events; count += 6) {
        const rank = random(ranks);
        r.time(1 + random(1000));
        r.begin(lanes[rank], names[random(3)]);
        r.flow(lanes[rank], 0, message, lanes[(rank + 1) % ranks], 64, 1);
        sent.push([message++, rank]);
        r.value(queues[rank], random(40));
        r.time(1 + random(1000));
        if (sent.length > 20) {
            const [number, from] = sent.shift();
            r.flow(lanes[(from + 1) % ranks], 2, number, lanes[from], 64, 1);
        } else r.instant(lanes[rank], names[0]);
        r.end(lanes[rank]);
        r.value(queues[rank], random(40));
    }
    return r.close();
}
