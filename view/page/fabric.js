/* The network at the play time: places coloured by use, queues filling, messages on their way. */
import { FLOW, FRAME, NO_EVENT } from "./recording.js";
import { eventOf, firstField, kindOf, timeOf } from "./recording.js";
import { busyShare, firstAfter, amountUpTo, timeAt, spansBefore, valueBefore, valueRange, eventAfter } from "./lanes.js";
import { visitHops, wayOf } from "./flows.js";
import { element, prepare } from "./elements.js";
import { colors, useColor } from "./colors.js";
import { timeText, countText } from "./words.js";
import { placesOf, layOut } from "./places.js";
import { wiresOf } from "./wires.js";
import { Switches } from "./switches.js";

const MOVING_MAX = 3000; /* messages that are drawn */
const PACKETS_MAX = 20000; /* and packets on wires */
const LINES_MAX = 60; /* messages whose lines are drawn, too */
const WINDOW_SHARE = 1 / 40; /* of the time in view: over it, use is measured */
const BUSIEST = 5;
const REACH = 12;
const LABEL_SIZE_MIN = 10;

/* Places that only have a queue have no use that the recording tells. */
function useText({ lanes, octets, share }) {
    if (octets) return countText(octets, "octet");
    return lanes.length ? `${Math.round(100 * share)} %` : "";
}

export class Fabric {
    constructor(opened, stage, on) {
        Object.assign(this, opened);
        this.stage = stage;
        this.on = on;
        this.network = placesOf(this.rec, this.lanes);
        this.wires = wiresOf(opened);
        this.switches = this.wires && new Switches(this.wires);
        this.findHighs();
        this.moving = [];
        this.selectedMessage = -1n;
        this.canvas = element("canvas", { class: "network", role: "img", tabindex: "0",
                                          "aria-label": `Network of ${this.name} at the play time. The table of the busiest places follows.` });
        this.busiest = element("table", { class: "busiest" });
        this.box = element("div", { class: "fabric" }, this.canvas, this.legend(), this.busiest);
        this.listen();
        new ResizeObserver(() => stage.changed()).observe(this.canvas);
        stage.onChange(() => this.draw());
    }

    /* The wheel zooms into a drawing, a pointer moves it. */
    listen() {
        const { canvas } = this;
        let moved = 0;
        canvas.addEventListener("click", (event) => { if (moved < 4) this.onClick(event.offsetX, event.offsetY); });
        if (!this.switches) return;
        canvas.addEventListener("wheel", (event) => {
            this.switches.zoom(1.0015 ** -event.deltaY, event.offsetX, event.offsetY);
            this.stage.changed();
            event.preventDefault();
        }, { passive: false });
        canvas.addEventListener("pointerdown", () => { moved = 0; });
        canvas.addEventListener("pointermove", (event) => {
            if (!event.buttons) return;
            moved += Math.abs(event.movementX) + Math.abs(event.movementY);
            this.switches.pan(event.movementX, event.movementY);
            this.stage.changed();
        });
    }

    /* The message of an event is shown on its way. */
    follow(event) {
        const { rec, flows } = this;
        const isFlow = event !== NO_EVENT && kindOf(rec, event) === FLOW;
        this.selectedMessage = isFlow ? eventOf(rec, event).message : -1n;
        if (this.switches) this.switches.way = new Set(isFlow ? wayOf(rec, flows, this.selectedMessage).map((flow) => rec.track[flows.event[flow]]) : []);
    }

    legend() {
        const swatch = (kind, text) => element("span", {}, element("i", { class: `swatch ${kind}` }), text);
        const waits = this.wires?.hasHops ? [swatch("waits", "packets wait")] : [];
        return element("p", { class: "legend" }, swatch("idle", "idle"), swatch("half", "half used"), swatch("full", "always used"),
                       swatch("moving", this.wires?.hasHops ? "packet" : "message on its way"), ...waits, swatch("contended", "several for one place"));
    }

    /* ---- what there is to draw -------------------------------------------------------------- */

