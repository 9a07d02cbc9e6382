/* The tracks of a recording as rows: a tree that folds. Only rows in view are elements, however many
 * tracks there are. */
import { GROUP, SIGNAL } from "./recording.js";
import { element } from "./elements.js";

export const ROW_HEIGHT = 24;

const MARKS = { [GROUP]: "", [SIGNAL]: "∿ " };

/* Tracks with events, and the groups that hold some: 1. A parent comes before what it holds. */
function usedTracks(tracks, first) {
    const used = new Uint8Array(tracks.length);
    for (let t = tracks.length - 1; t > 0; t--) {
        if (first[t + 1] > first[t]) used[t] = 1;
        if (used[t]) used[tracks[t].parent] = 1;
    }
    return used;
}

export class Tree {
    constructor(tracks, first, onChange) {
        this.tracks = tracks;
        this.onChange = onChange;
        this.used = usedTracks(tracks, first);
        this.showsEmpty = !this.used[0];
        this.folded = new Set();
        this.selected = 0;
        this.marked = new Set(); /* tracks that differ from another recording's */
        this.list = element("div", { class: "tree", role: "tree", "aria-label": "Tracks", tabindex: "0" });
        this.list.addEventListener("keydown", (event) => this.onKey(event));
        this.list.addEventListener("click", (event) => this.onClick(event));
        this.children = this.childrenOf();
        this.layOut();
    }

    childrenOf() {
        const children = this.tracks.map(() => []);
        this.position = new Uint16Array(this.tracks.length); /* among the children of the parent, from 1 */
        for (let t = 1; t < this.tracks.length; t++) this.position[t] = children[this.tracks[t].parent].push(t);
        return children;
    }

    /* rows: the tracks that are shown; rowOf: of each track, its row or that of the group that hides it. */
    layOut() {
        this.version = (this.version ?? 0) + 1;
        this.rows = [];
        this.depth = [];
        this.rowOf = new Int32Array(this.tracks.length).fill(-1);
        const add = (track, depth, hiddenAt) => {
            if (!this.used[track] && !this.showsEmpty) return;
            const row = hiddenAt >= 0 ? hiddenAt : this.rows.length;
            if (hiddenAt < 0) {
                this.rows.push(track);
                this.depth.push(depth);
            }
            this.rowOf[track] = row;
            const below = hiddenAt >= 0 || this.folded.has(track) ? row : -1;
            for (const child of this.children[track]) add(child, depth + 1, below);
        };
        for (const top of this.children[0]) add(top, 0, -1);
    }

    get height() {
        return this.rows.length * ROW_HEIGHT;
    }

    isGroup(track) {
        return this.tracks[track].kind === GROUP;
    }

    fold(track, folded) {
        if (folded) this.folded.add(track);
        else this.folded.delete(track);
        this.layOut();
        this.onChange();
    }

    showEmpty(shows) {
        this.showsEmpty = shows || !this.used[0];
        this.layOut();
        this.onChange();
    }

    select(track) {
        if (!this.used[track]) this.showsEmpty = true;
        for (let above = this.tracks[track].parent; above; above = this.tracks[above].parent)
            this.folded.delete(above);
        this.layOut();
        this.selected = track;
        this.onChange(track);
    }

    /* The elements of the rows from `first` on. */
    draw(first, count, shift) {
        const key = [first, count, shift, this.selected, this.version, this.marked.size].join();
        if (key === this.drawn) return; /* while playing, most of the time */
        this.drawn = key;
        const rows = [];
        for (let row = first; row < Math.min(this.rows.length, first + count); row++) rows.push(this.rowElement(row));
        this.list.replaceChildren(...rows);
        rows.forEach((row, i) => { row.style.top = `${i * ROW_HEIGHT - shift}px`; });
        if (this.selected && rows.some((row) => row.id === this.idOf(this.selected)))
            this.list.setAttribute("aria-activedescendant", this.idOf(this.selected));
        else this.list.removeAttribute("aria-activedescendant");
    }

    idOf(track) {
        this.prefix ??= `tree${Math.random().toString(36).slice(2, 8)}`;
        return `${this.prefix}-${track}`;
    }

    rowElement(row) {
        const track = this.rows[row];
        const { name, path, kind } = this.tracks[track];
        const isGroup = this.isGroup(track);
        const folded = this.folded.has(track);
        const out = element("div", {
            id: this.idOf(track), class: `row${isGroup ? " group" : ""}${this.marked.has(track) ? " differs" : ""}`,
            role: "treeitem", title: path, "data-track": track, "aria-level": this.depth[row] + 1,
            "aria-selected": String(track === this.selected),
            "aria-expanded": isGroup ? String(!folded) : undefined,
            "aria-setsize": this.children[this.tracks[track].parent].length,
            "aria-posinset": this.position[track],
        }, element("span", { class: "twist", "aria-hidden": "true" }, isGroup ? (folded ? "▸" : "▾") : MARKS[kind] ?? ""),
        element("span", { class: "name" }, name));
        if (this.marked.has(track)) out.append(element("span", { class: "mark", title: "differs" }, "≠"));
        out.style.paddingLeft = `${6 + this.depth[row] * 12}px`;
        return out;
    }

    onClick(event) {
        const row = event.target.closest("[data-track]");
        if (!row) return;
        const track = Number(row.dataset.track);
        if (this.isGroup(track) && (event.target.classList.contains("twist") || track === this.selected))
            this.fold(track, !this.folded.has(track));
        this.select(track);
    }

    onKey(event) {
        const row = this.selected ? this.rowOf[this.selected] : -1;
        const go = (to) => this.select(this.rows[Math.max(0, Math.min(this.rows.length - 1, to))]);
        const track = this.selected;
        switch (event.key) {
        case "ArrowDown": go(row + 1); break;
        case "ArrowUp": go(row - 1); break;
        case "Home": go(0); break;
        case "End": go(this.rows.length - 1); break;
        case "PageDown": go(row + 10); break;
        case "PageUp": go(row - 10); break;
        case "ArrowLeft":
            if (track && this.isGroup(track) && !this.folded.has(track)) this.fold(track, true);
            else if (track && this.tracks[track].parent) this.select(this.tracks[track].parent);
            break;
        case "ArrowRight":
            if (track && this.isGroup(track)) this.fold(track, false);
            break;
        default: return;
        }
        event.preventDefault();
        event.stopPropagation();
    }
}
