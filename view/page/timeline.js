/* A recording over time: a row for each track with its spans, instants, frames and values, and arrows
 * for messages. What has more events than there are pixels is drawn as its density. */
import { BEGIN, END, INSTANT, FRAME, FLOW, PLACE, LANE, SIGNAL, KIND_MASK, PART_SHIFT, NO_EVENT } from "./recording.js";
import { firstField, timeOf, kindOf, exactTimeOf } from "./recording.js";
import { firstAfter, nextAfter, timeAt, spansBefore, openAfter, amountUpTo, valueBefore, valuesBetween, valueRange, eventAfter, beginOf } from "./lanes.js";
import { visitHops } from "./flows.js";
import { element, prepare } from "./elements.js";
import { colors, colorOf } from "./colors.js";
import { timeText } from "./words.js";
import { Tree, ROW_HEIGHT } from "./tree.js";

const COLUMN = 2; /* pixels of a column of density */
const ITEMS_PER_PIXEL = 1.5; /* up to so many are drawn one by one */
const ARROWS_MAX = 1500;
const AXIS_HEIGHT = 22;
const TEXT_WIDTH_MIN = 30;
const LETTER_WIDTH = 6.2;
const REACH = 5; /* pixels around a click */
const WHEEL_ZOOM = 1.0015;

/* A round step of time, so that marks are at least `pixels` apart. */
function gridStep(span, width, pixels) {
    const least = (span * pixels) / Math.max(1, width);
    const decade = 10 ** Math.floor(Math.log10(least));
    return [1, 2, 5, 10].map((times) => times * decade).find((step) => step >= least);
}

export class Timeline {
    constructor(opened, stage, on) {
        Object.assign(this, opened); /* rec, lanes, flows, name */
        this.stage = stage;
        this.on = on; /* select(event), track(track) */
        this.selected = NO_EVENT;
        this.way = [];
        this.firstDifference = new Map(); /* track: time */
        this.tree = new Tree(this.rec.tracks, this.lanes.first, (track) => this.onTree(track));
        this.canvas = element("canvas", { tabindex: "0", role: "img", class: "lanes",
                                          "aria-label": `Time line of ${this.name}. The table of events has the same as text.` });
        this.sizer = element("div", { class: "sizer" });
        this.still = element("div", { class: "still" }, this.tree.list, this.canvas);
        this.box = element("div", { class: "timeline" }, this.still, this.sizer);
        this.note = element("p", { class: "note", hidden: true }, "Zoom in to see messages as arrows.");
        this.box.addEventListener("scroll", () => stage.changed());
        new ResizeObserver(() => stage.changed()).observe(this.box);
        this.listen();
        stage.onChange(() => this.draw());
    }

    onTree(track) {
        if (track !== undefined) {
            this.reveal(track);
            this.on.track(this, track);
        }
        this.stage.changed();
    }

    /* Scrolls a track into view. */
    reveal(track) {
        const top = this.tree.rowOf[track] * ROW_HEIGHT;
        const room = this.box.clientHeight - AXIS_HEIGHT - ROW_HEIGHT;
        if (top < this.box.scrollTop) this.box.scrollTop = top;
        if (top > this.box.scrollTop + room) this.box.scrollTop = top - room;
    }

    /* ---- drawing -------------------------------------------------------------------------- */

    xOf(time) {
        return ((time - this.stage.from) / this.stage.span) * this.width;
    }

    timeOfX(x) {
        return this.stage.from + (x / this.width) * this.stage.span;
    }

    yOf(track) {
        return AXIS_HEIGHT + this.tree.rowOf[track] * ROW_HEIGHT - this.box.scrollTop;
    }

    draw() {
        if (!this.box.clientHeight) return; /* not shown */
        this.sizer.style.height = `${Math.max(0, this.tree.height + AXIS_HEIGHT - this.box.clientHeight)}px`;
        this.still.style.height = `${this.box.clientHeight}px`;
        const { draw, width, height } = prepare(this.canvas);
        Object.assign(this, { pen: draw, width, height });
        draw.font = "11px system-ui, sans-serif";
        draw.textBaseline = "middle";
        const first = Math.floor(this.box.scrollTop / ROW_HEIGHT);
        const count = Math.ceil((height - AXIS_HEIGHT) / ROW_HEIGHT) + 1;
        this.tree.draw(first, count, this.box.scrollTop - first * ROW_HEIGHT);
        for (let row = first; row < Math.min(first + count, this.tree.rows.length); row++)
            this.drawRow(this.tree.rows[row], AXIS_HEIGHT + row * ROW_HEIGHT - this.box.scrollTop);
        this.drawArrows();
        this.drawWay();
        this.drawAxis();
        this.drawNow();
    }