    /* Of spans, the share of the window; of frames, octets. */
    useOf(place) {
        const { rec, lanes } = this;
        const [from, to] = [Math.max(0, this.stage.now - this.window), this.stage.now];
        let share = 0;
        let octets = 0;
        for (const t of place.lanes) {
            if (lanes.hasSpans[t]) {
                share = Math.max(share, busyShare(rec, lanes, t, from, to));
                continue;
            }
            const last = firstAfter(lanes, t, to);
            octets += amountUpTo(rec, lanes, t, last, to) - amountUpTo(rec, lanes, t, firstAfter(lanes, t, from), from);
        }
        return { share, octets };
    }

    /* Since a frame was here, relative to the window: 1 is now, 0 long ago. */
    glowOf(place) {
        const { rec, lanes, stage } = this;
        let glow = 0;
        for (const t of place.lanes) {
            const item = firstAfter(lanes, t, stage.now) - 1;
            if (item < lanes.first[t] || kindOf(rec, lanes.event[item]) !== FRAME) continue;
            glow = Math.max(glow, 1 - (4 * (stage.now - timeAt(lanes, item))) / this.window);
        }
        return glow;
    }

    /* "queue" of queue3: such signals have one scale. */
    kindOfSignal(t) {
        const { parent, name } = this.rec.tracks[t];
        return `${parent}.${name.replace(/\d+$/, "")}`;
    }

    findHighs() {
        this.highs = new Map();
        for (const place of this.network.list)
            for (const t of place.queues) {
                const kind = this.kindOfSignal(t);
                this.highs.set(kind, Math.max(this.highs.get(kind) ?? 1, valueRange(this.lanes, t).high));
            }
    }

    /* Of an ATON variable; "": there is none. */
    variableOf(place) {
        const t = place.queues.find((track) => this.rec.tracks[track].name.startsWith("variable"));
        const value = t === undefined ? NaN : valueBefore(this.lanes, t, firstAfter(this.lanes, t, this.stage.now));
        return Number.isNaN(value) ? "" : String(value);
    }

    /* The share of the greatest value of its kind that a place's fullest queue has; and the value. */
    queueOf(place) {
        let share = 0;
        let value = 0;
        for (const t of place.queues) {
            const is = valueBefore(this.lanes, t, firstAfter(this.lanes, t, this.stage.now));
            if (is > value) [value, share] = [is, is / Math.max(1, this.highs.get(this.kindOfSignal(t)))];
        }
        return { share, value };
    }

    taskOf(place) {
        const t = place.tasks[0];
        if (t === undefined) return "";
        const open = spansBefore(this.rec, this.lanes, t, firstAfter(this.lanes, t, this.stage.now)).pop();
        return open === undefined ? "" : this.rec.names[firstField(this.rec, this.lanes.event[open])];
    }

    look() {
        const { list } = this.network;
        this.window = Math.max(1, this.stage.span * WINDOW_SHARE);
        let most = 1;
        for (const place of list) {
            Object.assign(place, this.useOf(place));
            place.comers = 0;
            most = Math.max(most, place.octets);
        }
        for (const place of list) place.use = Math.max(place.share, place.octets / most);
    }

    /* A packet on a wire, or in a router. False: it is not one. */
    addPacket(from, to) {
        const { rec, stage, wires } = this;
        if (!wires?.kindOf[rec.track[from]]) return false;
        const place = wires.placeOf(rec.track[from], rec.track[to], stage.now - timeOf(rec, from));
        if (!place) return false;
        if (place.waitsAt >= 0) this.switches.waiting[place.waitsAt]++;
        const [x, y] = this.switches.at([place.x, place.y]);
        this.moving.push({ from, to, x, y, waits: place.waitsAt >= 0 });
        return true;
    }

