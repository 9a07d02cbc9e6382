/*
 * Stores of leat sweep and leat run: curves, surfaces and tables of the points that the filters
 * leave; two stores beside each other, on the same axes. A store that grows is shown again whenever
 * its server tells more.
 */
import { byId, element, say } from "./elements.js";
import { countText } from "./words.js";
import { figureText } from "./drawing.js";
import { FIGURES, STATES, figureOf, unitOf, readReport, filterPoints, curvesOf, surfaceAxes, valuesOf, surfaceOf, comparePoints } from "./results.js";
import { Chart, Legend } from "./curves.js";
import { Surface } from "./heat.js";
import { SortedTable } from "./tables.js";
import { Tabs } from "./tabs.js";

const CURVES = ["latency", "throughput", "p99"];

function option(value, text, selected) {
    return element("option", { value, selected }, text);
}

/* New choices, the same one chosen if it is still there. */
function fill(select, choices) {
    const text = JSON.stringify(choices);
    if (select.dataset.choices === text) return;
    const before = select.value;
    select.dataset.choices = text;
    select.replaceChildren(...choices.map(([value, name]) => option(value, name, value === before)));
}

/* ---- one store ---------------------------------------------------------------------------- */

class Store {
    constructor(name, page, index) {
        this.name = name;
        this.page = page;
        this.report = null;
        this.points = [];
        this.state = element("p", { class: "state", role: "status" }, "Waiting for the first run …");
        this.curves = element("div", { class: "charts-of-traffics" });
        this.legend = new Legend((hidden) => this.hide(hidden));
        this.charts = new Map(); /* by traffic and figure */
        this.surface = new Surface();
        this.choice = element("div", { class: "choices" });
        this.selects = {};
        this.noSurface = element("p", { class: "note-text" }, "Nothing varies but the load: sweep several values of a parameter, as mesh:8,8/buffer=2 mesh:8,8/buffer=4.");
        this.table = pointTable(this);
        this.programs = programTable();
        this.about = element("div", { class: "about" });
        this.curvesPart = element("div", {}, this.legend.box, this.curves);
        this.surfacePart = element("div", {}, this.choice, this.noSurface, this.surface.box);
        this.index = index;
    }

    /* ---- what is told ---------------------------------------------------------------------- */

    onStatus({ is_written: isWritten, report }) {
        const before = this.report?.runs;
        this.report = readReport(report);
        this.isWritten = isWritten;
        this.showState();
        if (before !== undefined && this.report.runs !== before) say(`${this.name}: ${countText(this.report.runs, "run")}`);
        this.page.changed();
    }

    showState() {
        const { runs, programs, sweeps } = this.report;
        const parts = [countText(runs, "run"), `${countText(this.report.points.length, "point")} of ${countText(sweeps.length, "sweep")}`];
        if (programs.length) parts.push(countText(programs.length, "program run"));
        const now = !this.page.isServed ? "" : this.ended ? " Cannot be read any more: the last state stays." : this.isWritten ? " A leat is writing: this page follows." : " Nothing writes now.";
        this.state.textContent = `${this.name}: ${parts.join(", ")}.${now}`;
        this.state.classList.toggle("ended", Boolean(this.ended));
        this.state.classList.toggle("growing", Boolean(this.isWritten && !this.ended));
    }

    onLost() {
        this.state.textContent = `${this.name}: the connection to leat is lost; trying again …`;
    }

    onEnd() {
        if (!this.page.isServed) return;
        this.ended = !this.page.isRun;
        if (this.report) this.showState();
        else this.state.textContent = `${this.name}: has ended before its first run.`;
    }

    /* ---- what is shown --------------------------------------------------------------------- */

    filter(wanted) {
        this.points = this.report ? filterPoints(this.report.points, wanted) : [];
    }

    hide(hidden) {
        for (const chart of this.charts.values()) chart.hide(hidden);
    }

    chartOf(traffic, figure) {
        const id = `${figure.id} ${traffic}`;
        if (!this.charts.has(id)) {
            const unit = unitOf(figure, this.report);
            this.charts.set(id, new Chart({ title: `${figure.name}, ${traffic}`, xName: "offered load, share of a terminal's line",
                yName: figure.id === "throughput" ? "accepted, share of a line" : `${figure.short}, ${unit}`,
                xTip: "load", unit, decimals: figure.decimals, mayBeLog: figure.isTime, diagonal: figure.id === "throughput" }));
            this.charts.get(id).hide(this.legend.hidden);
        }
        return this.charts.get(id);
    }