    drawRow(track, y) {
        const { pen } = this;
        if (track === this.tree.selected) {
            pen.fillStyle = colors().raised;
            pen.fillRect(0, y, this.width, ROW_HEIGHT);
        }
        pen.fillStyle = colors().line;
        pen.fillRect(0, y + ROW_HEIGHT - 1, this.width, 1);
        const { kind } = this.rec.tracks[track];
        if (kind === LANE) this.drawLane(track, y);
        else if (kind === SIGNAL) this.drawSignal(track, y);
        else if (this.tree.folded.has(track)) this.drawGroup(track, y);
        this.drawDifference(track, y);
    }

    /* The items of a track in view: [first, last). */
    itemsOf(track) {
        return [firstAfter(this.lanes, track, this.stage.from),
                firstAfter(this.lanes, track, this.stage.to)];
    }

    drawLane(track, y) {
        const [first, last] = this.itemsOf(track);
        if (last - first > ITEMS_PER_PIXEL * this.width) this.drawDensity(track, y);
        else this.drawItems(track, y, first, last);
    }

    drawItems(track, y, first, last) {
        const { rec, lanes } = this;
        const open = spansBefore(rec, lanes, track, first);
        for (let item = first; item < last; item++) {
            const event = lanes.event[item];
            const kind = rec.what[event] & KIND_MASK;
            if (kind === BEGIN) open.push(item);
            else if (kind === END) this.drawSpan(y, open.pop(), timeOf(rec, event), open.length);
        }
        while (open.length) this.drawSpan(y, open.pop(), rec.end, open.length);
        for (let item = first; item < last; item++) this.drawPoint(y, lanes.event[item]);
    }

    drawSpan(y, begin, end, depth) {
        const { pen, rec, lanes } = this;
        const event = lanes.event[begin];
        const name = rec.names[firstField(rec, event)];
        const x0 = Math.max(-2, this.xOf(timeOf(rec, event)));
        const x1 = Math.min(this.width + 2, this.xOf(end));
        const top = y + 2 + Math.min(9, depth * 3);
        const width = Math.max(1, x1 - x0 - (x1 - x0 > 4 ? 1 : 0));
        pen.fillStyle = colorOf(name);
        pen.fillRect(x0, top, width, y + ROW_HEIGHT - 3 - top);
        if (event === this.selected) this.outline(x0, top, width, y + ROW_HEIGHT - 3 - top);
        if (width < TEXT_WIDTH_MIN) return;
        const letters = Math.floor((width - 8) / LETTER_WIDTH);
        pen.fillStyle = "#fff";
        pen.fillText(name.length > letters ? `${name.slice(0, Math.max(0, letters - 1))}…` : name, Math.max(0, x0) + 4, (top + y + ROW_HEIGHT - 3) / 2 + 1);
    }

    outline(x, y, width, height) {
        this.pen.strokeStyle = colors().text;
        this.pen.lineWidth = 2;
        this.pen.strokeRect(x, y, width, height);
        this.pen.lineWidth = 1;
    }

    /* Instants and places, frames, the ends of messages. */
    drawPoint(y, event) {
        const { pen, rec } = this;
        const kind = rec.what[event] & KIND_MASK;
        const part = rec.what[event] >> PART_SHIFT;
        const x = this.xOf(timeOf(rec, event));
        const middle = y + ROW_HEIGHT / 2;
        if (kind === INSTANT || kind === PLACE) {
            pen.fillStyle = kind === PLACE ? colors().faint : colorOf(rec.names[firstField(rec, event)]);
            pen.beginPath();
            pen.moveTo(x, middle - 6);
            pen.lineTo(x + 4, middle);
            pen.lineTo(x, middle + 6);
            pen.lineTo(x - 4, middle);
            pen.fill();
        } else if (kind === FRAME) {
            pen.fillStyle = part === 1 ? colors().good : colors().accent;
            if (part !== 2) pen.fillRect(x - 1, middle, 2, 9);
            if (part !== 1) pen.fillRect(x - 1, middle - 9, 2, 9);
        } else if (kind === FLOW) {
            pen.fillStyle = colors().text;
            pen.beginPath();
            pen.arc(x, middle, 2.5, 0, 7);
            pen.fill();
        } else return;
        if (event === this.selected) this.outline(x - 5, y + 2, 10, ROW_HEIGHT - 5);
    }