    findMoving() {
        const { rec, flows, stage, network } = this;
        this.moving = [];
        this.switches?.waiting.fill(0);
        const now = eventAfter(rec, stage.now) - 1;
        this.hasAll = visitHops(rec, flows, now, now, this.wires?.hasHops ? PACKETS_MAX : MOVING_MAX, (from, to) => {
            if (this.addPacket(from, to) || this.wires?.hasHops) return; /* the packets of a message are seen, not itself */
            const [a, b] = [network.placeOf[rec.track[from]], network.placeOf[rec.track[to]]];
            if (a < 0 || b < 0) return;
            const begin = timeOf(rec, from);
            const share = (stage.now - begin) / Math.max(1, timeOf(rec, to) - begin);
            network.list[b].comers++;
            this.moving.push({ from, to, a: network.list[a], b: network.list[b], share });
        });
    }

    /* ---- drawing -------------------------------------------------------------------------- */

    draw() {
        if (!this.canvas.clientWidth) return; /* not shown */
        const { draw, width, height } = prepare(this.canvas);
        this.pen = draw;
        draw.textBaseline = "middle";
        draw.font = "11px system-ui, sans-serif";
        draw.fillStyle = colors().faint;
        this.place(width, height);
        this.look();
        this.findMoving();
        if (this.switches) this.drawSwitches();
        if (!this.network.list.length) draw.fillText("This recording has no ports, routers or tasks: see the time line.", 10, 20);
        for (const cluster of this.network.clusters) this.drawCluster(cluster);
        for (const message of this.moving) this.drawMessage(message);
        if (!this.stage.playing) this.tell();
    }

    /* Ports of a network with a drawing are where its terminals are. */
    place(width, height) {
        const { list, clusters } = this.network;
        const drawn = this.wires && clusters.find(({ name }) => name === this.wires.within);
        const others = clusters.filter((cluster) => cluster !== drawn);
        const top = this.wires && others.length ? 0.72 * height : 0;
        if (this.switches) this.switches.fit(0, 18, width, (top || height) - 18);
        layOut({ list, clusters: others }, width, top ? height - top : height);
        if (top) for (const cluster of others) {
            for (const i of cluster.places) list[i].y += top;
            for (const key of ["cy", "titleY"]) cluster[key] += top;
        }
        if (!drawn) return;
        const size = Math.max(3, Math.min(13, 13 * this.switches.scale));
        Object.assign(drawn, { size, titleX: 8, titleY: 12, isDrawn: true });
        for (const i of drawn.places) {
            const isRouter = list[i].what === "router" && Number(list[i].number) < this.wires.routers;
            const point = isRouter ? this.wires.router(Number(list[i].number)) : this.wires.terminal(Number(list[i].number), false);
            list[i].isRouter = isRouter;
            list[i].isDrawn = (list[i].what === "port" || isRouter) && point !== null;
            list[i].angle = undefined;
            [list[i].x, list[i].y] = list[i].isDrawn ? this.switches.at(point) : [-99, -99];
        }
    }

    drawSwitches() {
        const { pen, stage, switches } = this;
        if (switches.look(Math.max(0, stage.now - this.window), stage.now) && !stage.playing) stage.changed();
        switches.paintBase(pen);
        switches.paintRouters(pen);
    }

    drawCluster(cluster) {
        const { pen } = this;
        const { list } = this.network;
        pen.fillStyle = colors().faint;
        pen.textAlign = "left";
        pen.fillText(cluster.name || "places", cluster.titleX, cluster.titleY);
        if (cluster.isDrawn) {
            for (const i of cluster.places) if (list[i].isDrawn) this.drawPlace(list[i], { ...cluster, isField: cluster.size < 5 });
            return;
        }
        if (!cluster.isField) this.drawWires(cluster);
        for (const i of cluster.places) this.drawPlace(list[i], cluster);
    }

    /* A ring is one wire; of other networks the recording has no wires: their middle is left open. */
    drawWires(cluster) {
        const { pen } = this;
        pen.strokeStyle = colors().line;
        pen.lineWidth = cluster.isRing ? 4 : 1;
        pen.setLineDash(cluster.isRing ? [] : [3, 5]);
        pen.beginPath();
        pen.arc(cluster.cx, cluster.cy, cluster.isRing ? cluster.radius : cluster.radius * 0.82, 0, 7);
        pen.stroke();
        pen.setLineDash([]);
        pen.lineWidth = 1;
    }

