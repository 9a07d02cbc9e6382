/*
 * Paints a network of switches (wires.js): wires coloured by use, packets on them, and those that wait
 * in routers. Large networks are painted in parts: all wires once, into a picture that is kept, and of
 * their use a share in each frame; packets are a few pixels each.
 */
import { colors, useColor } from "./colors.js";

const STEPS = 12; /* colours of use */
const LOOKED_AT = 6000; /* lanes whose use is found in a frame */
const LIT_MAX = 12000; /* wires that are painted in colour */
const LABEL_RADIUS = 8; /* of routers, so that their numbers can be read */
const ZOOM_MAX = 60;

export class Switches {
    constructor(wires) {
        this.wires = wires;
        this.use = new Float32Array(wires.lanesOf.length);
        this.next = 0; /* the wire whose use is found next */
        this.zoomed = { scale: 1, x: 0, y: 0 };
        this.waiting = new Uint32Array(wires.routers);
        this.way = new Set(); /* lanes of the packet that is selected */
        this.picture = document.createElement("canvas");
        this.key = "";
    }

    /* ---- places on the screen --------------------------------------------------------------- */

    fit(x, y, width, height) {
        const { places } = this.wires;
        const base = Math.min(width / places.width, height / places.height);
        this.scale = base * this.zoomed.scale;
        this.x = x + width / 2 + this.zoomed.x - (places.left + places.width / 2) * this.scale;
        this.y = y + height / 2 + this.zoomed.y - (places.top + places.height / 2) * this.scale;
        Object.assign(this, { width: x + width, height: y + height, middleX: x + width / 2, middleY: y + height / 2 });
        this.radius = Math.max(1.2, Math.min(13, 13 * this.scale));
    }

    at([x, y]) {
        return [this.x + x * this.scale, this.y + y * this.scale];
    }

    /* The point under the pointer stays. */
    zoom(factor, x, y) {
        const { zoomed } = this;
        const scale = Math.min(ZOOM_MAX, Math.max(1, zoomed.scale * factor));
        const by = scale / zoomed.scale;
        zoomed.x = scale === 1 ? 0 : (x - this.middleX) * (1 - by) + zoomed.x * by;
        zoomed.y = scale === 1 ? 0 : (y - this.middleY) * (1 - by) + zoomed.y * by;
        zoomed.scale = scale;
    }

    pan(dx, dy) {
        if (this.zoomed.scale === 1) return;
        this.zoomed.x += dx;
        this.zoomed.y += dy;
    }

    /* ---- use -------------------------------------------------------------------------------- */

    /* The busier direction of each wire. Of many wires, a share in each call. */
    look(from, to) {
        const { wires, use } = this;
        let lanes = 0;
        for (let left = use.length; left && lanes < LOOKED_AT; left--) {
            const wire = this.next;
            this.next = (this.next + 1) % use.length;
            use[wire] = 0;
            for (const lane of wires.lanesOf[wire]) use[wire] = Math.max(use[wire], wires.useOf(lane, from, to));
            lanes += wires.lanesOf[wire].length;
        }
        return use.length > 0 && lanes >= LOOKED_AT; /* there are more */
    }

    /* ---- painting ----------------------------------------------------------------------------- */

    addWire(path, wire) {
        const { wires } = this;
        const row = wires.places.wires;
        const [ax, ay] = this.at(wires.router(row[4 * wire]));
        const [bx, by] = this.at(wires.router(row[4 * wire + 1]));
        const [mx, my] = this.at([row[4 * wire + 2], row[4 * wire + 3]]);
        path.moveTo(ax, ay);
        if (Math.abs(mx - (ax + bx) / 2) + Math.abs(my - (ay + by) / 2) < 0.3) path.lineTo(bx, by);
        else path.quadraticCurveTo(2 * mx - (ax + bx) / 2, 2 * my - (ay + by) / 2, bx, by);
    }

