/*
 * The network that a recording shows, found in the names of its tracks: what belongs to one place (a
 * port's cells, its queue, what its host writes and reads), which places are one ring or network,
 * and where to draw them. Places of a network whose wires are known are where its drawing has them
 * (wires.js); of others the recording tells where packets are seen, not which way is between.
 */
import { GROUP, LANE, SIGNAL, PLACE } from "./recording.js";
import { kindOf, firstField } from "./recording.js";
import { wireGroupOf } from "./wires.js";

const LINK_ATON = 148; /* packets of rings */
const OF_PORTS = new Set(["port", "write", "read", "queue", "variable"]);
const OF_ROUTERS = new Set(["router", "bindings"]);
const OF_HALVES = new Set(["half", "tables"]);
const OF_TASKS = new Set(["rank", "task", "inbox"]);
const CIRCLE_MAX = 96; /* more places than this are a field of squares */
const LABEL_WIDTH = 76; /* beside a circle */
const PLACES_LOOKED_AT = 64; /* events of a task's lane, for its first place */

/* "network.ring.port3": in "network.ring", what "port", number 3. */
function partsOf(path) {
    const dot = path.lastIndexOf(".");
    const name = path.slice(dot + 1);
    const [, what, number] = name.match(/^(.*?) ?(\d+)$/) ?? [null, name, ""];
    return { within: dot < 0 ? "" : path.slice(0, dot), what, number };
}

/* "port3", where a task's lane is first. */
function placeName(rec, lanes, track) {
    const end = Math.min(lanes.first[track + 1], lanes.first[track] + PLACES_LOOKED_AT);
    for (let item = lanes.first[track]; item < end; item++)
        if (kindOf(rec, lanes.event[item]) === PLACE) return rec.names[firstField(rec, lanes.event[item])];
    return "";
}

class Places {
    constructor(rec, lanes) {
        this.rec = rec;
        this.lanes = lanes;
        this.list = [];
        this.named = new Map();
        this.placeOf = new Int32Array(rec.tracks.length).fill(-1);
        this.wires = wireGroupOf(rec);
        rec.tracks.forEach((track, t) => { if (t && track.kind !== GROUP) this.add(t); });
        rec.tracks.forEach((track, t) => { if (t && track.kind !== GROUP) this.attach(t); });
    }

    place(within, what, number) {
        const name = `${within}.${what}${number}`;
        if (!this.named.has(name)) {
            this.named.set(name, this.list.length);
            this.list.push({ within, what, number, label: `${what}${number}`, lanes: [], tasks: [], queues: [], isRing: false });
        }
        return this.named.get(name);
    }

    /* Ports and what is like them. Counters of the whole network are nowhere, and so is what has its
     * own view (wires.js): wires, and the network's name. */
    add(t) {
        const track = this.rec.tracks[t];
        const { within, what, number } = partsOf(track.path);
        if (track.parent === this.wires && this.wires > 0) return;
        if (what === "fabric" && number === "") return;
        if (OF_TASKS.has(what) || (track.kind === SIGNAL && number === "")) return;
        if (what === "value" && track.kind === SIGNAL) return; /* of a binding: see the time line */
        const index = this.place(within, OF_PORTS.has(what) ? "port" : OF_ROUTERS.has(what) ? "router" : OF_HALVES.has(what) ? "half" : what, number);
        this.placeOf[t] = index;
        const place = this.list[index];
        if (track.link === LINK_ATON) place.isRing = true;
        if (track.kind === LANE) place.lanes.push(t);
        else place.queues.push(t);
    }

    /* A task is at its port; without one, where it is itself. */
    attach(t) {
        const track = this.rec.tracks[t];
        const { within, what, number } = partsOf(track.path);
        if (!OF_TASKS.has(what) || this.lanes.first[t] === this.lanes.first[t + 1]) return;
        const at = what === "inbox" ? "" : placeName(this.rec, this.lanes, t);
        const port = at ? this.list.findIndex((place) => place.label === at) : -1;
        const index = port >= 0 ? port : what === "inbox" ? this.taskPlace(number) : this.place(within, at || what, at ? "" : number);
        if (index < 0) return;
        this.placeOf[t] = index;
        if (what === "inbox") this.list[index].queues.push(t);
        else this.list[index].tasks.push(t);
    }

