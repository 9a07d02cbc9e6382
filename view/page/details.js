/* What is selected: an event with its fields, the way of its message and where it waited, or a track. */
import { BEGIN, END, FRAME, FLOW, LANE, SIGNAL, VALUE, DIRECTIONS, NO_EVENT } from "./recording.js";
import { timeOf, eventOf, kindOf, firstField } from "./recording.js";
import { wholeEvent, itemOf, beginOf, timeAt, spansBefore, busyShare, valueRange } from "./lanes.js";
import { wayOf } from "./flows.js";
import { element, say } from "./elements.js";
import { timeText, exactTimeText, numberText, countText, eventText, kindText, messageText, hexOf } from "./words.js";

const WAY_SHOWN = 60;
const HEX_SHOWN = 256;

function list(pairs) {
    const out = element("dl", {});
    for (const [name, value] of pairs)
        if (value !== undefined) out.append(element("dt", {}, name), element("dd", {}, value));
    return out;
}

/* Any JSON, as a tree that folds. */
export function jsonTree(value, name = "") {
    if (value === null || typeof value !== "object")
        return element("li", {}, name ? element("b", {}, name) : "", name ? " " : "", String(value));
    const children = Object.entries(value).map(([key, child]) => jsonTree(child, Array.isArray(value) ? `[${key}]` : key));
    return element("li", {}, element("details", { open: true }, element("summary", {}, name || "fields"), element("ul", {}, ...children)));
}

export class Details {
    constructor(box, transport, on) {
        Object.assign(this, { box, transport, on });
        this.asked = 0;
    }

    show(title, ...parts) {
        this.asked++;
        this.box.replaceChildren(element("h2", {}, title), ...parts);
    }

    track(opened, track) {
        const { rec, lanes } = opened;
        const { path, kind, clock, link, width } = rec.tracks[track];
        const count = lanes.first[track + 1] - lanes.first[track];
        const words = { [LANE]: "lane", [SIGNAL]: "signal" };
        const range = kind === SIGNAL && count ? valueRange(lanes, track) : null;
        const pairs = [["kind", words[kind] ?? "group"], ["events", kind === LANE || kind === SIGNAL ? numberText(count) : undefined],
                       ["clock", clock ? clockText(rec.clocks[clock]) : undefined], ["link type", link || undefined],
                       ["bits", width || undefined], ["values", range ? `${range.low} to ${range.high}` : undefined],
                       ["in spans", lanes.hasSpans[track] ? `${(100 * busyShare(rec, lanes, track, 0, rec.end)).toFixed(1)} % of the time` : undefined]];
        this.show(path, list(pairs));
        say(`${path}, ${countText(count, "event")}`);
    }

    event(opened, event) {
        const { rec, lanes } = opened;
        const e = wholeEvent(rec, lanes, event);
        const path = rec.tracks[e.track].path;
        const pairs = [["time", exactTimeText(e.at)], ["track", path], ["event", kindText(e)], ["number", numberText(event)]];
        if (e.kind === BEGIN || e.kind === END) pairs.push(...this.spanPairs(opened, e));
        if (e.kind === VALUE) pairs.push(["value", `${numberText(e.value)} (0x${e.value.toString(16)})`]);
        if (e.kind === FLOW) pairs.push(...this.flowPairs(rec, e));
        if (e.kind === FRAME) pairs.push(["direction", DIRECTIONS[e.direction] || "not known"], ["length", countText(e.octets.length, "octet")]);
        this.show(eventText(rec, e), list(pairs));
        if (e.kind === FLOW) this.box.append(this.way(opened, e));
        if (e.kind === FRAME) this.frame(opened, e);
        say(`${timeText(timeOf(rec, event))}, ${path}: ${eventText(rec, e)}`);
    }

    spanPairs({ rec, lanes }, e) {
        const item = itemOf(rec, lanes, e.event);
        const [begin, end] = e.kind === BEGIN ? [item, lanes.link[item]] : [beginOf(rec, lanes, item), item];
        const until = end === NO_EVENT ? rec.end : timeAt(lanes, end);
        return [["name", rec.names[e.name]], ["begins", timeText(timeAt(lanes, begin))],
                ["ends", end === NO_EVENT ? "not in this recording" : timeText(until)],
                ["takes", timeText(until - timeAt(lanes, begin))]];
    }

