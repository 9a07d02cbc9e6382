/* The whole recording in a strip, and which part of it is in view. */
import { eventAfter } from "./lanes.js";
import { element, prepare } from "./elements.js";
import { colors } from "./colors.js";
import { timeText } from "./words.js";

const COLUMN = 2;
const HANDLE = 8; /* pixels of the window's ends */

export class Overview {
    constructor(all, stage) {
        this.all = all; /* recordings */
        this.stage = stage;
        this.canvas = element("canvas", { class: "overview", tabindex: "0", role: "slider", "aria-label": "Part of the recording in view",
                                          "aria-valuemin": "0", "aria-valuemax": "100" });
        this.listen();
        new ResizeObserver(() => stage.changed()).observe(this.canvas);
        stage.onChange(() => this.draw());
    }

    /* How many events each column has, of all recordings; it changes with the width alone. */
    count(width) {
        const columns = Math.ceil(width / COLUMN);
        if (this.counts?.length === columns) return;
        this.counts = new Float64Array(columns);
        for (const { rec } of this.all) {
            let before = 0;
            for (let c = 0; c < columns; c++) {
                const after = eventAfter(rec, ((c + 1) / columns) * this.stage.end * 1.02);
                this.counts[c] += after - before;
                before = after;
            }
        }
        this.most = this.counts.reduce((a, b) => Math.max(a, b), 1);
    }

    xOf(time) {
        return (time / (this.stage.end * 1.02)) * this.width;
    }

    draw() {
        if (!this.canvas.clientWidth) return;
        const { draw, width, height } = prepare(this.canvas);
        const { stage } = this;
        this.width = width;
        this.count(width);
        draw.fillStyle = colors().accent;
        this.counts.forEach((count, c) => {
            if (!count) return;
            const high = Math.max(1, Math.sqrt(count / this.most) * (height - 4));
            draw.fillRect(c * COLUMN, height - high, COLUMN, high);
        });
        const [x0, x1] = [this.xOf(stage.from), this.xOf(stage.to)];
        draw.fillStyle = colors().back;
        draw.globalAlpha = 0.65;
        draw.fillRect(0, 0, x0, height);
        draw.fillRect(x1, 0, width - x1, height);
        draw.globalAlpha = 1;
        draw.strokeStyle = colors().text;
        draw.strokeRect(x0 + 0.5, 0.5, Math.max(2, x1 - x0 - 1), height - 1);
        draw.fillStyle = colors().hot;
        draw.fillRect(this.xOf(stage.now) - 0.75, 0, 1.5, height);
        this.canvas.setAttribute("aria-valuenow", String(Math.round((100 * stage.from) / stage.end)));
        this.canvas.setAttribute("aria-valuetext", `${timeText(stage.from)} to ${timeText(stage.to)}`);
    }

    listen() {
        const { canvas, stage } = this;
        let grip = 0; /* what the pointer holds: the time under it relative to the middle of the view */
        let edge = "";
        const timeAt = (event) => (event.offsetX / this.width) * stage.end * 1.02;
        canvas.addEventListener("pointerdown", (event) => {
            canvas.setPointerCapture(event.pointerId);
            const [x0, x1] = [this.xOf(stage.from), this.xOf(stage.to)];
            edge = Math.abs(event.offsetX - x0) < HANDLE ? "from" : Math.abs(event.offsetX - x1) < HANDLE ? "to" : "all";
            if (event.offsetX < x0 - HANDLE || event.offsetX > x1 + HANDLE) stage.center(timeAt(event));
            grip = timeAt(event) - stage.from;
        });
        canvas.addEventListener("pointermove", (event) => {
            if (!canvas.hasPointerCapture(event.pointerId)) return;
            const time = timeAt(event);
            if (edge === "from") stage.show(Math.min(time, stage.to), stage.to - Math.min(time, stage.to));
            else if (edge === "to") stage.show(stage.from, time - stage.from);
            else stage.show(time - grip, stage.span);
        });
        canvas.addEventListener("wheel", (event) => {
            stage.zoom(1.0015 ** event.deltaY, (timeAt(event) - stage.from) / stage.span);
            event.preventDefault();
        }, { passive: false });
        canvas.addEventListener("keydown", (event) => {
            const steps = { ArrowLeft: -0.2, ArrowRight: 0.2, PageUp: -1, PageDown: 1 };
            if (!(event.key in steps)) return;
            stage.pan(steps[event.key]);
            event.preventDefault();
            event.stopPropagation();
        });
    }
}
