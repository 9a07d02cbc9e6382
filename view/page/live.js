/* A part of a live network: what its status tells once a second, and how it changes. */
import { element, prepare, say } from "./elements.js";
import { colors, colorOf } from "./colors.js";
import { shortNumber, numberText } from "./words.js";
import { jsonTree } from "./details.js";

const KEPT = 300; /* seconds */
const ROWS_MAX = 1000;

/* What a record of a list is called: san udp:127.0.0.1:4254, store centre ... */
function labelOf(record, i) {
    const [key, name] = Object.entries(record).find(([, value]) => typeof value === "string") ?? ["", String(i)];
    return `${key} ${name}`.trim();
}

/* Numbers of the status by their paths: counts.folded, store centre: live ... */
function numbersOf(value, path, out) {
    if (typeof value === "number") out.set(path, value);
    else if (Array.isArray(value)) value.filter(isRecord).forEach((record, i) => numbersOf(record, `${labelOf(record, i)}:`, out));
    else if (isRecord(value))
        for (const [key, child] of Object.entries(value)) numbersOf(child, !path ? key : path.endsWith(":") ? `${path} ${key}` : `${path}.${key}`, out);
    return out;
}

/* Text that stays costs no layout. */
function show(cell, text) {
    if (cell.textContent !== text) cell.textContent = text;
}

/* All of it is in the table of counters. */
function isOfNumbers(value) {
    return typeof value === "number" || (isRecord(value) && Object.values(value).every(isOfNumbers));
}

/* The last minutes of a number: its values, for those that only grow its rate. */
class Graph {
    constructor(name) {
        this.name = name;
        this.values = [];
        this.grows = true;
        this.isZero = true; /* so far */
        this.canvas = element("canvas", { class: "rate", role: "img", "aria-label": `${name} over the last minutes` });
        this.value = element("td", { class: "number" });
        this.rate = element("td", { class: "number" });
        this.row = element("tr", {}, element("th", { scope: "row" }, name), this.value, this.rate, element("td", {}, this.canvas));
    }

    put(at, value) {
        const last = this.values[this.values.length - 1];
        if (last && value < last.value) this.grows = false;
        this.values.push({ at, value });
        this.isZero &&= value === 0;
        if (this.values.length > KEPT) this.values.shift();
        const rates = this.grows ? this.rates() : [];
        show(this.value, numberText(value));
        show(this.rate, rates.length ? `${shortNumber(rates[rates.length - 1])}/s` : "");
    }

    redraw() {
        this.draw(this.grows ? this.rates() : this.values.map((sample) => sample.value));
    }

    rates() {
        return this.values.slice(1).map(({ at, value }, i) => {
            const before = this.values[i];
            return Math.max(0, Math.round((value - before.value) / Math.max(0.001, (at - before.at) / 1000)));
        });
    }

    draw(samples) {
        if (!this.canvas.clientWidth) return;
        const { draw, width, height } = prepare(this.canvas);
        const most = Math.max(1, ...samples);
        draw.strokeStyle = colorOf(this.name);
        draw.beginPath();
        samples.forEach((value, i) => draw.lineTo(width - (samples.length - 1 - i) * (width / KEPT), height - 2 - (value / most) * (height - 4)));
        draw.stroke();
        draw.fillStyle = colors().faint;
        draw.font = "10px system-ui, sans-serif";
        draw.fillText(shortNumber(most), 2, 9);
    }
}

