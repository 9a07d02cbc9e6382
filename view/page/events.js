/* The events in view as a table, page by page: what canvases show, for readers of text. */
import { wholeEvent, eventAfter } from "./lanes.js";
import { element } from "./elements.js";
import { exactTimeText, eventText, kindText, numberText, timeText } from "./words.js";

const PAGE = 100;

export class Events {
    constructor(opened, stage, on) {
        Object.assign(this, { opened, stage, on });
        this.first = 0;
        this.body = element("tbody", {});
        this.caption = element("caption", {});
        this.before = element("button", { type: "button", onclick: () => this.turn(-PAGE) }, "Earlier");
        this.after = element("button", { type: "button", onclick: () => this.turn(PAGE) }, "Later");
        const head = ["time", "track", "event", "what"].map((text) => element("th", { scope: "col" }, text));
        this.box = element("div", { class: "events", tabindex: "0", role: "region", "aria-label": `Events of ${opened.name}` },
                           element("p", { class: "pages" }, this.before, this.after),
                           element("table", {}, this.caption, element("thead", {}, element("tr", {}, ...head)), this.body));
        stage.onChange(() => this.follow());
    }

    /* The events from the beginning of the view on, unless it plays. */
    follow() {
        if (!this.box.clientHeight || this.stage.playing) return;
        const first = eventAfter(this.opened.rec, Math.max(this.stage.from, 0) - 1);
        if (first === this.viewFirst && this.shown) return;
        this.viewFirst = first;
        this.show(first);
    }

    turn(by) {
        this.show(Math.max(0, Math.min(this.opened.rec.count - 1, this.first + by)));
    }

    show(first) {
        const { rec, lanes } = this.opened;
        this.first = first;
        this.shown = true;
        const last = Math.min(rec.count, first + PAGE);
        const rows = [];
        for (let event = first; event < last; event++) {
            const e = wholeEvent(rec, lanes, event);
            const go = element("button", { type: "button", onclick: () => this.on.select(this.opened, event) }, exactTimeText(e.at));
            rows.push(element("tr", {}, element("td", {}, go), element("td", {}, rec.tracks[e.track].path),
                              element("td", {}, kindText(e)), element("td", {}, eventText(rec, e))));
        }
        this.body.replaceChildren(...rows);
        this.caption.textContent = `Events ${numberText(first + 1)} to ${numberText(last)} of ${numberText(rec.count)}, from ${timeText(this.stage.from)} on`;
        this.before.disabled = first === 0;
        this.after.disabled = last === rec.count;
    }
}