    /* ranges(traffic, figure): what the other store has, so that axes are the same. */
    showCurves(ranges) {
        const traffics = [...new Set(this.points.map(({ traffic }) => traffic))];
        this.legend.show([...new Set(this.points.map(({ line }) => line))].map(({ name, index }) => ({ name, style: index })));
        const sections = traffics.map((traffic) => {
            const own = this.points.filter((point) => point.traffic === traffic);
            const charts = CURVES.map((id) => {
                const chart = this.chartOf(traffic, figureOf(id));
                chart.show(curvesOf(own, id), ranges(traffic, id));
                return chart.box;
            });
            return element("section", { class: "charts", "aria-label": `Traffic ${traffic}` }, ...charts);
        });
        if (!this.points.length) sections.push(element("p", { class: "note-text" }, this.report?.points.length ? "No point is left by the filters." : "There is no run of a sweep yet."));
        this.curves.replaceChildren(...sections);
    }

    /* ---- surfaces -------------------------------------------------------------------------- */

    select(id, name, choices) {
        if (!this.selects[id]) {
            const select = element("select", { onchange: () => this.showSurface() });
            this.selects[id] = { select, box: element("label", {}, `${name} `, select) };
        }
        fill(this.selects[id].select, choices);
        this.choice.append(this.selects[id].box);
        return this.selects[id].select;
    }

    /* Families that have points, or one of everything else if there is none. */
    showSurface() {
        const families = [...new Set(this.points.map(({ line }) => line.family).filter((family) => family !== undefined))].sort((a, b) => a - b);
        const hasAny = families.length > 0;
        this.noSurface.hidden = hasAny;
        this.surface.box.hidden = this.choice.hidden = !hasAny;
        if (!hasAny) return;
        this.choice.replaceChildren();
        const family = Number(this.select("family", "lines", families.map((one) => [String(one), this.familyName(one)])).value);
        const ofFamily = this.points.filter(({ line }) => line.family === family);
        const traffic = this.select("traffic", "traffic", [...new Set(ofFamily.map((point) => point.traffic))].map((one) => [one, one])).value;
        const points = ofFamily.filter((point) => point.traffic === traffic);
        const figure = figureOf(this.select("figure", "colour", FIGURES.map(({ id, name }) => [id, name.toLowerCase()])).value);
        const axes = surfaceAxes(this.report, family);
        const x = this.axis("x", "across", axes, axes[0]);
        const y = this.axis("y", "up", axes.filter((axis) => axis !== x), axes.find((axis) => axis !== x));
        const fixed = axes.filter((axis) => axis !== x && axis !== y && valuesOf(points, axis).length > 1)
            .map((axis) => ({ axis, value: Number(this.select(`at ${axis.id}`, axis.text, valuesOf(points, axis).map((value) => [String(value), figureText(value, 6)])).value) }));
        const where = fixed.map(({ axis, value }) => `, ${axis.text} ${figureText(value, 6)}`).join("");
        this.surface.show(surfaceOf(points, x, y, fixed), { title: `${figure.name}, ${traffic}${where}`, xName: x.text, yName: y.text, figure, unit: unitOf(figure, this.report) });
    }

    axis(id, name, axes, preset) {
        const wanted = this.select(id, name, axes.map((axis) => [axis.id, axis.text])).value;
        return axes.find((axis) => axis.id === wanted) ?? preset;
    }

    familyName(family) {
        const first = this.report.lines.find((line) => line.family === family);
        const count = this.report.lines.filter((line) => line.family === family).length;
        return `${first.fabric.split("/")[0]} (${countText(count, "line")})`;
    }

    /* ---- where it comes from ----------------------------------------------------------------- */

    showAbout() {
        const rows = this.report.sweeps.map(({ id, version, options, files, created, runs }) => element("tr", {}, ...[id, version, options || "–", files.split("\n").map((file) => file.split(" ")[0]).join(" ") || "–", created, runs]
            .map((value) => element("td", {}, String(value)))));
        this.about.replaceChildren(element("table", {}, element("caption", {}, "Sweeps of this store"),
            element("thead", {}, element("tr", {}, ...["sweep", "leat", "options", "files", "begun (UTC)", "runs"].map((name) => element("th", { scope: "col" }, name)))), element("tbody", {}, ...rows)));
    }
}

