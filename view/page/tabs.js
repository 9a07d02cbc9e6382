/* Tabs of a page that has views of its own, in #tabs and #views. */
import { byId, element } from "./elements.js";

export class Tabs {
    /* views: id, title, parts (one element for each source); onShow(id) once it is visible. */
    constructor(views, names, onShow) {
        this.onShow = onShow;
        this.tabs = views.map(({ id, title, parts }) => {
            const tab = element("button", { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": `view-${id}`, onclick: () => this.show(id) }, title);
            const panes = parts.map((part, i) => element("section", { class: "pane", "aria-label": names[i] ?? title },
                parts.length > 1 ? element("h2", { class: "pane-name" }, names[i]) : "", part));
            const panel = element("div", { class: `view scrolls panes${panes.length}`, role: "tabpanel", id: `view-${id}`, "aria-labelledby": `tab-${id}`, hidden: true }, ...panes);
            byId("tabs").append(tab);
            byId("views").append(panel);
            return { id, tab, panel };
        });
        byId("tabs").hidden = false;
        byId("tabs").addEventListener("keydown", (event) => this.onKey(event));
        this.show(views[0].id);
    }

    get shown() {
        return this.tabs.filter(({ tab }) => !tab.hidden);
    }

    show(view) {
        this.view = view;
        for (const { id, tab, panel } of this.tabs) {
            panel.hidden = id !== view;
            tab.setAttribute("aria-selected", String(id === view));
            tab.tabIndex = id === view ? 0 : -1;
        }
        this.onShow(view);
    }

    /* A view without anything in it has no tab. */
    offer(id, isOffered) {
        const { tab } = this.tabs.find((one) => one.id === id);
        tab.hidden = !isOffered;
        if (!isOffered && this.view === id) this.show(this.shown[0].id);
    }

    onKey(event) {
        const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (!step) return;
        const at = this.shown.findIndex(({ id }) => id === this.view);
        const { id, tab } = this.shown[(at + step + this.shown.length) % this.shown.length];
        this.show(id);
        tab.focus();
        event.stopPropagation();
    }
}
