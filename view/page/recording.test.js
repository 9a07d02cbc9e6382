/* Recordings are read as `leat export` reads them: every event, and what is wrong where. LEAT is the
 * command; RECORDINGS, a folder with recordings, may be missing. */
import { test } from "node:test";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tmpdir } from "node:os";
import { Recorder, randomOf } from "../../tool/view/recorder.mjs";
import { readRecording, eventOf, DIRECTIONS, STEPS } from "./recording.js";
import { BEGIN, END, INSTANT, VALUE, FRAME, FLOW, PLACE, CLOSE } from "./recording.js";
import { lanesOf, wholeEvent } from "./lanes.js";

const leat = process.env.LEAT;
const folder = mkdtempSync(join(tmpdir(), "leat-page."));
process.on("exit", () => rmSync(folder, { recursive: true }));

/* ---- recordings --------------------------------------------------------------------------- */

/* One of everything, at random; numbers of all sizes. */
function randomRecording(seed, events) {
    const r = new Recorder();
    const random = randomOf(seed);
    const big = () => (BigInt(random(2 ** 32)) << 32n) | BigInt(random(2 ** 32));
    r.clock(10000, 3);
    r.clock((1n << 64n) - 1n, 7);
    const net = r.group(0, "net");
    const deep = r.group(net, "bmx[0]");
    const lanes = [0, 1, 2, 3].map((i) => r.lane(i % 2 ? deep : 0, i % 3, 147 + i, `lane ${i}`));
    const widths = [1, 8, 32, 33, 53, 64];
    const signals = widths.map((width) => r.signal(net, 1, width, `s${width}`));
    ["busy", 'a "quoted", name', "idle"].forEach((name) => r.name(name));
    const depth = lanes.map(() => 0);
    for (let i = 0; i < events; i++) {
        if (random(50) === 0) r.name(`name ${r.names}`);
        const jump = [0, 1, 127, 128, 3333, 2 ** 31, 2 ** 32 + 5, random(2 ** 32)][random(8)];
        if (jump) r.time(random(200) ? jump : BigInt(jump) << 17n);
        const at = random(4);
        const name = 1 + random(r.names);
        switch (random(8)) {
        case 0: if (depth[at] < 8) { depth[at]++; r.begin(lanes[at], name); break; }
        /* falls through */
        case 1: if (depth[at]) { depth[at]--; r.end(lanes[at]); break; }
        /* falls through */
        case 2: r.instant(lanes[at], name); break;
        case 3: {
            const which = random(widths.length);
            r.value(signals[which], big() >> BigInt(64 - widths[which]));
            break;
        }
        case 4: r.frame(lanes[at], random(3), Buffer.from(Array.from({ length: random(200) }, () => random(256)))); break;
        case 5:
        case 6: r.flow(lanes[at], random(3), big() >> BigInt(random(64)), random(2) ? lanes[random(4)] : 0,
                       big() >> BigInt(random(64)), [null, 0, random(2 ** 32), 2 ** 32 - 1][random(4)]); break;
        case 7: r.place(lanes[at], name); break;
        }
    }
    r.time(7);
    return r.close();
}

/* ---- what leat says ----------------------------------------------------------------------- */