    flowPairs(rec, e) {
        return [["message", messageText(e.message)], ["other end", e.peer ? rec.tracks[e.peer].path : "not known"],
                ["length", `${numberText(e.length)} octets`], ["tag", e.tag ?? "none"]];
    }

    /* All lanes that saw the message, and where the longest time passed. */
    way(opened, e) {
        const { rec, lanes, flows } = opened;
        const way = wayOf(rec, flows, e.message).map((flow) => flows.event[flow]);
        const times = way.map((event) => timeOf(rec, event));
        const waits = times.map((time, i) => (i ? time - times[i - 1] : 0));
        const longest = waits.indexOf(Math.max(...waits));
        /* Longer than the quickest of its kind took from there. */
        const waited = (i) => {
            const more = i ? waits[i] - flows.least[rec.track[way[i - 1]]] : 0;
            return more > 0 ? timeText(more) : "";
        };
        const rows = way.slice(0, WAY_SHOWN).map((event, i) => {
            const open = spansBefore(rec, lanes, rec.track[event], itemOf(rec, lanes, event)).pop();
            const name = open === undefined ? "" : rec.names[firstField(rec, lanes.event[open])];
            return element("tr", { class: i === longest && waits[i] > 0 ? "longest" : "" },
                element("td", {}, element("button", { type: "button", onclick: () => this.on.select(opened, event) },
                                          `${kindText(eventOf(rec, event))} ${rec.tracks[rec.track[event]].path}`)),
                element("td", {}, timeText(times[i])), element("td", {}, i ? `+${timeText(waits[i])}` : ""),
                element("td", {}, waited(i)), element("td", {}, name));
        });
        const head = ["where", "at", "after", "waited", "during"].map((text) => element("th", { scope: "col" }, text));
        const out = element("table", { class: "way" }, element("caption", {}, `Way of ${messageText(e.message)}: ${timeText(times[times.length - 1] - times[0])}`),
                            element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows));
        if (way.length > WAY_SHOWN) out.append(element("tfoot", {}, element("tr", {}, element("td", { colspan: "5" }, `${way.length - WAY_SHOWN} more`))));
        return out;
    }

    /* The fields come from leat, later. */
    async frame(opened, e) {
        const asked = this.asked;
        const { link } = opened.rec.tracks[e.track];
        const fields = element("div", { class: "fields" }, "Fields: …");
        const more = e.octets.length > HEX_SHOWN ? "…" : "";
        this.box.append(fields, element("pre", { class: "hex", tabindex: "0", "aria-label": "Octets" },
                                        hexOf(e.octets.subarray(0, HEX_SHOWN)).replace(/(..)/g, "$1 ") + more));
        try {
            const decoded = await this.transport.decode(link, e.octets);
            if (asked !== this.asked) return;
            if (!decoded) fields.textContent = "Fields: not in this page.";
            else fields.replaceChildren(element("ul", { class: "json" }, jsonTree(decoded)));
        } catch (error) {
            if (asked === this.asked) fields.textContent = `Fields: ${error.message}`;
        }
    }
}

export function clockText({ num, den }) {
    const hertz = (1e12 * den) / num;
    const [size, unit] = [[1e9, "GHz"], [1e6, "MHz"], [1e3, "kHz"], [1, "Hz"]].find(([least]) => hertz >= least) ?? [1, "Hz"];
    return `${Number((hertz / size).toFixed(3))} ${unit}`;
}

/* The parts of a message's way, for arrows. */
export function wayHops({ rec, flows }, event) {
    if (kindOf(rec, event) !== FLOW) return [];
    return wayOf(rec, flows, eventOf(rec, event).message)
        .filter((flow) => flows.source[flow] !== NO_EVENT)
        .map((flow) => [flows.event[flows.source[flow]], flows.event[flow]]);
}