    taskPlace(number) {
        return this.list.findIndex(({ tasks }) => tasks.some((t) => partsOf(this.rec.tracks[t].path).number === number));
    }
}

/* { list: places, placeOf[track]: its index, clusters } */
export function placesOf(rec, lanes) {
    const places = new Places(rec, lanes);
    const clusters = new Map();
    places.list.forEach((place, i) => {
        if (!clusters.has(place.within)) clusters.set(place.within, { name: place.within, places: [] });
        clusters.get(place.within).places.push(i);
    });
    for (const cluster of clusters.values()) {
        const all = cluster.places.map((i) => places.list[i]);
        cluster.isRing = all.some((place) => place.isRing);
        cluster.isField = all.length > CIRCLE_MAX;
    }
    return { list: places.list, placeOf: places.placeOf, clusters: [...clusters.values()] };
}

/* ---- where they are drawn ------------------------------------------------------------------ */

function layCircle(places, members, cx, cy, radius) {
    members.forEach((i, n) => {
        const angle = (2 * Math.PI * n) / members.length - Math.PI / 2;
        Object.assign(places[i], { x: cx + radius * Math.cos(angle), y: cy + radius * Math.sin(angle), angle });
    });
}

function layGrid(places, members, x, y, width, height) {
    const columns = Math.max(1, Math.ceil(Math.sqrt((members.length * width) / height)));
    const rows = Math.ceil(members.length / columns);
    members.forEach((i, n) => Object.assign(places[i], {
        x: x + ((n % columns) + 0.5) * (width / columns),
        y: y + (Math.floor(n / columns) + 0.5) * (height / rows),
    }));
    return Math.min(width / columns, height / rows);
}

function layCluster(places, cluster, x, y, width, height) {
    const title = 18;
    const cx = x + width / 2;
    const cy = y + title + (height - title) / 2;
    const isPort = (i) => places[i].what === "port";
    const inner = cluster.isRing ? [] : cluster.places.filter((i) => !isPort(i));
    const outer = inner.length === cluster.places.length ? [] : cluster.places.filter((i) => !inner.includes(i));
    const radius = Math.max(20, Math.min(width / 2 - LABEL_WIDTH, (height - title) / 2 - 42));
    Object.assign(cluster, { cx, cy, radius, titleX: x + 8, titleY: y + 12 });
    if (cluster.isField) {
        cluster.size = layGrid(places, cluster.places, x + 6, y + title, width - 12, height - title - 6);
        return;
    }
    layCircle(places, outer, cx, cy, radius);
    const side = outer.length ? radius * 1.1 : 2 * radius;
    if (inner.length === 1) Object.assign(places[inner[0]], { x: cx, y: cy });
    else layGrid(places, inner, cx - side / 2, cy - side / 2, side, side);
    const around = (2 * Math.PI * radius) / Math.max(1, outer.length);
    cluster.size = Math.max(6, Math.min(30, 0.6 * around, inner.length ? side / Math.sqrt(inner.length) / 2 : 30));
}

/* Gives every place x and y; clusters are beside each other, larger ones with more room. */
export function layOut(network, width, height) {
    const { list, clusters } = network;
    const weights = clusters.map(({ places }) => Math.sqrt(places.length) + 1);
    const sum = weights.reduce((a, b) => a + b, 0);
    const isWide = width >= height;
    let at = 0;
    clusters.forEach((cluster, i) => {
        const share = weights[i] / sum;
        if (isWide) layCluster(list, cluster, at * width, 0, share * width, height);
        else layCluster(list, cluster, 0, at * height, width, share * height);
        at += share;
    });
}
