/*
 * The time that all views share: what is in view, where play is, and how quickly it goes. Views
 * register with onChange() and are drawn once for any number of changes.
 */

const SPAN_LEAST = 100; /* ps in view */
const FOLLOW_AT = 0.85; /* of the view: where the play line begins to move it */
const FRAME_MS_MAX = 100; /* after a pause of the browser play goes on, not ahead */

export class Stage {
    constructor() {
        this.end = 1; /* of the longest recording */
        this.from = 0;
        this.to = 1;
        this.now = 0;
        this.playing = false;
        this.speed = 1e9; /* ps of the recording in a second */
        this.listeners = [];
        this.asked = false;
        this.lastFrame = 0;
    }

    onChange(listener) {
        this.listeners.push(listener);
    }

    changed() {
        if (this.asked) return;
        this.asked = true;
        requestAnimationFrame((at) => this.onFrame(at));
    }

    onFrame(at) {
        this.asked = false;
        if (this.playing) this.advance(Math.min(FRAME_MS_MAX, at - this.lastFrame));
        this.lastFrame = at;
        for (const listener of this.listeners) listener();
        if (this.playing) this.changed();
    }

    advance(ms) {
        this.now = Math.min(this.end, this.now + (this.speed * ms) / 1000);
        if (this.now > this.from + FOLLOW_AT * this.span && this.now < this.to + this.span)
            this.show(this.now - FOLLOW_AT * this.span, this.span);
        else if (this.now < this.from || this.now > this.to) this.center(this.now);
        if (this.now >= this.end) this.playing = false;
    }

    get span() {
        return this.to - this.from;
    }

    setEnd(end) {
        this.end = Math.max(1, end);
        this.showAll();
    }

    /* Within the recording, with a little room behind its end. */
    show(from, span) {
        const most = this.end * 1.02;
        const length = Math.min(most, Math.max(Math.min(SPAN_LEAST, most), span));
        this.from = Math.min(most - length, Math.max(0, from));
        this.to = this.from + length;
        this.changed();
    }

    showAll() {
        this.show(0, this.end * 1.02);
    }

    center(time) {
        this.show(time - this.span / 2, this.span);
    }

    pan(share) {
        this.show(this.from + share * this.span, this.span);
    }

    /* The time at `share` of the view stays where it is. */
    zoom(factor, share) {
        const at = this.from + share * this.span;
        const span = this.span * factor;
        this.show(at - share * span, span);
    }

    goTo(time) {
        this.now = Math.min(this.end, Math.max(0, time));
        if (this.now < this.from || this.now > this.to) this.center(this.now);
        this.changed();
    }

    toggle() {
        if (!this.playing && this.now >= this.end) this.now = 0;
        this.playing = !this.playing;
        this.lastFrame = performance.now();
        this.changed();
    }
}