    /* How busy a lane is, or how many octets or events it has, column by column. */
    drawDensity(track, y) {
        const { rec, lanes, pen } = this;
        const columns = Math.ceil(this.width / COLUMN);
        const shares = new Float64Array(columns);
        const colorsOf = [];
        const hasSpans = lanes.hasSpans[track];
        let item = firstAfter(lanes, track, this.stage.from);
        let before = amountUpTo(rec, lanes, track, item, this.stage.from);
        for (let c = 0; c < columns; c++) {
            const to = this.timeOfX((c + 1) * COLUMN);
            const next = nextAfter(lanes, track, item, to);
            const amount = hasSpans ? amountUpTo(rec, lanes, track, next, to) : next;
            shares[c] = hasSpans ? (amount - before) / (to - this.timeOfX(c * COLUMN)) : next - item;
            if (!hasSpans || !(shares[c] > 0)) colorsOf.push(colors().accent);
            else colorsOf.push(c % 2 && shares[c - 1] > 0 ? colorsOf[c - 1] : this.colorAround(track, item, next));
            item = next;
            before = amount;
        }
        const most = hasSpans ? 1 : Math.max(1, ...shares);
        let color = "";
        for (let c = 0; c < columns; c++) {
            if (!(shares[c] > 0)) continue;
            const high = Math.max(1, Math.min(1, shares[c] / most) * (ROW_HEIGHT - 5));
            if (colorsOf[c] !== color) pen.fillStyle = color = colorsOf[c];
            pen.fillRect(c * COLUMN, y + ROW_HEIGHT - 3 - high, COLUMN, high);
        }
    }

    /* The colour of one of the spans of [first, next). */
    colorAround(track, first, next) {
        const { rec, lanes } = this;
        const item = Math.max(lanes.first[track], next - 1 - ((next - first) >> 1));
        let open = openAfter(rec, lanes, item);
        if (open === NO_EVENT && kindOf(rec, lanes.event[item]) === END) open = beginOf(rec, lanes, item);
        return open === NO_EVENT ? colors().accent : colorOf(rec.names[firstField(rec, lanes.event[open])]);
    }

    drawSignal(track, y) {
        const { pen, rec, lanes } = this;
        const [first, last] = this.itemsOf(track);
        const { low, high } = valueRange(lanes, track);
        const room = ROW_HEIGHT - 8;
        const yOfValue = (value) => y + 4 + room - (high > low ? ((value - low) / (high - low)) * room : 0);
        pen.strokeStyle = colorOf(rec.tracks[track].name.replace(/\d+$/, ""));
        pen.fillStyle = pen.strokeStyle;
        if (last - first > ITEMS_PER_PIXEL * this.width) this.drawRange(track, yOfValue);
        else this.drawSteps(track, first, last, yOfValue);
        if (this.width > 300) {
            pen.fillStyle = colors().faint;
            const value = valueBefore(lanes, track, firstAfter(lanes, track, this.stage.now));
            pen.fillText(Number.isNaN(value) ? "" : String(value), 4, y + ROW_HEIGHT / 2);
        }
    }

    drawSteps(track, first, last, yOfValue) {
        const { pen, rec, lanes } = this;
        const value = valueBefore(lanes, track, first);
        pen.beginPath();
        if (!Number.isNaN(value)) pen.moveTo(0, yOfValue(value));
        for (let item = first; item < last; item++) {
            const x = this.xOf(timeAt(lanes, item));
            if (item > lanes.first[track]) pen.lineTo(x, yOfValue(lanes.amount[item - 1]));
            pen.lineTo(x, yOfValue(lanes.amount[item]));
        }
        if (last > lanes.first[track]) pen.lineTo(Math.min(this.width, this.xOf(rec.end)), yOfValue(lanes.amount[last - 1]));
        pen.stroke();
    }

