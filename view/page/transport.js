/*
 * Where recordings come from: the server of `leat view`, or this very page, if `leat view -o` wrote
 * it. Both give
 *
 *   sources()                 what there is: sources.json
 *   octets(i, progress)       a recording, an ArrayBuffer
 *   decode(link, octets)      the fields of a frame as `leat decode --json` shows them; null: unknown
 *   live(i, on)               on.status(JSON) again and again, then on.end(); returns how to stop
 *   isServed                  by a leat that tells more; otherwise on.status is called once
 *   worker()                  the reader
 */
import { hexOf } from "./words.js";

/* ---- served ------------------------------------------------------------------------------- */

const token = new URLSearchParams(location.search).get("token");

function address(path) {
    const url = new URL(path, location.href);
    if (token) url.searchParams.set("token", token);
    return url;
}

async function ask(path, options) {
    const answer = await fetch(address(path), options);
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${answer.statusText}`);
    return answer;
}

/* Reads as it arrives, so that progress can be told; `expected` octets, or any number. */
async function readBody(answer, expected, progress) {
    const reader = answer.body.getReader();
    let out = new Uint8Array(expected);
    let length = 0;
    for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        if (length + value.length > out.length) {
            const longer = new Uint8Array(2 * (length + value.length));
            longer.set(out.subarray(0, length));
            out = longer;
        }
        out.set(value, length);
        length += value.length;
        progress(expected ? Math.min(1, length / expected) : 0);
    }
    return length === out.length ? out.buffer : out.buffer.slice(0, length);
}

class Served {
    isServed = true;

    async sources() {
        this.list = await (await ask("sources.json")).json();
        return this.list;
    }

    async octets(i, progress) {
        const { url, octets } = this.list.sources[i];
        return readBody(await ask(url), octets ?? 0, progress);
    }

    async decode(link, octets) {
        if (!this.list.can_decode) return null;
        return (await ask(`decode?link=${link}`, { method: "POST", body: octets })).json();
    }

    live(i, on) {
        const events = new EventSource(address(this.list.sources[i].url));
        events.addEventListener("status", (event) => on.status(JSON.parse(event.data)));
        events.addEventListener("end", () => {
            events.close();
            on.end();
        });
        events.addEventListener("error", () => {
            if (events.readyState === EventSource.CLOSED) on.end();
            else on.lost();
        });
        return () => events.close();
    }

    worker() {
        return new Worker(address("page/worker.js"), { type: "module" });
    }
}

/* ---- in the page -------------------------------------------------------------------------- */

function jsonOf(id) {
    return JSON.parse(document.getElementById(id)?.textContent ?? "null");
}

function octetsOfBase64(text) {
    const letters = atob(text);
    const out = new Uint8Array(letters.length);
    for (let i = 0; i < out.length; i++) out[i] = letters.charCodeAt(i);
    return out.buffer;
}

class Inside {
    isServed = false;

    async sources() {
        this.decoded = jsonOf("decoded") ?? {};
        return jsonOf("sources");
    }

    async octets(i, progress) {
        const text = document.getElementById(`source-${i}`).textContent.trim();
        progress(1);
        return octetsOfBase64(text);
    }

    async decode(link, octets) {
        return this.decoded[`${link}:${hexOf(octets)}`] ?? null;
    }

    live(i, on) {
        on.status(jsonOf(`source-${i}`));
        on.end();
        return () => {};
    }

    worker() {
        const text = document.getElementById("worker").textContent;
        const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
        return new Worker(url); // joined: no module, which a page from a disk may not start
    }
}

export function transportOf() {
    return document.getElementById("sources") ? new Inside() : new Served();
}
