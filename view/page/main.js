/* The page: opens what there is, and joins time, views, search and keys. */
import { timeOf, NO_EVENT } from "./recording.js";
import { eventAfter, firstAfter } from "./lanes.js";
import { byId, element, say } from "./elements.js";
import { onColorsChange } from "./colors.js";
import { timeText, countText, numberText } from "./words.js";
import { transportOf } from "./transport.js";
import { Stage } from "./stage.js";
import { Timeline } from "./timeline.js";
import { Overview } from "./overview.js";
import { Fabric } from "./fabric.js";
import { Events } from "./events.js";
import { Details, clockText, wayHops } from "./details.js";
import { find } from "./find.js";
import { compare } from "./differs.js";
import { Live } from "./live.js";
import { StorePage } from "./store.js";
import { Progress, placeProgress } from "./progress.js";

const PLAY_SECONDS = 20; /* a whole recording at the first speed */
const DIFFERENCES_NAMED = 5;

/* ---- opening ------------------------------------------------------------------------------ */

function showProgress(text, share) {
    byId("progress-text").textContent = text;
    byId("progress").value = share;
}

function readInWorker(transport, octets, name) {
    return new Promise((resolve, reject) => {
        const worker = transport.worker();
        worker.onmessage = ({ data }) => {
            if (data.progress !== undefined) showProgress(`Reading ${name} …`, data.progress);
            if (data.opened) resolve(data.opened);
            if (data.failed) reject(new Error(data.failed));
            if (data.opened || data.failed) worker.terminate();
        };
        worker.onerror = (event) => reject(new Error(event.message || "the reader cannot be started"));
        worker.postMessage(octets, [octets]);
    });
}

async function open(transport, source, i) {
    const begin = performance.now();
    const octets = await transport.octets(i, (share) => showProgress(`Loading ${source.name} …`, share));
    const opened = await readInWorker(transport, octets, source.name);
    performance.measure(`open ${source.name}`, { start: begin });
    return { ...opened, name: source.name, drawing: source.fabric ?? null };
}

/* ---- the page of recordings ----------------------------------------------------------------- */

class Page {
    constructor(transport, all) {
        this.all = all;
        this.stage = new Stage();
        this.stage.setEnd(Math.max(...all.map(({ rec }) => rec.end)));
        this.details = new Details(byId("details"), transport, this);
        this.timelines = all.map((opened) => new Timeline(opened, this.stage, this));
        this.fabrics = all.map((opened) => new Fabric(opened, this.stage, this));
        this.tables = all.map((opened) => new Events(opened, this.stage, this));
        byId("strip").append(new Overview(all, this.stage).canvas);
        this.makeViews();
        this.makeControls();
        this.makeSearch();
        document.addEventListener("keydown", (event) => this.onKey(event));
        onColorsChange(() => this.stage.changed());
        this.stage.onChange(() => this.showNow());
        this.showDamage();
        if (all.length === 2) this.compare();
        for (const id of ["controls", "details", "tabs"]) byId(id).hidden = false;
        byId("opening").hidden = true;
        say(`${all.map(({ name, rec }) => `${name}, ${countText(rec.count, "event")}`).join("; ")}, ${timeText(this.stage.end)}`);
    }

    /* ---- selection ---------------------------------------------------------------------------- */

    select(opened, event) {
        if (event === undefined || event === NO_EVENT) return;
        const { rec } = opened;
        this.timelines.forEach((timeline) => {
            timeline.way = timeline.rec === rec ? wayHops(opened, event) : [];
            timeline.select(timeline.rec === rec ? event : NO_EVENT);
        });
        this.fabrics.forEach((fabric) => fabric.follow(fabric.rec === rec ? event : NO_EVENT));
        const time = timeOf(rec, event);
        if (time < this.stage.from || time > this.stage.to) this.stage.center(time);
        this.selectedTime = time;
        this.details.event(opened, event);
        this.stage.changed();
    }

    track(opened, track) {
        const timeline = this.timelines.find(({ rec }) => rec === opened.rec);
        if (timeline.tree.selected !== track) {
            timeline.tree.select(track);
            return;
        }
        this.details.track(opened, track);
        this.stage.changed();
    }

    /* ---- views ---------------------------------------------------------------------------- */