    drawPlace(place, cluster) {
        const { pen } = this;
        const size = cluster.size;
        const half = Math.max(1, size * (cluster.isField ? 0.45 : 0.5));
        if (place.isRouter) { /* the drawing has it; what it holds is beside it */
            this.drawGlow(place, this.switches.radius);
            this.drawQueue(place, this.switches.radius);
            return;
        }
        pen.fillStyle = place.use > 0 ? useColor(place.use) : colors().raised;
        pen.strokeStyle = place.comers > 1 ? colors().hot : colors().faint;
        pen.lineWidth = place.comers > 1 ? 3 : 1;
        pen.beginPath();
        if (place.what === "port" && !cluster.isField) pen.arc(place.x, place.y, half, 0, 7);
        else pen.rect(place.x - half, place.y - half, 2 * half, 2 * half);
        pen.fill();
        if (!cluster.isField || place.comers > 1) pen.stroke();
        pen.lineWidth = 1;
        this.drawGlow(place, half);
        this.drawQueue(place, half);
        const hasRoom = !cluster.isDrawn || place.tasks.length || this.switches.scale > 1.6;
        if (size >= LABEL_SIZE_MIN && !cluster.isField && hasRoom) this.drawLabel(place, cluster, half);
    }

    drawGlow(place, half) {
        const glow = this.glowOf(place);
        if (!(glow > 0)) return;
        this.pen.globalAlpha = glow;
        this.pen.strokeStyle = colors().accent;
        this.pen.lineWidth = 3;
        this.pen.beginPath();
        this.pen.arc(place.x, place.y, half + 3 + 6 * (1 - glow), 0, 7);
        this.pen.stroke();
        this.pen.globalAlpha = 1;
        this.pen.lineWidth = 1;
    }

    /* Filled from below. */
    drawQueue(place, half) {
        if (!place.queues.length || half < 4) return;
        const { share, value } = this.queueOf(place);
        const { pen } = this;
        const [x, y, high] = [place.x + half + 3, place.y - half, 2 * half];
        pen.fillStyle = colors().line;
        pen.fillRect(x, y, 5, high);
        if (!value) return;
        pen.fillStyle = colors().warn;
        pen.fillRect(x, y + high * (1 - share), 5, high * share);
    }

    /* Of the task that is there, or the place's own. */
    nameOf(place) {
        return place.tasks.length ? this.rec.tracks[place.tasks[0]].name : place.label;
    }

    drawLabel(place, cluster, half) {
        const { pen } = this;
        const task = this.taskOf(place) || this.variableOf(place);
        const isOuter = place.angle !== undefined;
        const away = half + (task ? 15 : 9);
        const x = place.x + (isOuter ? away * Math.cos(place.angle) * 1.2 : 0);
        const y = place.y + (isOuter ? away * Math.sin(place.angle) : half + 8);
        pen.textAlign = isOuter && Math.abs(Math.cos(place.angle)) > 0.3 ? (Math.cos(place.angle) > 0 ? "left" : "right") : "center";
        pen.fillStyle = colors().text;
        pen.fillText(this.nameOf(place), x + (pen.textAlign === "left" ? 8 : 0), y - (task ? 6 : 0));
        if (!task) return;
        pen.fillStyle = colors().faint;
        pen.fillText(task.slice(0, 14), x + (pen.textAlign === "left" ? 8 : 0), y + 6);
    }

    /* The ring that both places are on. */
    ringOf(a, b) {
        if (a.within !== b.within) return undefined;
        return this.network.clusters.find((cluster) => cluster.isRing && cluster.name === a.within);
    }