    /* From the least to the greatest value of each column. */
    drawRange(track, yOfValue) {
        const { rec, lanes, pen } = this;
        let item = firstAfter(lanes, track, this.stage.from);
        for (let x = 0; x < this.width; x++) {
            const next = nextAfter(lanes, track, item, this.timeOfX(x + 1));
            const before = Math.max(lanes.first[track], item - 1);
            if (next > before) {
                const { low, high } = valuesBetween(lanes, track, before, next);
                pen.fillRect(x, yOfValue(high) - 0.5, 1, yOfValue(low) - yOfValue(high) + 1);
            }
            item = next;
        }
    }

    /* A folded group: how many of its tracks have events. */
    drawGroup(track, y) {
        const below = this.tree.children[track].filter((child) => !this.tree.isGroup(child));
        const step = Math.ceil(below.length / 24); /* a sample of many */
        const sample = below.filter((child, i) => i % step === 0);
        const { pen, rec, lanes } = this;
        pen.fillStyle = colors().accent;
        const column = 4;
        const last = sample.map((child) => firstAfter(lanes, child, this.stage.from));
        for (let x = 0; x < this.width; x += column) {
            let active = 0;
            const to = this.timeOfX(x + column);
            sample.forEach((child, i) => {
                const next = nextAfter(lanes, child, last[i], to);
                if (next > last[i]) active++;
                last[i] = next;
            });
            const high = (active / Math.max(1, sample.length)) * (ROW_HEIGHT - 6);
            pen.fillRect(x, y + ROW_HEIGHT - 3 - high, column - 1, high);
        }
    }

    drawDifference(track, y) {
        const time = this.firstDifference.get(track);
        if (time === undefined) return;
        this.pen.fillStyle = colors().hot;
        this.pen.fillRect(this.xOf(time) - 1, y, 2, ROW_HEIGHT - 1);
    }

    drawArrow(from, to) {
        const { pen, rec } = this;
        const x0 = this.xOf(timeOf(rec, from));
        const x1 = this.xOf(timeOf(rec, to));
        const y0 = this.yOf(rec.track[from]) + ROW_HEIGHT / 2;
        const y1 = this.yOf(rec.track[to]) + ROW_HEIGHT / 2;
        const angle = Math.atan2(y1 - y0, x1 - x0);
        pen.beginPath();
        pen.moveTo(x0, y0);
        pen.lineTo(x1, y1);
        pen.lineTo(x1 - 7 * Math.cos(angle - 0.4), y1 - 7 * Math.sin(angle - 0.4));
        pen.moveTo(x1, y1);
        pen.lineTo(x1 - 7 * Math.cos(angle + 0.4), y1 - 7 * Math.sin(angle + 0.4));
        pen.stroke();
    }

    drawArrows() {
        const { rec, flows, stage, pen } = this;
        const hops = [];
        const all = visitHops(rec, flows, eventAfter(rec, stage.from) - 1, eventAfter(rec, stage.to), ARROWS_MAX,
                              (from, to) => hops.push([from, to]));
        this.note.hidden = all || !flows.event.length;
        if (!all) return;
        pen.save();
        pen.beginPath();
        pen.rect(0, AXIS_HEIGHT, this.width, this.height);
        pen.clip();
        pen.strokeStyle = colors().text;
        pen.globalAlpha = hops.length > 200 ? 0.25 : 0.6;
        for (const [from, to] of hops) this.drawArrow(from, to);
        pen.restore();
    }

    /* Of the selected message. */
    drawWay() {
        const { pen } = this;
        if (!this.way.length) return;
        pen.strokeStyle = colors().hot;
        pen.lineWidth = 2.5;
        for (const [from, to] of this.way) this.drawArrow(from, to);
        pen.lineWidth = 1;
    }

    drawAxis() {
        const { pen, stage } = this;
        const step = gridStep(stage.span, this.width, 90);
        pen.fillStyle = colors().back;
        pen.fillRect(0, 0, this.width, AXIS_HEIGHT);
        for (let at = Math.ceil(stage.from / step) * step; at < stage.to; at += step) {
            const x = this.xOf(at);
            pen.fillStyle = colors().line;
            pen.fillRect(x, 0, 1, AXIS_HEIGHT);
            pen.fillStyle = colors().faint;
            pen.fillText(at ? timeText(at, step) : "0", x + 4, AXIS_HEIGHT / 2);
        }
        pen.fillStyle = colors().line;
        pen.fillRect(0, AXIS_HEIGHT - 1, this.width, 1);
    }