export class Live {
    constructor(transport, index, name) {
        this.graphs = new Map();
        this.state = element("p", { class: "state", role: "status" }, "Waiting for the first status …");
        this.body = element("tbody", {});
        this.lists = element("div", { class: "lists" });
        this.zeros = element("input", { type: "checkbox", onchange: () => this.showRows() });
        this.zerosLabel = element("label", { class: "zeros" }, this.zeros, " ");
        this.zeroText = element("span", {});
        this.zerosLabel.append(this.zeroText);
        const head = ["number", "now", "rate", "last five minutes"].map((text) => element("th", { scope: "col" }, text));
        this.box = element("section", { class: "live", "aria-label": name }, element("h2", {}, name), this.state, this.zerosLabel,
            element("table", { class: "rates" }, element("caption", {}, "Counters and gauges"), element("thead", {}, element("tr", {}, ...head)), this.body), this.lists);
        transport.live(index, {
            status: (status) => this.onStatus(status),
            lost: () => { this.state.textContent = "The connection to leat view is lost; trying again …"; },
            end: () => this.onEnd(name),
        });
    }

    onStatus(status) {
        const at = performance.now();
        this.state.textContent = `Running. ${status.schema ?? ""}`;
        for (const [path, value] of numbersOf(status, "", new Map())) {
            if (!this.graphs.has(path) && this.graphs.size === ROWS_MAX) continue;
            if (!this.graphs.has(path)) {
                this.graphs.set(path, new Graph(path));
                this.body.append(this.graphs.get(path).row);
            }
            this.graphs.get(path).put(at, value);
        }
        this.showRows();
        this.showLists(status);
    }

    /* Most counters, errors by reason above all, are zero for good: they have a row on demand. */
    showRows() {
        let zeros = 0;
        for (const graph of this.graphs.values()) {
            zeros += graph.isZero;
            graph.row.hidden = graph.isZero && !this.zeros.checked;
        }
        show(this.zeroText, `${zeros} that have always been zero`);
        this.zerosLabel.hidden = !zeros;
        if (!this.isDue) requestAnimationFrame(() => this.draw());
        this.isDue = true;
    }

    /* All at once, after all texts: each text behind a drawing would be a layout of its own. */
    draw() {
        this.isDue = false;
        for (const graph of this.graphs.values())
            if (!graph.row.hidden) graph.redraw();
    }

    /* Neighbours, stores, tables: what is a list, or words. */
    showLists(status) {
        const text = JSON.stringify(status);
        if (text === this.shown) return;
        this.shown = text;
        const open = new Set([...this.lists.children].filter((part) => part.open).map((part) => part.dataset.name));
        const parts = Object.entries(status).filter(([, value]) => value && typeof value === "object" && !isOfNumbers(value) && Object.keys(value).length);
        const words = Object.entries(status).filter(([, value]) => typeof value === "string" || typeof value === "boolean");
        this.lists.replaceChildren(
            element("dl", {}, ...words.flatMap(([key, value]) => [element("dt", {}, key), element("dd", {}, String(value))])),
            ...parts.map(([key, value]) => element("details", { "data-name": key, open: open.has(key) || Array.isArray(value) },
                element("summary", {}, key), Array.isArray(value) && value.every(isRecord) && value.length ? tableOf(key, value) : element("ul", { class: "json" }, jsonTree(value)))));
    }

    onEnd(name) {
        this.state.textContent = `${name} has ended. The last values stay.`;
        this.state.classList.add("ended");
        say(`${name} has ended`);
    }
}

function isRecord(value) {
    return value && typeof value === "object" && !Array.isArray(value);
}

function tableOf(name, rows) {
    const keys = [...new Set(rows.flatMap((row) => Object.keys(row).filter((key) => !isRecord(row[key]))))];
    const text = (value) => (Array.isArray(value) ? value.map((one) => (isRecord(one) ? JSON.stringify(one) : String(one))).join(" ") : String(value ?? ""));
    return element("div", { class: "wide", tabindex: "0", role: "group", "aria-label": name }, element("table", {}, element("caption", {}, name),
        element("thead", {}, element("tr", {}, ...keys.map((key) => element("th", { scope: "col" }, key)))),
        element("tbody", {}, ...rows.slice(0, ROWS_MAX).map((row) => element("tr", {}, ...keys.map((key) => element("td", {}, text(row[key]))))))));
}
