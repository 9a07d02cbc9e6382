/*
 * Stores, running verbs and live parts in Chromium, in both widths and both colour schemes: curves,
 * surfaces and tables with their filters, orders and keys; what grows while the page is open; what
 * is told of an end. Figures are compared with `leat report --csv`.
 *
 * Arguments: those of view_browser_kit.mjs; mode "live" tests live parts, in a network namespace of
 * its own with two ends of one wire, `in` and `out`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { WIDTHS, SCHEMES, folder, leat, mode, check, checkLayout, close, fail, leatOf, open, poorContrasts, runTest, same, serve, text, until, watch } from "./view_browser_kit.mjs";

const store = join(folder, "runs.sqlite");
const FOREVER = ["--cycles", "100000000000000"];

async function looksWell(page, what) {
    await checkLayout(page, what);
    for (const wrong of await page.evaluate(poorContrasts)) fail(`${what}: ${wrong}`);
    await page.screenshot({ path: join(folder, `${what.replace(/\W+/g, "-")}.png`), fullPage: true });
}

const count = (page, selector) => page.locator(selector).count();
const shown = (page, selector) => page.locator(`${selector}:visible`).count();

/* ---- stores ------------------------------------------------------------------------------- */

/* Means of latency, by fabric, traffic and load. */
function latencies() {
    const table = join(folder, "runs.csv");
    same("leat report", leatOf("report", store, "--csv", table).status, 0);
    const [head, ...rows] = readFileSync(table, "utf8").split("\r\n").slice(0, -1).map((line) => line.match(/("([^"]|"")*"|[^,]*)(,|$)/g).map((cell) => cell.replace(/,$/, "").replace(/^"|"$/g, "")));
    const at = (name) => head.indexOf(name);
    const sums = new Map();
    for (const row of rows) {
        const key = [row[at("fabric")], row[at("traffic")], Number(row[at("load")])].join(" ");
        const sum = sums.get(key) ?? [0, 0];
        sums.set(key, [sum[0] + Number(row[at("latency_ns.mean")]), sum[1] + 1]);
    }
    return new Map([...sums].map(([key, [sum, runs]]) => [key, (sum / runs).toFixed(2)]));
}

/* The table of points has the same means as leat report. */
async function points(page, what, means) {
    await page.click("#tab-points");
    const rows = await page.locator("#view-points .sorted tbody tr").evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
    same(`${what}: points`, rows.length, means.size);
    for (const [fabric, , traffic, load, , , latency] of rows)
        same(`${what}: ${fabric} ${traffic} ${load}`, latency.split(" ")[0], means.get([fabric, traffic, Number(load)].join(" ")));
    await page.click("#view-points .sorted th:nth-child(7) button");
    const sorted = await page.locator("#view-points .sorted tbody tr td:nth-child(7)").evaluateAll((all) => all.map((cell) => parseFloat(cell.textContent)));
    check(sorted.every((value, i) => !i || value >= sorted[i - 1]), `${what}: not sorted by latency: ${sorted}`);
    same(`${what}: the order that is told`, await page.getAttribute("#view-points .sorted th:nth-child(7)", "aria-sort"), "ascending");
    await page.click("#view-points .sorted th:nth-child(7) button");
    const falling = await page.locator("#view-points .sorted tbody tr td:nth-child(7)").evaluateAll((all) => all.map((cell) => parseFloat(cell.textContent)));
    same(`${what}: falling`, falling.join(), [...sorted].reverse().join());
    await page.click("#view-points .sorted th:nth-child(7) button");
    await looksWell(page, `${what}, points`);
}

async function filters(page, what) {
    const rows = () => count(page, "#view-points .sorted tbody tr");
    const all = await rows();
    await page.fill("#filter-text", "mesh -buffer=1");
    await until(`${what}: the filter of words`, rows, (now) => now === all / 3);
    await page.selectOption("#filter-traffic", "tornado");
    await until(`${what}: the filter of traffic`, rows, (now) => now === all / 6);
    await page.fill("#filter-least", "0.2");
    await until(`${what}: the filter of load`, rows, (now) => now === all / 9);
    await page.selectOption("#filter-state", "deadlock");
    await until(`${what}: the filter of state`, rows, (now) => now === 0);
    await page.click("#tab-curves");
    check((await text(page, "#view-curves")).includes("No point is left"), `${what}: no word about nothing`);
    await page.selectOption("#filter-state", "");
    await page.selectOption("#filter-traffic", "");
    await page.fill("#filter-least", "");
    await page.fill("#filter-text", "");
}

async function curves(page, what) {
    await page.click("#tab-curves");
    await until(`${what}: charts`, () => shown(page, ".chart"), (now) => now === 6);
    await until(`${what}: curves`, () => count(page, ".charts:first-child .chart-box:first-child .line"), (now) => now === 3);
    check(await count(page, ".mark.open") > 0, `${what}: no point is saturated`);
    await looksWell(page, `${what}, curves`);
    await page.locator(".curve-legend button").first().click();
    await until(`${what}: a hidden curve`, () => count(page, ".charts:first-child .chart-box:first-child .line"), (now) => now === 2);
    await page.locator(".curve-legend button").first().press("Enter");
    await until(`${what}: shown again`, () => count(page, ".charts:first-child .chart-box:first-child .line"), (now) => now === 3);
    const chart = page.locator(".chart").first();
    await chart.focus();
    await page.keyboard.press("ArrowRight");
    const first = await until(`${what}: keys read a point`, () => text(page, ".reader"), (now) => /load 0\.1: [\d.]+/.test(now));
    await page.keyboard.press("ArrowRight");
    await until(`${what}: the next point`, () => text(page, ".reader"), (now) => now !== first && /load 0\.3/.test(now));
    check((await text(page, "#said")).includes("load 0.3"), `${what}: a point is not said: ${await text(page, "#said")}`);
    const mark = await page.locator(".charts:first-child .chart-box:nth-child(2) .mark").first().boundingBox();
    await page.mouse.move(mark.x + mark.width / 2, mark.y + mark.height / 2);
    await until(`${what}: the pointer reads a point`, () => page.locator(".reader").nth(1).textContent(), (now) => now.includes("of a line"));
}

async function surfaces(page, what, means) {
    await page.click("#tab-surfaces");
    await until(`${what}: cells`, () => count(page, ".surface .cell"), (now) => now === 6);
    check(await count(page, ".surface .cell + rect[fill='url(#hatch)']") > 0, `${what}: nothing is hatched`);
    await page.locator(".surface").focus();
    await page.keyboard.press("ArrowRight");
    const told = await text(page, ".surface-box .reader");
    const traffic = await page.locator(".choices select").nth(1).inputValue();
    const mean = means.get(`mesh:3,3/buffer=1 ${traffic} 0.1`);
    check(told.includes(`buffer, flits 1: ${mean} ns`), `${what}: a cell: '${told}', want ${mean}`);
    await page.keyboard.press("ArrowUp");
    await until(`${what}: the row above`, () => text(page, ".surface-box .reader"), (now) => now.includes("buffer, flits 4"));
    await page.selectOption(".choices label:nth-child(3) select", "throughput");
    await until(`${what}: another figure`, () => text(page, ".surface-box figcaption"), (now) => now.startsWith("Throughput"));
    await until(`${what}: its cell`, () => text(page, ".surface-box .reader"), (now) => now.includes("of a line"));
    await page.selectOption(".choices label:nth-child(4) select", "key0");
    await until(`${what}: other axes`, () => page.locator(".surface .axis-name").allTextContents(), (now) => now.join() === "buffer, flits,offered load");
    await page.selectOption(".choices label:nth-child(4) select", "load");
    await looksWell(page, `${what}, surfaces`);
}

async function oneStore() {
    const means = latencies();
    const server = await serve(store);
    for (const width of WIDTHS)
        for (const scheme of SCHEMES) {
            const what = `store ${width} ${scheme}`;
            const page = await open(server.address, width, scheme);
            await until(`${what}: its runs`, () => text(page, ".state"), (now) => now.includes("36 runs"));
            await curves(page, what);
            await points(page, what, means);
            await filters(page, what);
            await surfaces(page, what, means);
            await page.click("#tab-curves");
            await page.keyboard.press("ArrowRight");
            await until(`${what}: the next tab by key`, () => page.getAttribute("#tab-surfaces", "aria-selected"), (now) => now === "true");
            await page.evaluate(() => document.activeElement.blur());
            await page.keyboard.press("3");
            await until(`${what}: a view by its number`, () => page.getAttribute("#tab-points", "aria-selected"), (now) => now === "true");
            same(`${what}: it is not written`, (await text(page, ".state")).includes("Nothing writes now"), true);
            await close(page);
        }
    await server.stop();
    const file = join(folder, "store.html");
    same("exit code of -o", leatOf("view", store, "-o", file).status, 0);
    const page = await open(pathToFileURL(file).href, 390, "dark");
    await points(page, "store in a file", means);
    await curves(page, "store in a file");
    await close(page);
}

async function twoStores() {
    const other = join(folder, "other.sqlite");
    writeFileSync(other, readFileSync(store));
    same("another sweep", leatOf("sweep", "mesh:3,3/buffer=1", "--load", "0.5", "--seeds", "2", "--cycles", "3000", "--traffic", "uniform", "--store", other).status, 0);
    const server = await serve(store, other);
    for (const width of WIDTHS) {
        const page = await open(server.address, width, "light");
        await until("two stores", () => count(page, "#view-curves .pane"), (now) => now === 2);
        await until("curves of both", () => shown(page, ".chart"), (now) => now === 12);
        await looksWell(page, `stores ${width}, curves`);
        await page.click("#tab-compare");
        await until("what they have in common", () => text(page, "#view-compare .note-text"), (now) => now === "18 points in both, 0 of them differ (≠); 0 only in runs.sqlite, 1 only in other.sqlite.");
        await looksWell(page, `stores ${width}, compare`);
        await close(page);
    }
    await server.stop();
}

/* A page that is open while its store grows. */
async function growingStore() {
    const grows = join(folder, "grows.sqlite");
    writeFileSync(grows, readFileSync(store));
    const server = await serve(grows);
    const page = await open(server.address, 1280, "light");
    await until("before it grows", () => text(page, ".state"), (now) => now.includes("36 runs"));
    const sweep = spawn(leat, ["sweep", "mesh:3,3", "--load", "0.01:0.9:0.01", "--seeds", "90", "--cycles", "3000", "-j", "1", "--store", grows], { stdio: "ignore" });
    const ended = new Promise((resolve) => sweep.on("exit", resolve));
    const runs = async () => Number((await text(page, ".state")).match(/(\d[\d\u202f]*) runs/)[1].replace(/\u202f/g, ""));
    await until("it grows", runs, (now) => now > 36);
    await until("that it grows is told", () => text(page, ".state"), (now) => now.includes("A leat is writing"));
    await until("a new curve", () => page.locator(".curve-legend button").allTextContents(), (now) => now.some((name) => name === "mesh:3,3"));
    sweep.kill("SIGINT");
    await ended;
    await until("its end", () => text(page, ".state"), (now) => now.includes("Nothing writes now"));
    await close(page);
    await server.stop();
}

/* ---- running verbs -------------------------------------------------------------------------- */

const pieces = (page) => page.evaluate(() => [...document.querySelectorAll(".chart .solid")].map((path) => path.getAttribute("d").split("M").length - 1));

async function runningSimulation() {
    for (const [width, scheme] of [[1280, "light"], [390, "dark"]]) {
        const what = `sim ${width} ${scheme}`;
        const run = await watch("sim", "mesh:4,4", "--load", "0.2", ...FOREVER, "--view");
        const page = await open(run.address, width, scheme);
        await until(`${what}: charts`, () => count(page, ".chart"), (now) => now === 4);
        const before = await until(`${what}: curves`, () => pieces(page), (now) => now.length === 4 && now.every((n) => n > 1));
        await until(`${what}: they grow`, () => pieces(page), (now) => now[2] > before[2]);
        check(/^Running for /.test(await text(page, ".state")), `${what}: ${await text(page, ".state")}`);
        await looksWell(page, what);
        await run.stop();
        await until(`${what}: the end`, () => text(page, ".state"), (now) => now.startsWith("leat sim mesh:4,4 was interrupted after "));
        await page.waitForSelector("html[data-run=ended]");
        await close(page);
    }
}

async function runningSweep() {
    const file = join(folder, "sweeps.sqlite");
    const run = await watch("sweep", "mesh:3,3", "--load", "0.01:0.9:0.01", "--seeds", "90", "--cycles", "3000", "-j", "1", "--store", file, "--view");
    const page = await open(run.address, 390, "light");
    await until("runs that are done", () => text(page, ".facts"), (now) => Number(now.match(/done(\d+)/)?.[1]) > 2);
    await until("what runs", () => text(page, ".running"), (now) => now.includes("mesh:3,3, uniform, load "));
    await until("its curves", () => count(page, "#view-curves .mark"), (now) => now > 0);
    await looksWell(page, "sweep 390");
    await run.stop();
    await until("its end", () => text(page, ".progress-head .state"), (now) => now.includes("was interrupted after "));
    await close(page);
}

async function runningProgram(program) {
    const run = await watch("run", "--fabric", "torus:4,4", "-n", "4", "--view", "--", program, "100000000");
    const page = await open(run.address, 1280, "dark");
    await until("states of tasks", () => count(page, ".tasks .task"), (now) => now === 4);
    await until("messages", () => text(page, ".facts"), (now) => Number(now.replace(/\u202f/g, "").match(/messages(\d+)/)?.[1]) > 100);
    same("rows of tasks", await count(page, ".task-part tbody tr"), 4);
    await looksWell(page, "run 1280");
    await run.stop();
    await until("the end of a program", () => text(page, ".state"), (now) => now.includes("was interrupted after "));
    await close(page);
}

/* ---- live parts ------------------------------------------------------------------------------ */

async function livePart(words, what, has, act, stop) {
    const server = await serve(...words);
    for (const [width, scheme] of [[1280, "dark"], [390, "light"]]) {
        const page = await open(server.address, width, scheme);
        await until(`${what}: its state`, () => text(page, ".state"), (now) => now.startsWith("Running."));
        for (const name of has) check((await text(page, ".live")).includes(name), `${what}: no '${name}' on the page`);
        const counted = () => page.locator(".rates td.number:nth-child(2)").allTextContents().then((all) => all.join());
        const before = await counted();
        act();
        await until(`${what}: counters`, counted, (now) => now !== before);
        const rows = () => shown(page, ".rates tbody tr");
        const some = await rows();
        await page.click(".zeros input");
        await until(`${what}: counters that are zero`, rows, (now) => now > some);
        await page.click(".zeros input");
        await looksWell(page, `${what} ${width}`);
        if (width === 390) {
            stop();
            await until(`${what}: its end`, () => text(page, ".state"), (now) => now.includes("has ended. The last values stay."));
        }
        await close(page);
    }
    await server.stop();
}

function told(...words) {
    const { status, stderr } = leatOf(...words);
    check(status === 0, `leat ${words.join(" ")}: ${status} ${stderr}`);
}

async function liveRing() {
    const address = (device) => JSON.parse(spawnSync("ip", ["-json", "link", "show", "dev", device], { encoding: "utf8" }).stdout)[0].address;
    const [one, two] = ["in", "out"].map(address);
    told("ring", "join", "--dev", "in", "--address", "1", "--previous", two, "--next", two, "--driver", "packet");
    told("ring", "join", "--dev", "out", "--address", "2", "--previous", one, "--next", one, "--driver", "packet");
    await livePart(["ring", "in"], "ring", ["counts.own", "driver"], () => told("ring", "query", "max", "--register", "2", "--dev", "in", "--timeout", "60s"),
                   () => told("ring", "stop", "--dev", "in"));
    told("ring", "stop", "--dev", "out");
}

async function liveRouters() {
    told("pktway", "route", "--name", "r", "--san", "udp:127.0.0.1:4254,bias=0x100,address=0x102", "--san", "udp:127.0.0.1:4255,bias=0x200,address=0x202", "--poll", "100ms");
    told("pktway", "host", "--name", "crunch", "--san", "udp:127.0.0.1:4264,bias=0x100,address=0x101,peer=127.0.0.1:4254", "--poll", "100ms");
    await livePart(["pktway", "r"], "pktway", ["san udp:127.0.0.1:4254: counts.taken", "bias"], () => {}, () => told("pktway", "stop", "--name", "r"));
    told("pktway", "stop", "--name", "crunch");
    told("esp", "route", "--driver", "udp", "--listen", "127.0.0.1:14253", "--next-hop", "127.0.0.1", "--name", "e");
    const packet = Buffer.from(leatOf("encode", "esp", "opcode=COUNT", "thresh=7").stdout.trim(), "hex");
    const send = () => spawn("python3", ["-c", "import socket, sys\nfor i in range(50): socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(bytes.fromhex(sys.argv[1]), ('127.0.0.1', 14253))", packet.toString("hex")], { stdio: "ignore" });
    await livePart(["esp", "e"], "esp", ["store centre: slots", "input overlay"], send, () => told("esp", "stop", "--name", "e"));
}

/* ---- all ------------------------------------------------------------------------------------ */

async function testAll() {
    const { status, stderr } = leatOf("sweep", "mesh:3,3/buffer=1", "mesh:3,3/buffer=4", "ring:6", "--load", "0.1,0.3,0.8", "--traffic", "uniform,tornado", "--seeds", "2", "--cycles", "2000", "--store", store);
    if (stderr.includes("without SQLite")) console.log("skipped: stores: a leat without SQLite");
    else {
        same("leat sweep", status, 0);
        await oneStore();
        await twoStores();
        await growingStore();
        await runningSweep();
    }
    await runningSimulation();
    if (process.env.PROGRAM) await runningProgram(process.env.PROGRAM);
    else console.log("skipped: leat run --view: no mpicc");
}

async function testLive() {
    await liveRouters();
    await liveRing();
}

/* The gallery: curves of the store of environment variable STORE. */
async function picture() {
    const server = await serve(process.env.STORE);
    const page = await open(server.address, 1280, "light");
    await until("its curves", () => count(page, ".chart .mark"), (now) => now > 100);
    await page.screenshot({ path: join(folder, "view_store.png"), clip: { x: 0, y: 0, width: 1280, height: 480 } });
    await close(page);
    await server.stop();
}

await runTest(mode === "live" ? testLive : mode === "picture_store" ? picture : testAll);