    drawNow() {
        const x = this.xOf(this.stage.now);
        this.pen.fillStyle = colors().hot;
        this.pen.fillRect(x - 0.75, 0, 1.5, this.height);
        this.pen.beginPath();
        this.pen.moveTo(x - 5, 0);
        this.pen.lineTo(x + 5, 0);
        this.pen.lineTo(x, 7);
        this.pen.fill();
    }

    /* ---- pointer and keys ------------------------------------------------------------------ */

    listen() {
        this.pointers = new Map();
        this.canvas.addEventListener("pointerdown", (event) => this.onDown(event));
        this.canvas.addEventListener("pointermove", (event) => this.onMove(event));
        this.canvas.addEventListener("pointerup", (event) => this.onUp(event));
        this.canvas.addEventListener("pointercancel", (event) => this.pointers.delete(event.pointerId));
        this.canvas.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
        this.canvas.addEventListener("keydown", (event) => this.onKey(event));
    }

    onDown(event) {
        this.canvas.setPointerCapture(event.pointerId);
        this.pointers.set(event.pointerId, event.offsetX);
        this.moved = 0;
    }

    /* One pointer pans, two zoom. */
    onMove(event) {
        if (!this.pointers.has(event.pointerId)) return;
        const before = [...this.pointers.values()];
        const dx = event.offsetX - this.pointers.get(event.pointerId);
        this.pointers.set(event.pointerId, event.offsetX);
        const after = [...this.pointers.values()];
        this.moved += Math.abs(dx) + Math.abs(event.movementY);
        if (after.length === 2) {
            const [was, is] = [before, after].map(([a, b]) => Math.max(10, Math.abs(a - b)));
            this.stage.zoom(was / is, (after[0] + after[1]) / 2 / this.width);
            return;
        }
        this.stage.pan(-dx / this.width);
        if (event.pointerType === "mouse") this.box.scrollTop -= event.movementY;
    }

    onUp(event) {
        this.pointers.delete(event.pointerId);
        if (this.moved < 4) this.onClick(event.offsetX, event.offsetY);
    }

    onWheel(event) {
        const scrolls = this.box.scrollHeight > this.box.clientHeight + 1;
        if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
            this.stage.pan((event.deltaX || event.deltaY) / this.width);
        } else if (event.ctrlKey || event.metaKey || !scrolls) {
            this.stage.zoom(WHEEL_ZOOM ** event.deltaY, event.offsetX / this.width);
        } else return; /* rows scroll */
        event.preventDefault();
    }

    onKey(event) {
        if (event.key !== "Enter") return;
        const track = this.tree.selected;
        if (track) this.on.select(this, this.lanes.event[Math.max(this.lanes.first[track], firstAfter(this.lanes, track, this.stage.now) - 1)]);
        event.preventDefault();
    }

    onClick(x, y) {
        const time = this.timeOfX(x);
        if (y < AXIS_HEIGHT) {
            this.stage.goTo(time);
            return;
        }
        const track = this.tree.rows[Math.floor((y - AXIS_HEIGHT + this.box.scrollTop) / ROW_HEIGHT)];
        if (!track) return;
        this.tree.selected = track;
        this.stage.goTo(time);
        const event = this.eventNear(track, time);
        if (event === NO_EVENT) this.on.track(this, track);
        else this.on.select(this, event);
    }

    /* A message or a frame within reach; else the span that is open there; else an event within reach. */
    eventNear(track, time) {
        const { rec, lanes } = this;
        if (this.tree.isGroup(track)) return NO_EVENT;
        const reach = (REACH / this.width) * this.stage.span;
        const last = firstAfter(lanes, track, time + reach);
        let best = NO_EVENT;
        let least = Infinity;
        for (let item = last - 1; item >= lanes.first[track] && timeAt(lanes, item) >= time - reach; item--) {
            const event = lanes.event[item];
            const kind = kindOf(rec, event);
            const far = Math.abs(timeOf(rec, event) - time) + (kind === BEGIN || kind === END ? 2 * reach : 0);
            if (far < least) [least, best] = [far, event];
        }
        const open = spansBefore(rec, lanes, track, firstAfter(lanes, track, time)).pop();
        return open !== undefined && least > reach ? lanes.event[open] : best;
    }

    select(event) {
        this.selected = event;
        if (event === NO_EVENT) return;
        this.tree.select(this.rec.track[event]);
    }

    exactTime(event) {
        return exactTimeOf(this.rec, event);
    }
}