/* ---- tables ------------------------------------------------------------------------------- */

/* A mean with half of its interval. */
function meanText(point, id) {
    const { decimals } = figureOf(id);
    if (point[id] === null) return "–";
    const half = point[`${id}_half`] ?? null;
    return half === null ? point[id].toFixed(decimals) : `${point[id].toFixed(decimals)} ± ${half.toFixed(decimals)}`;
}

function stateText({ state, deadlocks, saturated, runs }) {
    if (state === "deadlock") return `deadlock in ${deadlocks} of ${runs}`;
    if (state === "saturated" && saturated < runs) return `saturated in ${saturated} of ${runs}`;
    return state;
}

const WHERE = [
    { name: "Fabric", valueOf: ({ line }) => line.name },
    { name: "Options", valueOf: ({ line }) => line.options },
    { name: "Traffic", valueOf: ({ traffic }) => traffic },
    { name: "Load", valueOf: ({ load }) => load, isNumber: true },
];

function pointTable(store) {
    const mean = (id, name) => ({ name, valueOf: (point) => point[id], textOf: (point) => meanText(point, id), isNumber: true });
    const count = (id, name) => ({ name, valueOf: (point) => point[id], isNumber: true });
    const table = new SortedTable("All points: means over seeds, ± half of the 95 % interval", [
        ...WHERE, count("runs", "Runs"), mean("throughput", "Accepted"), mean("latency", "Mean latency"), mean("p99", "99th percentile"), mean("hops", "Hops"),
        { name: "State", valueOf: ({ state }) => state, textOf: stateText, classOf: ({ state }) => `state-${state}` }, count("lost", "Lost"), count("rerouted", "Rerouted"),
    ]);
    table.box.dataset.store = store.name;
    return table;
}

function programTable() {
    const seconds = (id, name) => ({ name, valueOf: (run) => run[id], textOf: (run) => (run[id] === null ? "–" : `${run[id].toFixed(9)} s`), isNumber: true });
    const plain = (id, name, isNumber = false) => ({ name, valueOf: (run) => run[id], isNumber });
    return new SortedTable("Programs: the latest run of each over each fabric", [
        plain("command", "Program"), plain("options", "Options"), plain("fabric", "Fabric"), plain("tasks", "Tasks", true), seconds("seconds", "Simulated time"),
        seconds("contention_seconds", "Contention"), plain("messages", "Messages", true), plain("octets", "Octets", true), plain("status", "Status"), plain("created", "Run at (UTC)"),
    ]);
}

function percentText(change) {
    return change === null ? "–" : `${change > 0 ? "+" : ""}${(100 * change).toFixed(1)} %`;
}

function differenceTable() {
    const both = (id, name) => [
        { name, valueOf: ({ a }) => a[id], textOf: ({ a, b }) => `${meanText(a, id)} → ${meanText(b, id)}`, isNumber: true },
        { name: "Change", valueOf: (row) => row[`${id}_change`], textOf: (row) => percentText(row[`${id}_change`]), isNumber: true },
    ];
    return new SortedTable("Points of both stores; ≠: another state, or intervals that have nothing in common", [
        { name: "≠", valueOf: ({ differs }) => (differs ? 0 : 1), textOf: ({ differs }) => (differs ? "≠" : ""), classOf: ({ differs }) => (differs ? "mark" : "") },
        ...WHERE, ...both("throughput", "Accepted"), ...both("latency", "Mean latency"), ...both("p99", "99th percentile"),
    ]);
}

/* ---- the page ------------------------------------------------------------------------------- */