    makeViews() {
        const views = [["timeline", "Time line", this.timelines.map((timeline) => [timeline.note, timeline.box])],
                       ["fabric", "Network", this.fabrics.map((fabric) => [fabric.box])],
                       ["events", "Events", this.tables.map((table) => [table.box])]];
        this.tabs = views.map(([id, title, panes]) => {
            const tab = element("button", { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": `view-${id}`, onclick: () => this.showView(id) }, title);
            const children = panes.map((parts, i) => element("section", { class: "pane", "aria-label": this.all[i].name },
                this.all.length > 1 ? element("h2", { class: "pane-name" }, this.all[i].name) : "", ...parts));
            const panel = element("div", { class: `view panes${panes.length}`, role: "tabpanel", id: `view-${id}`, "aria-labelledby": `tab-${id}`, hidden: true }, ...children);
            byId("tabs").append(tab);
            byId("views").append(panel);
            return { id, tab, panel };
        });
        byId("tabs").addEventListener("keydown", (event) => {
            const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
            if (!step) return;
            const at = this.tabs.findIndex(({ id }) => id === this.view);
            const { id, tab } = this.tabs[(at + step + this.tabs.length) % this.tabs.length];
            this.showView(id);
            tab.focus();
            event.stopPropagation();
        });
        this.showView("timeline");
    }

    showView(view) {
        this.view = view;
        for (const { id, tab, panel } of this.tabs) {
            panel.hidden = id !== view;
            tab.setAttribute("aria-selected", String(id === view));
            tab.tabIndex = id === view ? 0 : -1;
        }
        this.stage.changed();
    }

    /* ---- play ------------------------------------------------------------------------------- */

    makeControls() {
        byId("play").addEventListener("click", () => this.stage.toggle());
        byId("back").addEventListener("click", () => this.step(-1));
        byId("forth").addEventListener("click", () => this.step(1));
        byId("closer").addEventListener("click", () => this.stage.zoom(0.5, this.middle()));
        byId("farther").addEventListener("click", () => this.stage.zoom(2, this.middle()));
        byId("whole").addEventListener("click", () => this.stage.showAll());
        byId("empty").addEventListener("change", () => this.timelines.forEach(({ tree }) => tree.showEmpty(byId("empty").checked)));
        this.makeSpeeds();
        this.makeSteps();
    }

    /* Zoom keeps the play time where it is, if it is in view. */
    middle() {
        const share = (this.stage.now - this.stage.from) / this.stage.span;
        return share > 0 && share < 1 ? share : 0.5;
    }

    makeSpeeds() {
        const whole = this.stage.end / PLAY_SECONDS;
        const nearest = Math.max(1, Math.round(Math.log10(whole) * 3));
        for (let i = Math.max(0, nearest - 18); i <= nearest + 6; i++) {
            const speed = [1, 2, 5][i % 3] * 10 ** Math.floor(i / 3);
            byId("speed").append(element("option", { value: speed }, `${timeText(speed)}/s`));
        }
        const options = [...byId("speed").options];
        const best = options.reduce((a, b) => (Math.abs(Math.log(a.value / whole)) <= Math.abs(Math.log(b.value / whole)) ? a : b));
        best.selected = true;
        this.stage.speed = Number(best.value);
        byId("speed").addEventListener("change", () => { this.stage.speed = Number(byId("speed").value); });
    }

    makeSteps() {
        const { clocks } = this.all[0].rec;
        const add = (value, text) => byId("step").append(element("option", { value }, text));
        add("event", "event");
        add("track", "event of the track");
        clocks.forEach((clock, i) => { if (clock) add(String(i), `cycle, ${clockText(clock)}`); });
    }

    step(way) {
        this.stage.playing = false;
        const by = byId("step").value;
        const time = by === "event" || by === "track" ? this.eventStep(way, by) : this.cycleStep(way, this.all[0].rec.clocks[Number(by)]);
        if (time === undefined) return;
        this.stepped = Math.abs(time - this.stage.now); /* which the text of the time has to show */
        this.stage.goTo(time);
        say(`${timeText(this.stage.now)}: ${this.eventsNow()}`);
    }

    /* The time of the next event that has another time than now. */
    eventStep(way, by) {
        const times = this.timelines.map(({ rec, lanes, tree }) => {
            const track = by === "track" ? tree.selected : 0;
            const now = this.stage.now;
            if (track) {
                const item = way > 0 ? firstAfter(lanes, track, now) : firstAfter(lanes, track, now - 1) - 1;
                return item >= lanes.first[track] && item < lanes.first[track + 1] ? timeOf(rec, lanes.event[item]) : undefined;
            }
            const event = way > 0 ? eventAfter(rec, now) : eventAfter(rec, now - 1) - 1;
            return event >= 0 && event < rec.count ? timeOf(rec, event) : undefined;
        }).filter((time) => time !== undefined);
        if (!times.length) return undefined;
        return way > 0 ? Math.min(...times) : Math.max(...times);
    }

    cycleStep(way, { num, den }) {
        const period = num / den;
        const cycle = way > 0 ? Math.floor(this.stage.now / period + 1e-9) + 1 : Math.ceil(this.stage.now / period - 1e-9) - 1;
        return Math.max(0, cycle * period);
    }

    eventsNow() {
        const count = this.all.reduce((sum, { rec }) => sum + eventAfter(rec, this.stage.now) - eventAfter(rec, this.stage.now - 1), 0);
        return countText(count, "event");
    }

    showNow() {
        byId("now").textContent = timeText(this.stage.now, Math.min(this.stage.span / 1000, this.stage.end / 1000, this.stepped || Infinity));
        const text = this.stage.playing ? "Pause" : "Play";
        if (byId("play").textContent === text) return;
        byId("play").textContent = text;
        byId("play").setAttribute("aria-pressed", String(this.stage.playing));
    }

    /* ---- search ------------------------------------------------------------------------------ */

    makeSearch() {
        byId("search").addEventListener("submit", (event) => {
            event.preventDefault();
            this.search(byId("wanted").value);
        });
        byId("wanted").addEventListener("input", () => { byId("found").hidden = true; });
        byId("search").addEventListener("keydown", (event) => { if (event.key === "Escape") byId("found").hidden = true; });
    }

    search(text) {
        const results = this.all.flatMap((opened) => find(opened, text, this.stage.now).map((result) => ({ ...result, opened })));
        const rows = results.map((result) => element("li", {}, element("button", { type: "button", onclick: () => this.goTo(result) },
            this.all.length > 1 ? `${result.opened.name}: ${result.text}` : result.text)));
        byId("found").replaceChildren(...(rows.length ? rows : [element("li", {}, "Nothing found")]));
        byId("found").hidden = !text.trim();
        say(results.length ? `${countText(results.length, "place")} found` : "Nothing found");
        if (results.length === 1) this.goTo(results[0]);
        else byId("found").querySelector("button")?.focus();
    }

    goTo({ opened, event, track }) {
        byId("found").hidden = true;
        if (event === undefined) {
            this.track(opened, track);
            return;
        }
        this.stage.goTo(timeOf(opened.rec, event));
        this.select(opened, event);
    }

    /* ---- keys ---------------------------------------------------------------------------------- */

    onKey(event) {
        if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
        if (event.key === " " && /^(BUTTON|SUMMARY)$/.test(event.target.tagName)) return; /* its own */
        const actions = {
            " ": () => this.stage.toggle(),
            ".": () => this.step(1),
            ",": () => this.step(-1),
            "+": () => this.stage.zoom(0.7, this.middle()),
            "-": () => this.stage.zoom(1 / 0.7, this.middle()),
            "0": () => this.stage.showAll(),
            "/": () => byId("wanted").focus(),
            ArrowLeft: () => this.stage.pan(-0.1),
            ArrowRight: () => this.stage.pan(0.1),
            Home: () => this.stage.goTo(0),
            End: () => this.stage.goTo(this.stage.end),
        };
        this.tabs.forEach(({ id }, i) => { actions[String(i + 1)] = () => this.showView(id); });
        if (!actions[event.key]) return;
        actions[event.key]();
        event.preventDefault();
    }

    /* ---- what is wrong, and what differs --------------------------------------------------------- */

    showDamage() {
        const texts = this.all.filter(({ rec }) => rec.damage).map(({ name, rec: { damage, count } }) =>
            `${name}: octet ${numberText(damage.octet)}: ${damage.text} (${damage.code}). What is before it is shown: ${countText(count, "event")}.`);
        byId("damage").textContent = texts.join(" ");
        byId("damage").hidden = !texts.length;
    }

    compare() {
        const paths = [];
        compare(this.all[0], this.all[1], (path, a, b, time) => {
            paths.push(path);
            [a, b].forEach((track, i) => {
                if (!track) return;
                this.timelines[i].tree.marked.add(track);
                this.timelines[i].firstDifference.set(track, time);
            });
        }, () => {
            const named = paths.slice(0, DIFFERENCES_NAMED).join(", ");
            byId("differences").textContent = paths.length
                ? `${countText(paths.length, "track")} differ${paths.length === 1 ? "s" : ""} (≠): ${named}${paths.length > DIFFERENCES_NAMED ? ", …" : ""}`
                : "The recordings do not differ.";
            byId("differences").hidden = false;
            this.stage.changed();
        });
    }
}

/* ---- begin ---------------------------------------------------------------------------------- */

async function begin() {
    const transport = transportOf();
    const { sources } = await transport.sources();
    const run = sources.find(({ kind }) => kind === "progress"); /* its store is part of it */
    const names = run ? [run.name] : sources.map(({ name }) => name);
    byId("names").textContent = names.join(" and ");
    document.title = `${names.join(", ")} – leat view`;
    const recordings = [];
    const stores = [];
    for (const [i, source] of sources.entries()) {
        if (source.kind === "live") byId("views").append(new Live(transport, i, source.name).box);
        else if (source.kind === "store") stores.push([i, source.name]);
        else if (source.kind === "recording") recordings.push(await open(transport, source, i));
    }
    const runs = sources.flatMap(({ kind, name }, i) => (kind === "progress" ? [new Progress(transport, i, name)] : []));
    byId("opening").hidden = true;
    if (recordings.length) new Page(transport, recordings);
    else document.body.classList.add("live-only");
    if (stores.length) new StorePage(transport, stores, runs.length > 0);
    runs.forEach((progress) => placeProgress(progress, stores.length > 0));
    document.documentElement.dataset.state = "ready";
}

begin().catch((error) => {
    showProgress(`The page cannot show this: ${error.message}`, 0);
    document.documentElement.dataset.state = "failed";
});
