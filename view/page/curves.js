/*
 * A chart of lines: marks with bands of confidence, a legend that hides lines, and a reader that the
 * pointer or the arrow keys move from point to point.
 */
import { element, say } from "./elements.js";
import { svg, axisOf, figureText, styleOf, markPath } from "./drawing.js";

const LEFT = 58;
const RIGHT = 14;
const TOP = 10;
const BOTTOM = 42;
const MARKS_MAX = 600; /* of a chart; with more there are lines alone */
const NEAR = 60; /* pixels: as far as the pointer reaches */

export class Chart {
    /* about: title, xName, yName, decimals, mayBeLog, diagonal, height */
    constructor(about) {
        this.about = about;
        this.lines = [];
        this.hidden = new Set();
        this.at = null; /* line and point that are read */
        this.picture = svg("svg", { class: "chart", role: "img", tabindex: "0", "aria-label": `${about.title}; arrow keys read its points`,
            onpointermove: (event) => this.onPointer(event), onpointerleave: () => this.read(null), onkeydown: (event) => this.onKey(event) });
        this.reader = element("p", { class: "reader" });
        this.box = element("figure", { class: "chart-box" }, element("figcaption", {}, about.title), this.picture, this.reader);
        new ResizeObserver(() => this.draw()).observe(this.picture);
    }

    /* lines: name, style, points: x, y, half, open; ranges: further values that the axes cover. */
    show(lines, ranges = { x: [], y: [] }) {
        this.lines = lines;
        this.ranges = ranges;
        this.draw();
    }

    hide(names) {
        this.hidden = names;
        this.draw();
    }

    get shown() {
        return this.lines.filter(({ name }) => !this.hidden.has(name));
    }

    /* ---- drawing -------------------------------------------------------------------------- */

    draw() {
        const { width } = this.picture.getBoundingClientRect();
        if (!width || !this.ranges) return;
        this.width = width;
        this.height = this.about.height ?? Math.max(210, Math.min(320, width * 0.6));
        this.picture.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
        this.picture.setAttribute("height", this.height);
        const points = this.shown.flatMap((line) => line.points);
        this.x = axisOf([...points.map(({ x }) => x), ...this.ranges.x], { fromZero: !this.about.xFromFirst, count: Math.max(3, Math.floor(width / 90)) });
        this.y = axisOf([...points.map(({ y }) => y), ...this.ranges.y], { mayBeLog: this.about.mayBeLog, count: 5 });
        const marked = points.length <= MARKS_MAX && !this.about.linesAlone;
        this.pointer = svg("g", { class: "pointer" });
        this.picture.replaceChildren(this.frame(), ...this.diagonal(), ...this.shown.map((line) => this.line(line, marked)), this.pointer);
        if (!points.length) this.picture.append(svg("text", { x: this.width / 2, y: this.height / 2, class: "nothing" }, "Nothing to draw yet"));
        this.read(this.at);
    }

    px(value) { return LEFT + this.x.share(value) * (this.width - LEFT - RIGHT); }
    py(value) { return this.height - BOTTOM - this.y.share(value) * (this.height - TOP - BOTTOM); }

    frame() {
        const bottom = this.height - BOTTOM;
        const group = svg("g", { class: "axes" });
        for (const tick of this.y.ticks)
            group.append(svg("path", { class: "grid", d: `M${LEFT} ${this.py(tick)}H${this.width - RIGHT}` }),
                         svg("text", { x: LEFT - 6, y: this.py(tick) + 4, "text-anchor": "end" }, figureText(tick)));
        for (const tick of this.x.ticks)
            group.append(svg("path", { class: "grid", d: `M${this.px(tick)} ${TOP}V${bottom}` }),
                         svg("text", { x: this.px(tick), y: bottom + 16, "text-anchor": "middle" }, figureText(tick)));
        group.append(svg("path", { class: "axis", d: `M${LEFT} ${TOP}V${bottom}H${this.width - RIGHT}` }),
                     svg("text", { class: "axis-name", x: (LEFT + this.width - RIGHT) / 2, y: this.height - 6, "text-anchor": "middle" }, this.about.xName),
                     svg("text", { class: "axis-name", x: 0, y: 0, "text-anchor": "middle", transform: `translate(13 ${(TOP + bottom) / 2}) rotate(-90)` },
                         this.about.yName + (this.y.isLog ? " (log)" : "")));
        return group;
    }

