/*
 * A network of switches as leat draws it: routers, terminals and wires with places, and which track
 * of the recording is which of them. Where a packet is between two of its hops: on its wire for as
 * long as the quickest packet needed for it, then waiting in the router at its end.
 *
 *   drawing    places as JSON (tool/fabric/fabric_draw.h), or null: then routers are in a circle
 *   tracks     "wires" holds a lane for each wire: "0>1", "0>1 #2", "1>port3"; "port3" is a terminal
 */
import { GROUP, LANE, SIGNAL } from "./recording.js";
import { firstAfter, amountUpTo } from "./lanes.js";

const PITCH = 60; /* between routers in a circle */
const NAME = /^(\d{1,5})>(port)?(\d{1,5})(?: #(\d+))?$/; /* a recording has 65535 tracks at most */

/* The group of the wires, its "network" above it. */
export function wireGroupOf(rec) {
    return rec.tracks.findIndex(({ kind, name }) => kind === GROUP && name === "wires");
}

function parseDrawing(text) {
    try {
        const { left, top, width, height, routers, terminals, senders, wires } = JSON.parse(text);
        return { left, top, width, height, routers, terminals, senders, wires };
    } catch {
        return null;
    }
}

/* From the names of the lanes alone. */
function circleOf(ends) {
    const count = 1 + Math.max(0, ...ends.map(({ a, b, isPort }) => Math.max(a, isPort ? 0 : b)));
    const radius = Math.max(PITCH, (PITCH * count) / (2 * Math.PI));
    const routers = [];
    const terminals = [];
    const pointAt = (i, far) => [far * Math.cos((2 * Math.PI * i) / count), far * Math.sin((2 * Math.PI * i) / count)];
    for (let r = 0; r < count; r++) routers.push(...pointAt(r, radius));
    const found = new Map();
    const ofRouter = new Map();
    for (const { a, b, isPort } of ends) {
        if (isPort) {
            const nth = ofRouter.get(a) ?? 0;
            ofRouter.set(a, nth + 1);
            [terminals[3 * b], terminals[3 * b + 1]] = pointAt(a + nth * 0.3, radius + PITCH * 0.7);
            terminals[3 * b + 2] = a;
        } else if (!found.has(`${Math.min(a, b)}-${Math.max(a, b)}`)) {
            found.set(`${Math.min(a, b)}-${Math.max(a, b)}`, [Math.min(a, b), Math.max(a, b)]);
        }
    }
    const wires = [...found.values()].flatMap(([a, b]) => [a, b, (routers[2 * a] + routers[2 * b]) / 2, (routers[2 * a + 1] + routers[2 * b + 1]) / 2]);
    const size = 2 * (radius + 1.4 * PITCH);
    return { left: -size / 2, top: -size / 2, width: size, height: size, routers, terminals, senders: [], wires };
}

function endsOf(rec, group) {
    return rec.tracks.flatMap(({ kind, parent, name }, track) => {
        const found = kind === LANE && group > 0 && parent === group ? name.match(NAME) : null;
        return found ? [{ track, a: Number(found[1]), isPort: Boolean(found[2]), b: Number(found[3]), nth: Number(found[4] ?? 1) }] : [];
    });
}

/* null: there is nothing that would be drawn by its wires. */
export function wiresOf({ rec, lanes, flows, drawing }) {
    const group = wireGroupOf(rec);
    const ends = endsOf(rec, group);
    const places = (drawing && parseDrawing(drawing)) || (ends.length ? circleOf(ends) : null);
    return places ? new Wires(rec, lanes, flows, places, ends, group) : null;
}

class Wires {
    constructor(rec, lanes, flows, places, ends, group) {
        Object.assign(this, { rec, lanes, flows, places });
        this.routers = places.routers.length / 2;
        this.hasHops = ends.length > 0;
        this.within = group > 0 ? rec.tracks[rec.tracks[group].parent].path : "network";
        this.kindOf = new Uint8Array(rec.tracks.length); /* of a track: 1 wire, 2 wire to a terminal, 3 terminal */
        this.wireOf = new Int32Array(rec.tracks.length).fill(-1); /* of a wire's lane: which drawn wire */
        this.isBack = new Uint8Array(rec.tracks.length); /* from b to a */
        this.fromOf = new Int32Array(rec.tracks.length).fill(-1); /* the router that it begins at */
        this.toOf = new Int32Array(rec.tracks.length).fill(-1); /* the router or terminal that it ends at */
        this.lanesOf = []; /* of each drawn wire: its lanes */
        this.join(ends);
        this.findTerminals();
        this.width = this.widthOf(group);
    }

    join(ends) {
        const { wires } = this.places;
        const between = new Map();
        for (let w = 0; 4 * w < wires.length; w++) {
            const key = `${wires[4 * w]}-${wires[4 * w + 1]}`;
            if (!between.has(key)) between.set(key, []);
            between.get(key).push(w);
            this.lanesOf.push([]);
        }
        for (const { track, a, isPort, b, nth } of ends) {
            this.kindOf[track] = isPort ? 2 : 1;
            this.fromOf[track] = a;
            this.toOf[track] = b;
            if (isPort) continue;
            const wire = between.get(`${Math.min(a, b)}-${Math.max(a, b)}`)?.[nth - 1] ?? -1;
            this.wireOf[track] = wire;
            this.isBack[track] = a > b ? 1 : 0;
            if (wire >= 0) this.lanesOf[wire].push(track);
        }
    }

    findTerminals() {
        this.laneOfTerminal = new Map();
        this.rec.tracks.forEach(({ kind, path }, track) => {
            const found = kind === LANE && path.match(/^(.*)\.port(\d+)$/);
            if (!found || found[1] !== this.within || 3 * Number(found[2]) >= this.places.terminals.length) return;
            this.kindOf[track] = 3;
            this.toOf[track] = Number(found[2]);
            this.laneOfTerminal.set(Number(found[2]), track);
        });
    }

    /* Octets that a wire takes in a cycle. */
    widthOf(group) {
        const { rec, lanes } = this;
        const track = rec.tracks.findIndex(({ kind, parent, name }) => kind === SIGNAL && parent === group && name === "width");
        return track > 0 && lanes.first[track + 1] > lanes.first[track] ? lanes.amount[lanes.first[track]] : 0;
    }

    /* The share of a stretch of time in which a wire's lane was busy. */
    useOf(track, from, to) {
        const { rec, lanes } = this;
        const { num, den } = rec.clocks[rec.tracks[track].clock] ?? { num: 1, den: 1 };
        const octets = amountUpTo(rec, lanes, track, firstAfter(lanes, track, to), to) - amountUpTo(rec, lanes, track, firstAfter(lanes, track, from), from);
        return octets && this.width && to > from ? Math.min(1, (octets * num) / (den * this.width * (to - from))) : 0;
    }

    /* Places, in pixels of the drawing. */
    router(number) {
        return [this.places.routers[2 * number], this.places.routers[2 * number + 1]];
    }

    terminal(number, sends) {
        const { terminals, senders } = this.places;
        const row = sends && senders.length ? senders : terminals;
        return 3 * number < row.length ? [row[3 * number], row[3 * number + 1]] : null;
    }

    /* Along a wire, which bends through its middle: at `share` of it. */
    along(wire, share) {
        const { wires } = this.places;
        const [ax, ay] = this.router(wires[4 * wire]);
        const [bx, by] = this.router(wires[4 * wire + 1]);
        const cx = 2 * wires[4 * wire + 2] - (ax + bx) / 2;
        const cy = 2 * wires[4 * wire + 3] - (ay + by) / 2;
        const rest = 1 - share;
        return [rest * rest * ax + 2 * rest * share * cx + share * share * bx, rest * rest * ay + 2 * rest * share * cy + share * share * by];
    }

    /* Of a packet that was last seen at one track, and is seen next at another: { x, y, waitsAt }, a
     * router or -1. null: it is not in the drawing. */
    placeOf(from, to, passed) {
        const kind = this.kindOf[from];
        const least = this.flows.least[from];
        const share = least > 0 && least < Infinity ? Math.min(1, passed / least) : 1;
        if (kind === 1) return this.onWire(from, share);
        if (kind === 2) return this.between(this.router(this.fromOf[from]), this.terminal(this.toOf[from], false), share, -1);
        if (kind !== 3) return null;
        const router = this.kindOf[to] === 1 || this.kindOf[to] === 2 ? this.fromOf[to] : -1;
        const begin = this.terminal(this.toOf[from], true);
        if (router >= 0) return this.between(begin, this.router(router), share, router);
        return this.kindOf[to] === 3 ? this.between(begin, this.terminal(this.toOf[to], false), share, -1) : null;
    }

    onWire(track, share) {
        const wire = this.wireOf[track];
        const end = this.toOf[track];
        const back = this.isBack[track];
        if (wire < 0) return this.between(this.router(this.fromOf[track]), this.router(end), share, end);
        const [x, y] = this.along(wire, back ? 1 - share : share);
        return { x, y, waitsAt: share < 1 ? -1 : end };
    }

    between(begin, end, share, router) {
        if (!begin || !end) return null;
        return { x: begin[0] + share * (end[0] - begin[0]), y: begin[1] + share * (end[1] - begin[1]), waitsAt: share < 1 ? -1 : router };
    }
}