    /* Along the wire of a ring, else straight. */
    pointOf({ a, b, share }) {
        const ring = this.ringOf(a, b);
        if (!ring) return [a.x + share * (b.x - a.x), a.y + share * (b.y - a.y)];
        const way = ((b.angle - a.angle) % (2 * Math.PI) + 2 * Math.PI) % (2 * Math.PI);
        const angle = a.angle + share * way;
        return [ring.cx + ring.radius * Math.cos(angle), ring.cy + ring.radius * Math.sin(angle)];
    }

    drawMessage(message) {
        const { pen } = this;
        if (message.a) [message.x, message.y] = this.pointOf(message);
        const size = this.moving.length > 5000 ? 0.7 : this.moving.length > 2000 ? 1.5 : this.moving.length > 300 ? 2 : 4;
        if (message.a && this.moving.length <= LINES_MAX && !this.ringOf(message.a, message.b)) {
            pen.strokeStyle = colors().line;
            pen.beginPath();
            pen.moveTo(message.a.x, message.a.y);
            pen.lineTo(message.b.x, message.b.y);
            pen.stroke();
        }
        if (message.waits && this.moving.length > LINES_MAX) return; /* its router is fuller */
        const isSelected = this.selectedMessage >= 0n && eventOf(this.rec, message.from).message === this.selectedMessage;
        pen.fillStyle = isSelected ? colors().hot : colors().accent;
        const half = isSelected ? size + 3 : size;
        pen.fillRect(message.x - half, message.y - half, 2 * half, 2 * half);
        if (size < 4) return;
        pen.strokeStyle = colors().back;
        pen.strokeRect(message.x - size, message.y - size, 2 * size, 2 * size);
    }

    /* [name, use, packets that wait] of wires and routers. */
    busiestOfSwitches() {
        if (!this.wires?.hasHops) return [];
        const { use, waiting } = this.switches;
        const { wires } = this.wires.places;
        const most = (row) => Array.from(row.keys()).filter((i) => row[i] > 0).sort((i, j) => row[j] - row[i]);
        return [...most(use).slice(0, 3).map((w) => [`wire ${wires[4 * w]} – ${wires[4 * w + 1]}`, `${Math.round(100 * use[w])} %`, ""]),
                ...most(waiting).slice(0, 2).map((r) => [`router ${r}`, "", `${waiting[r]} wait`])].slice(0, BUSIEST);
    }

    /* The same as text. */
    tell() {
        const places = (this.wires?.hasHops ? [] : this.network.list).filter((place) => place.use > 0 || place.comers)
            .sort((a, b) => b.use - a.use || b.comers - a.comers).slice(0, BUSIEST);
        const cell = (name, text) => element(name, name === "th" ? { scope: "col" } : {}, text);
        const rowOf = (...texts) => element("tr", {}, ...texts.map((text) => cell("td", text)));
        const rows = this.busiestOfSwitches().map(([name, use, waiting]) => rowOf(name, use, waiting, "")).concat(places.map((place) => element("tr", {}, cell("td", this.nameOf(place)),
            cell("td", useText(place)),
            cell("td", String(this.queueOf(place).value)), cell("td", String(place.comers)))));
        this.busiest.replaceChildren(
            element("caption", {}, `Busiest places in the ${timeText(this.window)} before ${timeText(this.stage.now, this.window)}; ${this.hasAll ? "" : "at least "}${countText(this.moving.length, this.wires?.hasHops ? "packet" : "message")} on the way`),
            element("thead", {}, element("tr", {}, ...["place", "use", "queue", "messages coming"].map((text) => cell("th", text)))),
            element("tbody", {}, ...rows));
    }

    onClick(x, y) {
        const near = (object) => Math.hypot(object.x - x, object.y - y);
        const best = (list) => list.reduce((a, b) => (a && near(a) <= near(b) ? a : b), null);
        const message = best(this.moving);
        if (message && near(message) < REACH) {
            this.on.select(this, message.from);
            return;
        }
        const place = best(this.network.list.filter(({ x }) => x > 0));
        if (place && near(place) < 3 * REACH) this.on.track(this, place.tasks[0] ?? place.lanes[0] ?? place.queues[0]);
    }
}
