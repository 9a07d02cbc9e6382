/* A table whose columns sort, of which one page of rows has elements. */
import { element } from "./elements.js";
import { countText } from "./words.js";
import { sortRows } from "./results.js";

const ROWS = 100;

export class SortedTable {
    /* columns: name, valueOf, textOf (unless given: the value), isNumber, className */
    constructor(caption, columns) {
        this.columns = columns;
        this.rows = [];
        this.first = 0;
        this.column = -1; /* in the order of the rows */
        this.falling = false;
        this.heads = columns.map((column, i) => element("th", { scope: "col", class: column.isNumber ? "number" : "" },
            element("button", { type: "button", onclick: () => this.sortBy(i) }, column.name)));
        this.body = element("tbody", {});
        this.caption = element("caption", {}, caption);
        this.name = caption;
        this.said = element("span", { class: "rows-shown" });
        this.pages = element("div", { class: "pages" },
            element("button", { type: "button", onclick: () => this.turn(-1) }, "Previous"),
            element("button", { type: "button", onclick: () => this.turn(1) }, "Next"), this.said);
        this.box = element("div", { class: "sorted" }, this.pages,
            element("div", { class: "wide", tabindex: "0", role: "group", "aria-label": caption }, element("table", {}, this.caption, element("thead", {}, element("tr", {}, ...this.heads)), this.body)));
    }

    show(rows) {
        this.rows = rows;
        this.draw();
    }

    /* Rising, falling, as the rows are. */
    sortBy(column) {
        if (this.column !== column) [this.column, this.falling] = [column, false];
        else if (!this.falling) this.falling = true;
        else this.column = -1;
        this.first = 0;
        this.draw();
    }

    turn(way) {
        this.first += way * ROWS;
        this.draw();
    }

    draw() {
        const by = this.columns[this.column];
        const sorted = by ? sortRows(this.rows, by.valueOf, this.falling) : this.rows;
        this.first = Math.max(0, Math.min(this.first, ROWS * Math.floor(Math.max(0, sorted.length - 1) / ROWS)));
        const shown = sorted.slice(this.first, this.first + ROWS);
        this.heads.forEach((head, i) => {
            if (i === this.column) head.setAttribute("aria-sort", this.falling ? "descending" : "ascending");
            else head.removeAttribute("aria-sort");
        });
        const [back, next] = this.pages.children;
        back.disabled = this.first === 0;
        next.disabled = this.first + ROWS >= sorted.length;
        const all = sorted.length <= ROWS;
        back.hidden = next.hidden = all;
        this.said.textContent = all ? countText(sorted.length, "row") : `rows ${this.first + 1} to ${this.first + shown.length} of ${sorted.length}`;
        this.body.replaceChildren(...shown.map((row) => element("tr", {}, ...this.columns.map((column) => this.cell(column, row)))));
    }

    cell({ valueOf, textOf, isNumber, classOf }, row) {
        const value = valueOf(row);
        const text = textOf ? textOf(row) : value === null ? "–" : String(value);
        return element("td", { class: [isNumber ? "number" : "", classOf?.(row) ?? ""].join(" ").trim() || undefined }, text);
    }
}