    /* Where all that is offered is accepted. */
    diagonal() {
        if (!this.about.diagonal || this.x.isLog || this.y.isLog) return [];
        const [from, to] = [Math.max(this.x.min, this.y.min), Math.min(this.x.max, this.y.max)];
        return [svg("path", { class: "diagonal", d: `M${this.px(from)} ${this.py(from)}L${this.px(to)} ${this.py(to)}` })];
    }

    line(line, marked) {
        const { color, mark } = styleOf(line.style);
        const at = line.points.map((point) => [this.px(point.x), this.py(point.y), point]);
        const solid = [];
        const dashed = []; /* to points that are saturated */
        at.slice(1).forEach(([x, y, point], i) => (point.open ? dashed : solid).push(`M${at[i][0]} ${at[i][1]}L${x} ${y}`));
        const group = svg("g", { class: `line c${color}`, "data-name": line.name });
        const band = at.filter(([, , { half }]) => half > 0);
        if (band.length > 1 && marked) group.append(svg("path", { class: "band", d: this.band(band) }));
        group.append(svg("path", { class: "solid", d: solid.join("") }), svg("path", { class: "dashed", d: dashed.join("") }));
        if (marked)
            for (const [x, y, { open }] of at) group.append(svg("path", { class: open ? "mark open" : "mark", d: markPath(mark, x, y, 3.6) }));
        return group;
    }

    band(at) {
        const floor = (value) => this.py(Math.max(value, this.y.min));
        const upper = at.map(([x, , { y, half }]) => `${x} ${this.py(Math.min(y + half, this.y.max))}`);
        const lower = at.map(([x, , { y, half }]) => `${x} ${floor(y - half)}`).reverse();
        return `M${[...upper, ...lower].join("L")}z`;
    }

    /* ---- reading -------------------------------------------------------------------------- */

    onPointer(event) {
        const box = this.picture.getBoundingClientRect();
        const [x, y] = [event.clientX - box.left, event.clientY - box.top];
        let best = null;
        let least = NEAR * NEAR;
        this.shown.forEach((line, l) => line.points.forEach((point, p) => {
            const distance = (this.px(point.x) - x) ** 2 + (this.py(point.y) - y) ** 2;
            if (distance < least) [least, best] = [distance, [l, p]];
        }));
        this.read(best);
    }

    onKey(event) {
        const lines = this.shown;
        const way = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
        if (!way || !lines.length || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        event.stopPropagation();
        const [l, p] = this.at ?? [0, -1];
        const line = (l + way[0] + lines.length) % lines.length;
        const last = lines[line].points.length - 1;
        this.read([line, Math.min(last, Math.max(0, p + way[1]))]);
        say(this.reader.textContent);
    }

    read(at) {
        const line = at && this.shown[at[0]];
        const point = line?.points[at[1]];
        this.at = point ? at : null;
        this.pointer?.replaceChildren();
        this.reader.textContent = point ? this.textOf(line, point) : "";
        if (!point || !this.pointer) return;
        this.pointer.append(svg("circle", { cx: this.px(point.x), cy: this.py(point.y), r: 7, class: `c${styleOf(line.style).color}` }));
    }

    textOf(line, point) {
        const { xTip, unit, decimals } = this.about;
        const half = point.half > 0 ? ` ± ${point.half.toFixed(decimals)}` : "";
        const state = point.open ? ", saturated" : "";
        return `${line.name}, ${xTip} ${figureText(point.x, 6)}: ${point.y.toFixed(decimals)}${half} ${unit ?? ""}${state}`;
    }
}

/* Buttons that hide and show lines by their names. */
export class Legend {
    constructor(onChange) {
        this.hidden = new Set();
        this.onChange = onChange;
        this.box = element("div", { class: "curve-legend", role: "group", "aria-label": "Curves" });
        this.names = "";
    }

    show(lines) {
        const names = JSON.stringify(lines.map(({ name, style }) => [name, style]));
        if (names === this.names) return;
        this.names = names;
        this.box.replaceChildren(...lines.map((line) => this.button(line)));
    }

    button({ name, style }) {
        const { color, mark } = styleOf(style);
        const key = svg("svg", { class: "key", viewBox: "0 0 30 14", width: 30, height: 14, "aria-hidden": "true" },
            svg("g", { class: `line c${color}` }, svg("path", { class: "solid", d: "M1 7H29" }), svg("path", { class: "mark", d: markPath(mark, 15, 7, 3.6) })));
        const button = element("button", { type: "button", "aria-pressed": String(!this.hidden.has(name)), onclick: () => {
            if (!this.hidden.delete(name)) this.hidden.add(name);
            button.setAttribute("aria-pressed", String(!this.hidden.has(name)));
            this.onChange(this.hidden);
        } }, key, name);
        return button;
    }
}