export class StorePage {
    /* stores: [index of the source, name]; isRun: a sweep of this leat fills it. */
    constructor(transport, stores, isRun = false) {
        this.isServed = transport.isServed;
        this.isRun = isRun;
        this.stores = stores.map(([, name], i) => new Store(name, this, i));
        this.makeFilters();
        const parts = (of) => this.stores.map(of);
        const names = this.stores.map(({ name }) => name);
        const views = [{ id: "curves", title: "Curves", parts: parts((store) => store.curvesPart) },
                       { id: "surfaces", title: "Surfaces", parts: parts((store) => store.surfacePart) },
                       { id: "points", title: "Points", parts: parts((store) => element("div", {}, store.table.box, store.about)) },
                       { id: "programs", title: "Programs", parts: parts((store) => store.programs.box) }];
        if (this.stores.length > 1) {
            this.differences = differenceTable();
            this.differs = element("p", { class: "note-text", role: "status" });
            views.push({ id: "compare", title: "Compare", parts: [element("div", {}, this.differs, this.differences.box)] });
        }
        byId("strip").append(...this.stores.map(({ state }) => state), this.filters);
        this.tabs = new Tabs(views, names, () => this.show());
        byId("help").replaceChildren(element("summary", {}, "Keys"), element("p", {}, "1 to 5 views, / filters; on a chart or a surface the arrow keys read its points. A button of the legend hides its curve, a head of a table sorts."));
        document.addEventListener("keydown", (event) => this.onKey(event));
        stores.forEach(([source], i) => transport.live(source, {
            status: (status) => this.stores[i].onStatus(status),
            lost: () => this.stores[i].onLost(),
            end: () => this.stores[i].onEnd(),
        }));
    }

    makeFilters() {
        const input = (type, label, attributes) => element("label", {}, `${label} `, element("input", { type, oninput: () => this.changed(), ...attributes }));
        this.text = input("search", "fabric or option", { placeholder: "mesh -buffer=1", id: "filter-text", autocomplete: "off" });
        this.least = input("number", "load from", { min: 0, max: 1, step: "any", id: "filter-least" });
        this.most = input("number", "to", { min: 0, max: 1, step: "any", id: "filter-most" });
        this.traffic = element("select", { id: "filter-traffic", onchange: () => this.changed() }, option("", "all"));
        this.state = element("select", { id: "filter-state", onchange: () => this.changed() }, option("", "all"), ...STATES.map((state) => option(state, state)));
        this.filters = element("form", { class: "filters", role: "search", "aria-label": "Filters", onsubmit: (event) => event.preventDefault() },
            this.text, element("label", {}, "traffic ", this.traffic), this.least, this.most, element("label", {}, "state ", this.state));
    }

    get wanted() {
        const number = (label) => label.querySelector("input").valueAsNumber;
        return { text: this.text.querySelector("input").value, traffic: this.traffic.value, state: this.state.value, least: number(this.least), most: number(this.most) };
    }

    /* Once per frame, however much is told. */
    changed() {
        if (this.isDue) return;
        this.isDue = true;
        requestAnimationFrame(() => {
            this.isDue = false;
            this.gather();
            this.show();
        });
    }

    gather() {
        const traffics = [...new Set(this.stores.flatMap(({ report }) => report?.traffics ?? []))].sort();
        fill(this.traffic, [["", "all"], ...traffics.map((traffic) => [traffic, traffic])]);
        for (const store of this.stores) store.filter(this.wanted);
        this.tabs.offer("programs", this.stores.some(({ report }) => report?.programs.length));
    }

    /* Only what is visible is drawn. */
    show() {
        if (!this.tabs) return;
        for (const store of this.stores) {
            if (!store.report) continue;
            if (this.tabs.view === "curves") store.showCurves((traffic, id) => this.ranges(traffic, id));
            if (this.tabs.view === "surfaces") store.showSurface();
            if (this.tabs.view === "points") {
                store.table.show(store.points);
                store.showAbout();
            }
            if (this.tabs.view === "programs") store.programs.show(store.report.programs);
        }
        if (this.tabs.view === "compare") this.compare();
    }

    /* What both stores have of a chart: one axis for both. */
    ranges(traffic, id) {
        if (this.stores.length === 1) return { x: [], y: [] };
        const points = this.stores.flatMap((store) => store.points).filter((point) => point.traffic === traffic && point[id] !== null);
        return { x: points.map(({ load }) => load), y: points.map((point) => point[id]) };
    }

    compare() {
        const [a, b] = this.stores;
        const { rows, alone, others } = comparePoints(a.points, b.points);
        const differ = rows.filter(({ differs }) => differs).length;
        this.differences.show(rows);
        this.differs.textContent = `${countText(rows.length, "point")} in both, ${differ} of them ${differ === 1 ? "differs" : "differ"} (≠); ${alone.length} only in ${a.name}, ${others.length} only in ${b.name}.`;
    }

    onKey(event) {
        if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
        const tab = this.tabs.shown[Number(event.key) - 1];
        if (tab) this.tabs.show(tab.id);
        else if (event.key === "/") this.text.querySelector("input").focus();
        else return;
        event.preventDefault();
    }
}
