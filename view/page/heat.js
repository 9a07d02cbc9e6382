/* A surface: cells coloured by a figure over two axes. Saturated cells are hatched. */
import { element, say } from "./elements.js";
import { svg, figureText } from "./drawing.js";
import { scaleOf, shareOf } from "./results.js";

const LEFT = 66;
const TOP = 8;
const RIGHT = 8;
const BOTTOM = 44;
const STEPS = 10; /* of the scale: classes of the style sheet */
const TEXT_WIDTH = 44; /* of a cell that has room for its number */

function stepOf(scale, value) {
    return Math.min(STEPS - 1, Math.floor(shareOf(scale, value) * STEPS));
}

export class Surface {
    constructor() {
        this.picture = svg("svg", { class: "surface", role: "img", tabindex: "0", onkeydown: (event) => this.onKey(event),
            onpointermove: (event) => this.onPointer(event), onpointerleave: () => this.read(null) });
        this.title = element("figcaption", {});
        this.reader = element("p", { class: "reader" });
        this.at = null; /* row and column that are read */
        this.scale = element("div", { class: "scale" });
        this.box = element("figure", { class: "chart-box surface-box" }, this.title, this.picture, this.scale, this.reader);
        new ResizeObserver(() => this.draw()).observe(this.picture);
    }

    /* surface: columns, rows, cells (results.js) */
    show(surface, { title, xName, yName, figure, unit }) {
        Object.assign(this, { surface, xName, yName, figure, unit });
        this.title.textContent = title;
        this.picture.setAttribute("aria-label", `${title}; arrow keys read its cells`);
        this.range = scaleOf(surface.cells, figure.id);
        this.draw();
        this.read(this.at && surface.cells[this.at[0]]?.[this.at[1]] !== undefined ? this.at : null);
        this.showScale();
    }

    draw() {
        const { width } = this.picture.getBoundingClientRect();
        if (!width || !this.surface) return;
        const { columns, rows } = this.surface;
        this.cellWidth = Math.min(90, (width - LEFT - RIGHT) / Math.max(1, columns.length));
        this.cellHeight = Math.max(22, Math.min(46, 300 / Math.max(1, rows.length)));
        const height = TOP + this.cellHeight * rows.length + BOTTOM;
        this.picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
        this.picture.setAttribute("height", height);
        this.pointer = svg("g", { class: "pointer" });
        this.picture.replaceChildren(this.pattern(), ...this.names(width, height), ...this.cells(), this.pointer);
    }

    pattern() {
        return svg("defs", {}, svg("pattern", { id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
            svg("path", { class: "hatch", d: "M0 0V6" })));
    }

    /* The first row is at the bottom, as on an axis. */
    placeOf(row, column) {
        return [LEFT + column * this.cellWidth, TOP + (this.surface.rows.length - 1 - row) * this.cellHeight];
    }

    names(width, height) {
        const { columns, rows } = this.surface;
        const every = Math.ceil(34 / this.cellWidth);
        const right = LEFT + columns.length * this.cellWidth;
        const out = columns.map((value, i) => (i % every ? "" : svg("text", { x: LEFT + (i + 0.5) * this.cellWidth, y: height - BOTTOM + 16, "text-anchor": "middle" }, figureText(value))));
        rows.forEach((value, i) => out.push(svg("text", { x: LEFT - 6, y: this.placeOf(i, 0)[1] + this.cellHeight / 2 + 4, "text-anchor": "end" }, figureText(value))));
        out.push(svg("text", { class: "axis-name", x: (LEFT + right) / 2, y: height - 6, "text-anchor": "middle" }, this.xName),
                 svg("text", { class: "axis-name", "text-anchor": "middle", transform: `translate(13 ${(height - BOTTOM + TOP) / 2}) rotate(-90)` }, this.yName));
        return [svg("g", { class: "axes" }, ...out.filter(Boolean))];
    }

    cells() {
        const { cells } = this.surface;
        return cells.flatMap((row, r) => row.flatMap((point, c) => {
            const [x, y] = this.placeOf(r, c);
            const value = point?.[this.figure.id] ?? null;
            const size = { x: x + 0.5, y: y + 0.5, width: this.cellWidth - 1, height: this.cellHeight - 1 };
            if (value === null) return [svg("rect", { ...size, class: "cell none" })];
            const step = stepOf(this.range, value);
            const out = [svg("rect", { ...size, class: `cell h${step}` })];
            if (point.state !== "steady") out.push(svg("rect", { ...size, fill: "url(#hatch)" }));
            if (this.cellWidth >= TEXT_WIDTH)
                out.push(svg("text", { class: `cell-text t${step} h${step}`, x: x + this.cellWidth / 2, y: y + this.cellHeight / 2 + 4, "text-anchor": "middle" }, figureText(value, 3)));
            return out;
        }));
    }

    showScale() {
        const { least, most, isLog } = this.range;
        const steps = Array.from({ length: STEPS }, (_, i) => element("span", { class: `h${i}` }));
        this.scale.replaceChildren(element("span", {}, figureText(least)), element("span", { class: "steps", "aria-hidden": "true" }, ...steps),
            element("span", {}, `${figureText(most)} ${this.unit ?? ""}${isLog ? ", logarithmic" : ""}`), element("span", { class: "hatched" }, "hatched: saturated"));
    }

    /* ---- reading -------------------------------------------------------------------------- */

    onPointer(event) {
        const box = this.picture.getBoundingClientRect();
        const column = Math.floor((event.clientX - box.left - LEFT) / this.cellWidth);
        const row = this.surface.rows.length - 1 - Math.floor((event.clientY - box.top - TOP) / this.cellHeight);
        this.read(this.surface.cells[row]?.[column] !== undefined ? [row, column] : null);
    }

    onKey(event) {
        const way = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [1, 0], ArrowDown: [-1, 0] }[event.key];
        const { rows, columns } = this.surface;
        if (!way || !rows.length || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        event.stopPropagation();
        const [row, column] = this.at ?? [0, -way[1]];
        this.read([Math.min(rows.length - 1, Math.max(0, row + way[0])), Math.min(columns.length - 1, Math.max(0, column + way[1]))]);
        say(this.reader.textContent);
    }

    read(at) {
        this.at = at;
        this.pointer?.replaceChildren();
        this.reader.textContent = at ? this.textOf(at) : "";
        if (!at || !this.pointer) return;
        const [x, y] = this.placeOf(...at);
        this.pointer.append(svg("rect", { x: x + 1, y: y + 1, width: this.cellWidth - 2, height: this.cellHeight - 2 }));
    }

    textOf([row, column]) {
        const { rows, columns, cells } = this.surface;
        const point = cells[row][column];
        const value = point?.[this.figure.id] ?? null;
        const where = `${this.xName} ${figureText(columns[column], 6)}, ${this.yName} ${figureText(rows[row], 6)}`;
        if (value === null) return `${where}: no run`;
        return `${where}: ${value.toFixed(this.figure.decimals)} ${this.unit ?? ""}${point.state === "steady" ? "" : `, ${point.state}`} (${point.line.name})`;
    }
}