function quoted(text) {
    return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csvLine(rec, lanes, event) {
    const e = wholeEvent(rec, lanes, event);
    const words = { [BEGIN]: "begin", [END]: "end", [INSTANT]: "instant", [VALUE]: "value",
                    [FRAME]: "frame", [PLACE]: "place", [CLOSE]: "close", [FLOW]: STEPS[e.step] };
    const cells = [e.at, words[e.kind], quoted(rec.tracks[e.track].path), "", "", "", "", "", ""];
    if (e.name) cells[3] = quoted(rec.names[e.name]);
    if (e.kind === VALUE) cells[4] = e.value;
    if (e.kind === FRAME) [cells[3], cells[7]] = [DIRECTIONS[e.direction], e.octets.length];
    if (e.kind === FLOW) {
        cells[5] = e.message;
        cells[6] = e.peer ? quoted(rec.tracks[e.peer].path) : "";
        cells[7] = e.length;
        cells[8] = e.tag ?? "";
    }
    return cells.join(",");
}

function exported(octets) {
    const file = join(folder, "r.leatrec");
    const table = join(folder, "r.csv");
    writeFileSync(file, octets);
    const told = spawnSync(leat, ["export", file, "--csv", table], { encoding: "utf8" });
    if (told.status === 0) return { lines: readFileSync(table, "utf8").split("\r\n").slice(1, -1) };
    const [, octet, code] = told.stderr.match(/: octet (\d+): .*?\(([A-Z_]+)\)/) ?? [null, told.stderr, told.status];
    return { damage: `${code} at ${octet}` };
}

function compare(octets, what) {
    const rec = readRecording(octets);
    const lanes = lanesOf(rec);
    const want = exported(octets);
    assert.equal(rec.damage ? `${rec.damage.code} at ${rec.damage.octet}` : undefined, want.damage, what);
    if (!want.lines) return;
    assert.equal(rec.count, want.lines.length, what);
    want.lines.forEach((line, event) => assert.equal(csvLine(rec, lanes, event), line, what));
}

/* ---- tests -------------------------------------------------------------------------------- */

const needsLeat = { skip: leat ? false : "LEAT names no command" };

test("every event of random recordings is that of leat export", needsLeat, () => {
    for (let seed = 1; seed <= 5; seed++) compare(randomRecording(seed, 3000), `seed ${seed}`);
});

test("recordings of leat are read as leat export reads them", { skip: !process.env.RECORDINGS || !leat }, () => {
    const names = readdirSync(process.env.RECORDINGS).filter((name) => name.endsWith(".leatrec"));
    assert.ok(names.length > 0, "no recording");
    for (const name of names) compare(readFileSync(join(process.env.RECORDINGS, name)), name);
});

test("a file cut at any octet ends where leat export says", needsLeat, () => {
    const whole = randomRecording(6, 25);
    for (let length = 0; length < whole.length; length++) compare(whole.subarray(0, length), `${length} octets`);
});

test("a changed octet is reported where leat export reports it", needsLeat, () => {
    const whole = randomRecording(7, 60);
    const random = randomOf(8);
    for (let i = 0; i < 300; i++) {
        const changed = Buffer.from(whole);
        for (let n = 1 + random(2); n; n--) changed[random(changed.length)] = [0, 1, 0x7f, 0x80, 0xff, random(256)][random(6)];
        compare(random(4) ? changed : Buffer.concat([changed, Buffer.from([6])]), `change ${i}`);
    }
});

/* Recordings at their limits, which changes at random do not reach. */
function limits() {
    const out = {};
    const begun = () => {
        const r = new Recorder();
        const lane = r.lane(0, 0, 1, "lane");
        r.name("n");
        return [r, lane];
    };
    for (const [name, span] of [["the last time", (1n << 64n) - 2n], ["never", (1n << 64n) - 1n]]) {
        const [r, lane] = begun();
        r.time(span);
        r.instant(lane, 1);
        out[name] = r.close();
    }
    for (const spans of [8, 9]) {
        const [r, lane] = begun();
        for (let i = 0; i < spans; i++) r.begin(lane, 1);
        out[`${spans} spans`] = r.close();
    }
    const clocks = new Recorder();
    for (let i = 0; i < 256; i++) clocks.clock(1, 1);
    out["256 clocks"] = clocks.close();
    const paths = new Recorder();
    let group = 0;
    for (const length of [60, 60, 4, 1]) group = paths.group(group, "x".repeat(length));
    out["a long path"] = paths.close();
    const two = begun()[0];
    two.time(3);
    two.time(3);
    out["two times"] = two.close();
    const late = begun();
    late[0].instant(late[1], 1);
    late[0].group(0, "late");
    out["a late group"] = late[0].close();
    return out;
}

test("limits are those of leat export", needsLeat, () => {
    for (const [name, octets] of Object.entries(limits())) compare(octets, name);
});

test("what is sound before the damage is there", () => {
    const whole = randomRecording(9, 100);
    const all = readRecording(whole);
    const part = readRecording(whole.subarray(0, all.fields[50]));
    assert.equal(part.damage.code, "SHORT");
    for (let event = 0; event < part.count; event++)
        assert.deepEqual(eventOf(part, event), eventOf(all, event));
    assert.ok(part.count === 50 || part.count === 51);
});