    /* What does not change with time: wires, and lines to terminals. */
    paintBase(pen) {
        const { wires, use } = this;
        const ratio = window.devicePixelRatio || 1;
        const key = [this.x, this.y, this.scale, this.width, this.height, ratio, colors().line].join();
        if (key !== this.key) {
            this.key = key;
            this.picture.width = Math.max(1, Math.round(this.width * ratio));
            this.picture.height = Math.max(1, Math.round(this.height * ratio));
            const base = this.picture.getContext("2d");
            base.setTransform(ratio, 0, 0, ratio, 0, 0);
            base.strokeStyle = colors().line;
            base.lineWidth = Math.max(0.5, Math.min(1.6, 2 * this.scale));
            base.beginPath();
            for (let wire = 0; wire < use.length; wire++) this.addWire(base, wire);
            for (const sends of [false, true]) this.addTerminalLines(base, sends);
            base.stroke();
        }
        pen.drawImage(this.picture, 0, 0, this.width, this.height);
        this.paintUse(pen);
    }

    addTerminalLines(path, sends) {
        const { terminals, senders } = this.wires.places;
        const row = sends ? senders : terminals;
        for (let i = 0; i < row.length; i += 3) {
            if (row[i] === undefined) continue;
            path.moveTo(...this.at([row[i], row[i + 1]]));
            path.lineTo(...this.at(this.wires.router(row[i + 2])));
        }
    }

    paintUse(pen) {
        const { use } = this;
        const bucket = Array.from({ length: STEPS }, () => []);
        let lit = 0;
        for (let wire = 0; wire < use.length && lit < LIT_MAX; wire++) {
            if (!(use[wire] > 0.004)) continue;
            bucket[Math.min(STEPS - 1, Math.floor(use[wire] * STEPS))].push(wire);
            lit++;
        }
        bucket.forEach((list, step) => {
            if (!list.length) return;
            pen.strokeStyle = useColor((step + 0.5) / STEPS);
            pen.lineWidth = Math.max(1, Math.min(5, (2.4 + (3.6 * step) / STEPS) * Math.max(0.4, this.scale)));
            pen.beginPath();
            for (const wire of list) this.addWire(pen, wire);
            pen.stroke();
        });
        this.paintWay(pen);
        pen.lineWidth = 1;
    }

    /* Of the selected packet. */
    paintWay(pen) {
        if (!this.way.size) return;
        pen.strokeStyle = colors().hot;
        pen.lineWidth = 3;
        pen.setLineDash([6, 4]);
        pen.beginPath();
        for (const lane of this.way) if (this.wires.wireOf[lane] >= 0) this.addWire(pen, this.wires.wireOf[lane]);
        pen.stroke();
        pen.setLineDash([]);
    }

    /* Routers, fuller as more packets wait in them. */
    paintRouters(pen) {
        const { waiting, radius } = this;
        const most = waiting.reduce((a, b) => Math.max(a, b), 4);
        pen.textAlign = "center";
        for (let r = 0; r < waiting.length; r++) {
            const [x, y] = this.at(this.wires.router(r));
            if (x < -20 || y < -20 || x > this.width + 20 || y > this.height + 20) continue;
            if (radius < 4) this.paintDot(pen, x, y, waiting[r] / most);
            else this.paintRouter(pen, x, y, waiting[r] / most, r);
        }
    }

    paintDot(pen, x, y, share) {
        pen.fillStyle = share > 0 ? colors().warn : colors().faint;
        const half = this.radius * (share > 0 ? 1 + share : 0.8);
        pen.fillRect(x - half, y - half, 2 * half, 2 * half);
    }

    paintRouter(pen, x, y, share, number) {
        const { radius } = this;
        pen.fillStyle = colors().raised;
        pen.strokeStyle = colors().faint;
        pen.beginPath();
        pen.arc(x, y, radius, 0, 7);
        pen.fill();
        if (share > 0) { /* filled from below */
            const angle = Math.acos(1 - 2 * Math.min(1, share));
            pen.fillStyle = colors().warn;
            pen.beginPath();
            pen.arc(x, y, radius, Math.PI / 2 - angle, Math.PI / 2 + angle);
            pen.fill();
        }
        pen.beginPath();
        pen.arc(x, y, radius, 0, 7);
        pen.stroke();
        if (radius < LABEL_RADIUS) return;
        pen.fillStyle = colors().text;
        pen.fillText(String(number), x, y + 0.5);
    }

    /* The router at a point of the screen; -1: none. */
    routerAt(x, y) {
        const reach = Math.max(6, this.radius);
        for (let r = 0; r < this.wires.routers; r++) {
            const [rx, ry] = this.at(this.wires.router(r));
            if (Math.hypot(rx - x, ry - y) <= reach) return r;
        }
        return -1;
    }
}
