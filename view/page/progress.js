/*
 * Something that runs (--view of leat sim, sweep and run): how far it is, curves as they grow, the
 * states of tasks. Its server tells all of it twice a second (tool/view/watch.c).
 */
import { byId, element, say } from "./elements.js";
import { countText, numberText } from "./words.js";
import { Chart } from "./curves.js";
import { SortedTable } from "./tables.js";

const MINUTE = 60;

function durationText(seconds) {
    if (seconds < 10) return `${seconds.toFixed(1)} s`;
    if (seconds < MINUTE) return `${seconds.toFixed(0)} s`;
    const minutes = Math.floor(seconds / MINUTE);
    if (minutes < MINUTE) return `${minutes} min ${Math.floor(seconds % MINUTE)} s`;
    return `${Math.floor(minutes / MINUTE)} h ${minutes % MINUTE} min`;
}

const ENDS = { done: "has ended", failed: "has failed", interrupted: "was interrupted", lost: "has ended without saying how" };

export class Progress {
    constructor(transport, index, name) {
        this.name = name;
        this.charts = new Map();
        this.state = element("p", { class: "state", role: "status" }, "Waiting for the first figures …");
        this.bar = element("progress", { max: "1", "aria-label": `Progress of ${name}` });
        this.facts = element("dl", { class: "facts" });
        this.curves = element("div", { class: "charts" });
        this.lines = element("ul", { class: "running", "aria-label": "Running now" });
        this.summary = element("p", { class: "note-text" });
        this.cells = element("div", { class: "tasks", role: "img", "aria-label": "States of all tasks" });
        this.legend = element("p", { class: "task-legend" });
        this.table = taskTable();
        this.tasks = element("section", { class: "task-part", "aria-label": "Tasks", hidden: true },
            element("h2", {}, "Tasks"), this.legend, this.cells, this.table.box);
        this.head = element("div", { class: "progress-head" }, this.state, this.bar, this.facts, this.lines);
        this.box = element("section", { class: "live", "aria-label": name }, this.head, this.curves, this.tasks);
        transport.live(index, {
            status: (status) => this.onStatus(status),
            lost: () => this.onLost(),
            end: () => this.onEnd(),
        });
    }

    onStatus(status) {
        this.status = status;
        if (status.share < 0 || status.share === null) this.bar.hidden = true;
        else this.bar.value = status.share;
        this.showState();
        this.showFacts();
        this.lines.replaceChildren(...status.lines.map((line) => element("li", {}, line)));
        this.showCurves();
        this.showTasks();
    }

    showState() {
        const { state, seconds, share, text } = this.status;
        const running = state === "running";
        const left = running && share > 0.01 && seconds > 2 ? `, about ${durationText((seconds * (1 - share)) / share)} left` : "";
        this.state.textContent = running ? `Running for ${durationText(seconds)}${left}. ${text}` : `${this.name} ${ENDS[state]} after ${durationText(seconds)}. ${text}`;
        this.state.classList.toggle("ended", !running && state !== "done");
        this.state.classList.toggle("growing", running);
    }

    showFacts() {
        this.facts.replaceChildren(...this.status.facts.map(([key, value]) => element("div", {}, element("dt", {}, key), element("dd", {}, numberText(value)))));
    }

    showCurves() {
        const { x, curves, tag } = this.status;
        for (const [i, curve] of curves.entries()) {
            if (!this.charts.has(curve.name)) this.charts.set(curve.name, chartOf(curve, x));
            const points = x.values.map((at, p) => ({ x: at, y: curve.values[p], half: null, open: false })).filter(({ y }) => y !== null);
            this.charts.get(curve.name).show([{ name: tag, style: i, points }]);
        }
        const boxes = curves.map(({ name }) => this.charts.get(name).box);
        if (boxes.length !== this.curves.childElementCount) this.curves.replaceChildren(...boxes);
    }

    /* A cell for each task, coloured by what it does, and a table. */
    showTasks() {
        const { tasks } = this.status;
        this.tasks.hidden = !tasks.length;
        if (!tasks.length) return;
        const counts = new Map();
        for (const { does } of tasks) counts.set(does, (counts.get(does) ?? 0) + 1);
        const styles = new Map([...counts.keys()].sort().map((does) => [does, classOf(does)]));
        this.cells.replaceChildren(...tasks.map(({ task, does }) => element("span", { class: `task ${styles.get(does)}`, title: `task ${task}: ${does}` })));
        this.legend.replaceChildren(...[...counts].sort((a, b) => b[1] - a[1]).map(([does, count]) =>
            element("span", {}, element("span", { class: `task ${styles.get(does)}`, "aria-hidden": "true" }), `${does}: ${count} `)));
        this.cells.setAttribute("aria-label", `${countText(tasks.length, "task")}: ${[...counts].map(([does, count]) => `${count} ${does}`).join(", ")}`);
        this.table.show(tasks);
    }

    onLost() {
        this.state.textContent = `The connection to ${this.name} is lost; trying again …`;
    }

    onEnd() {
        if (!this.status) this.state.textContent = `${this.name} has ended.`;
        else if (this.status.state === "running") {
            this.status.state = "lost";
            this.showState();
        }
        this.state.classList.add("over");
        document.documentElement.dataset.run = "ended";
        say(this.state.textContent);
    }
}

/* A state has the same colour as long as the page lives. */
function classOf(does) {
    if (does === "computing") return "c0";
    if (does === "ended" || does === "not begun") return "none";
    let hash = 7;
    for (let i = 0; i < does.length; i++) hash = (Math.imul(hash, 31) + does.charCodeAt(i)) >>> 0;
    return `c${1 + (hash % 7)}`;
}

function chartOf({ name, unit }, x) {
    return new Chart({ title: name, xName: x.name, yName: unit, xTip: x.name, unit, decimals: 3, linesAlone: true, height: 190, xFromFirst: true });
}

function taskTable() {
    const number = (id, name) => ({ name, valueOf: (task) => task[id], isNumber: true });
    return new SortedTable("Tasks, as they were last seen", [
        number("task", "Task"), number("port", "Port"), { name: "Does", valueOf: ({ does }) => does },
        { name: "Its time", valueOf: ({ seconds }) => seconds, textOf: ({ seconds }) => `${seconds.toFixed(9)} s`, isNumber: true },
        number("sent", "Sent"), number("received", "Received"),
    ]);
}

/* Progress alone, or above the store that a sweep fills. */
export function placeProgress(progress, hasStore) {
    if (!hasStore) {
        byId("views").append(progress.box);
        return;
    }
    byId("strip").prepend(progress.head);
}
