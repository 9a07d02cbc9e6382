/*
 * leat view in Chromium: every view opened, played, stepped, searched and clicked, in both widths and
 * both colour schemes; boxes that overlap or leave the page, errors on the console and reports of the
 * policy are failures. What is shown is compared with `leat export` and `leat decode`.
 *
 * Arguments: leat, a folder with node_modules/playwright-core, a folder for files. A fourth one is
 * "bench": measures how quickly a recording of ten million events opens and moves, and nothing else;
 * or "picture": makes view.png of the recording RECORDING.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Recorder, busyNetwork } from "./recorder.mjs";
import { PATIENCE, WIDTHS, SCHEMES, browser, folder, mode, check, checkLayout, close, colorsOn, fail, leatOf, lines, open, poorContrasts, runTest, same, search, serve, text, until } from "./view_browser_kit.mjs";

const BENCH_EVENTS = 10000000;
const TEST_EVENTS = 300000; /* enough for several levels of detail */
const BENCH_MS = 4000;

/* ---- tests -------------------------------------------------------------------------------- */

async function views(page, what) {
    const canvases = { timeline: ".lanes", fabric: ".network" };
    for (const view of ["timeline", "fabric", "events"]) {
        await page.click(`#tab-${view}`);
        await page.waitForSelector(`#view-${view}:not([hidden])`);
        same(`${what}: views that are shown`, await page.locator("[role=tabpanel]:not([hidden])").count(), 1);
        if (canvases[view]) await until(`${what}: colours of ${view}`, () => colorsOn(page, canvases[view]), (count) => count > 4);
        else await page.waitForSelector(".events tbody tr");
        await checkLayout(page, `${what}, ${view}`);
        for (const wrong of await page.evaluate(poorContrasts)) fail(`${what}, ${view}: ${wrong}`);
        await page.screenshot({ path: join(folder, `${what.replace(/\W+/g, "-")}-${view}.png`), fullPage: true });
    }
    await page.click("#tab-timeline");
}

async function plays(page, what) {
    const before = await text(page, "#now");
    await page.click("#play");
    await until(`${what}: play time`, () => text(page, "#now"), (now) => now !== before);
    same(`${what}: the button`, await text(page, "#play"), "Pause");
    await page.click("#play");
    await until(`${what}: pause`, () => text(page, "#play"), (word) => word === "Play");
    const paused = await text(page, "#now");
    await page.click("#forth");
    await until(`${what}: step`, () => text(page, "#now"), (now) => now !== paused);
    await page.keyboard.press("Home");
    await until(`${what}: the beginning`, () => text(page, "#now"), (now) => /^0(\.0*)? /.test(now));
}

async function zooms(page, what) {
    const inView = () => page.getAttribute(".overview", "aria-valuetext");
    const whole = await inView();
    await page.click("#closer");
    const closer = await until(`${what}: zoom`, inView, (now) => now !== whole);
    await page.locator("#tab-timeline").focus();
    await page.keyboard.press("-");
    await until(`${what}: zoom out`, inView, (now) => now !== closer);
    await page.keyboard.press("0");
    await until(`${what}: all`, inView, (now) => now === whole);
    const box = await page.locator(".lanes").first().boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -400);
    await page.keyboard.up("Control");
    const wheeled = await until(`${what}: wheel`, inView, (now) => now !== whole);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 4, box.y + box.height / 2, { steps: 4 });
    await page.mouse.up();
    await until(`${what}: drag`, inView, (now) => now !== wheeled);
    await page.click("#whole");
    await until(`${what}: all again`, inView, (now) => now === whole);
}

/* A message's way and an event's fields are those of the table of leat export. */
async function finds(page, what, table) {
    const way = table.filter((row) => row[5] === "1");
    await search(page, "message 1");
    await page.waitForSelector("#details .way");
    const spaces = /\s/g;
    same(`${what}: time`, (await text(page, "#details dd")).replace(spaces, ""), `${way[0][0]}ps`);
    const shown = await page.locator("#details .way tbody button").allTextContents();
    same(`${what}: way of message 1`, shown.join(), way.map((row) => `${row[1]} ${row[2]}`).join());
    const track = way[0][2];
    await search(page, track);
    await page.locator("#found button", { hasText: new RegExp(`^${track.replaceAll(".", "\\.")}$`) }).click();
    await page.waitForSelector(`.row[title="${track}"][aria-selected=true]`);
    await until(`${what}: events of ${track}`, () => text(page, "#details dl"),
                (now) => now.includes(`events${table.filter((row) => row[2] === track).length}`));
    await search(page, "no such thing");
    same(`${what}: what is not there`, await text(page, "#found"), "Nothing found");
    await page.press("#wanted", "Escape");
}

/* A frame's fields are those of leat decode, its length that of leat export. */
async function decodes(page, what, table, capture) {
    const at = table.findIndex((row) => row[1] === "frame");
    const first = JSON.parse(leatOf("decode", "--json", capture).stdout.split("\n")[0]);
    await page.click("#tab-events");
    for (let shown = 100; shown <= at; shown += 100) await page.click(".pages button:last-child");
    await page.locator(".events tbody tr").nth(at % 100).locator("button").click();
    await page.waitForSelector("#details .fields .json");
    const tree = await text(page, "#details .fields");
    check(tree.includes(`format ${first.format}`), `${what}: format of a frame: ${tree}`);
    for (const [name, value] of Object.entries(first.fields))
        if (typeof value !== "object") check(tree.includes(`${name} ${value}`), `${what}: field ${name} is not ${value}: ${tree}`);
    same(`${what}: octets`, (await text(page, "#details .hex")).trim().split(" ").length, Number(table[at][7]));
    await checkLayout(page, `${what}, decoded`);
    await page.click("#tab-timeline");
}

async function treeByKeys(page, what) {
    const tree = page.locator(".tree").first();
    const rows = () => page.locator(".row").count();
    await tree.focus();
    await page.keyboard.press("Home");
    await page.waitForSelector(".row.group[aria-selected=true]");
    const unfolded = await rows();
    await page.keyboard.press("ArrowLeft");
    await page.waitForSelector(".row.group[aria-expanded=false]");
    await until(`${what}: folded rows`, rows, (count) => count < unfolded);
    await page.keyboard.press("ArrowRight");
    await until(`${what}: unfolded rows`, rows, (count) => count === unfolded);
    await page.keyboard.press("ArrowDown");
    await page.waitForSelector(".row:not(.group)[aria-selected=true]");
    check((await text(page, "#said")).length > 0, `${what}: nothing is said`);
    await page.locator(".lanes").first().focus();
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await until(`${what}: Enter selects an event`, () => text(page, "#details"), (now) => now.includes("number"));
    await page.keyboard.press("Home");
}

/* Tab reaches everything that can be used, in the order of the page. */
async function tabOrder(page, what) {
    await page.evaluate(() => document.activeElement.blur());
    const reached = [];
    for (let i = 0; i < 24; i++) {
        await page.keyboard.press("Tab");
        reached.push(await page.evaluate(() => document.activeElement.id || document.activeElement.className));
    }
    for (const wanted of ["wanted", "play", "step", "speed", "closer", "overview", "tab-timeline", "tree", "lanes"])
        check(reached.includes(wanted), `${what}: Tab does not reach ${wanted}: ${reached.join(" ")}`);
}

async function clicksCanvas(page, what) {
    const box = await page.locator(".lanes").first().boundingBox();
    await page.mouse.click(box.x + box.width / 2, box.y + 60);
    await until(`${what}: a click selects`, () => text(page, "#details h2"), (title) => title !== "Nothing is selected");
    await page.click("#tab-fabric");
    const network = await page.locator(".network").first().boundingBox();
    const before = await text(page, "#details h2");
    for (let y = 20; y < network.height && (await text(page, "#details h2")) === before; y += 20)
        await page.mouse.click(network.x + network.width / 2, network.y + y);
    check((await text(page, "#details h2")) !== before, `${what}: no place of the network can be clicked`);
    await page.click("#tab-timeline");
}

async function oneRecording(file, table, capture) {
    const server = await serve(file);
    for (const width of WIDTHS) {
        for (const scheme of SCHEMES) {
            const what = `${width} ${scheme}`;
            const page = await open(server.address, width, scheme);
            await views(page, what);
            await plays(page, what);
            await zooms(page, what);
            await finds(page, what, table);
            await decodes(page, what, table, capture);
            await clicksCanvas(page, what);
            await treeByKeys(page, what);
            await tabOrder(page, what);
            await checkLayout(page, `${what}, at the end`);
            await close(page);
        }
    }
    await server.stop();
}

/* A cycle of the clock at a time. */
async function stepsByCycle(file) {
    const server = await serve(file);
    const page = await open(server.address, 1280, "light");
    await page.selectOption("#step", { index: 2 });
    for (let i = 0; i < 3; i++) await page.click("#forth");
    await until("three cycles of 50 ns", () => text(page, "#now"), (now) => /^150(\.0*)? ns$/.test(now));
    await page.click("#back");
    await until("two cycles of 50 ns", () => text(page, "#now"), (now) => /^100(\.0*)? ns$/.test(now));
    await close(page);
    await server.stop();
}

async function damaged(file) {
    const octets = readFileSync(file);
    const cut = join(folder, "cut.leatrec");
    writeFileSync(cut, octets.subarray(0, octets.length >> 1));
    const server = await serve(cut);
    for (const width of WIDTHS) {
        const page = await open(server.address, width, "light");
        const told = (await text(page, "#damage")).replace(/\u202f/g, "");
        check(told.includes(`octet ${octets.length >> 1}: `) && told.includes("(SHORT)"), `a cut recording: ${told}`);
        await checkLayout(page, `damaged, ${width}`);
        check(await colorsOn(page, ".lanes") > 4, "nothing of a cut recording is drawn");
        await close(page);
    }
    await server.stop();
}

/* Two recordings that are one up to an event: the track with it is marked, no other one. */
async function compared() {
    const files = [5, 6].map((value) => {
        const r = new Recorder();
        r.clock(1000, 1);
        const group = r.group(0, "net");
        const a = r.signal(group, 1, 8, "queue0");
        const b = r.signal(group, 1, 8, "queue1");
        for (const at of [10, 20, 30]) {
            r.time(10);
            r.value(a, at);
            r.value(b, at === 30 ? value : at);
        }
        const file = join(folder, `value${value}.leatrec`);
        writeFileSync(file, r.close());
        return file;
    });
    const server = await serve(...files);
    for (const width of WIDTHS) {
        const page = await open(server.address, width, "dark");
        await until("what differs", () => text(page, "#differences"), (told) => told === "1 track differs (≠): net.queue1");
        const marked = await page.locator(".row.differs").evaluateAll((rows) => rows.map((row) => row.title).join());
        same("marked rows", marked, "net.queue1,net.queue1");
        await views(page, `two ${width}`);
        await close(page);
    }
    await server.stop();
    const twice = await serve(files[0], files[0]);
    const page = await open(twice.address, 1280, "light");
    await until("what does not differ", () => text(page, "#differences"), (told) => told === "The recordings do not differ.");
    await close(page);
    await twice.stop();
}

async function singleFile(file, table, capture) {
    const page = join(folder, "page.html");
    same("exit code of -o", leatOf("view", file, "-o", page).status, 0);
    for (const width of WIDTHS) {
        const shown = await open(pathToFileURL(page).href, width, "dark");
        await views(shown, `file ${width}`);
        await plays(shown, "file");
        await finds(shown, "file", table);
        await decodes(shown, "file", table, capture);
        await close(shown);
    }
}

/* Packets on the wires of the network that the recording names: played, stepped, clicked, zoomed. */
async function switched() {
    const file = join(folder, "mesh.leatrec");
    const table = join(folder, "mesh.csv");
    same("leat sim", leatOf("sim", "mesh:4,4", "--load", "0.3", "--cycles", "300", "--record", file).status, 0);
    same("leat export", leatOf("export", file, "--csv", table).status, 0);
    const server = await serve(file);
    for (const width of WIDTHS) {
        const what = `switches, ${width}`;
        const page = await open(server.address, width, width === WIDTHS[0] ? "light" : "dark");
        await search(page, "packet 20");
        await page.waitForSelector("#details .way");
        const hops = lines(table).filter(([, , , , , message]) => message === String(2 ** 34 + 20));
        const rows = await page.locator("#details .way tbody tr").count();
        same(`${what}: the packet's way`, rows, hops.length);
        check((await text(page, "#details .way thead")).includes("waited"), `${what}: how long it waited`);
        await page.click("#tab-fabric");
        await until(`${what}: wires and packets`, () => colorsOn(page, ".network"), (count) => count > 8);
        const caption = () => text(page, ".busiest caption");
        await until(`${what}: packets are counted`, caption, (now) => /[1-9][0-9]* packets? on the way/.test(now));
        await until(`${what}: the busiest wire`, () => text(page, ".busiest tbody"), (now) => now.includes("wire "));
        const before = await text(page, "#now");
        await page.click("#forth");
        await until(`${what}: a step`, () => text(page, "#now"), (now) => now !== before);
        await page.click("#play");
        const here = await text(page, "#now");
        await until(`${what}: it plays`, () => text(page, "#now"), (now) => now !== here);
        await page.click("#play");
        await page.screenshot({ path: join(folder, `switches-${width}.png`) });
        await clicksPacket(page, what);
        const box = await page.locator(".network").boundingBox();
        const whole = await page.locator(".network").screenshot();
        await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
        await page.mouse.wheel(0, -600);
        await until(`${what}: the wheel zooms`, async () => (await page.locator(".network").screenshot()).equals(whole), (isSame) => !isSame);
        await checkLayout(page, what);
        await close(page);
    }
    await server.stop();
}

/* Somewhere in the drawing is a packet. */
async function clicksPacket(page, what) {
    const box = await page.locator(".network").boundingBox();
    for (let i = 0; i < 400 && !(await text(page, "#details h2")).startsWith("packet"); i++)
        await page.mouse.click(box.x + ((i * 37) % box.width), box.y + 20 + ((i * 53) % (box.height - 40)));
    check((await text(page, "#details h2")).startsWith("packet"), `${what}: no packet can be clicked`);
    check(await page.locator("#details .way tbody tr").count() > 1, `${what}: the way of the packet that was clicked`);
}

/* A field of places, and messages between them. */
async function manyPlaces() {
    const file = join(folder, "many.leatrec");
    writeFileSync(file, busyNetwork(30000, 4096));
    const server = await serve(file);
    const page = await open(server.address, 1280, "light");
    await page.click("#tab-fabric");
    await until("colours of 4096 places", () => colorsOn(page, ".network"), (count) => count > 4);
    await page.click("#play");
    await until("messages on their way", () => text(page, ".busiest caption").catch(() => ""), (caption) => caption.length > 0);
    await close(page);
    await server.stop();
}

/* ---- how quick ------------------------------------------------------------------------------ */

async function frames(page, step) {
    return page.evaluate(async ([source, ms]) => {
        const act = new Function("i", source);
        const begin = performance.now();
        let count = 0;
        for (; performance.now() - begin < ms; count++) {
            act(count);
            await new Promise(requestAnimationFrame);
        }
        return (1000 * count) / (performance.now() - begin);
    }, [step, BENCH_MS]);
}

const press = (key) => `document.dispatchEvent(new KeyboardEvent("keydown", { key: ${key}, bubbles: true }))`;

async function measure(events) {
    const file = join(folder, "long.leatrec");
    writeFileSync(file, busyNetwork(events, 64));
    const server = await serve(file);
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, bypassCSP: true }); /* frames() makes a function */
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE);
    await page.goto(server.address);
    await page.waitForSelector("html[data-state=ready]");
    const opened = await page.evaluate(() => performance.getEntriesByType("measure")[0].duration);
    console.log(`opens ${events} events, 64 ranks: ${(opened / 1000).toFixed(2)} s`);
    console.log(`moves, all in view: ${(await frames(page, press('i % 2 ? "ArrowLeft" : "ArrowRight"'))).toFixed(0)} frames/s`);
    for (let i = 0; i < 6; i++) await page.keyboard.press("+");
    console.log(`moves, a tenth in view: ${(await frames(page, press('i % 2 ? "ArrowLeft" : "ArrowRight"'))).toFixed(0)} frames/s`);
    console.log(`zooms: ${(await frames(page, press('i % 20 < 10 ? "+" : "-"'))).toFixed(0)} frames/s`);
    await page.click("#tab-fabric");
    console.log(`plays the network: ${(await frames(page, `if (!i) ${press('" "')}`)).toFixed(0)} frames/s`);
    await context.close();
    await server.stop();
}

/* ---- the picture of the gallery ------------------------------------------------------------- */

/* A message of the recording of environment variable RECORDING. */
async function picture() {
    const server = await serve(process.env.RECORDING);
    const page = await open(server.address, 1280, "light");
    await search(page, "message 420");
    await page.waitForSelector("#details .way");
    await page.click("#tab-fabric");
    await until("colours of the network", () => colorsOn(page, ".network"), (count) => count > 4);
    await page.screenshot({ path: join(folder, "view.png") });
    await close(page);
    await server.stop();
}

/* ---- all ------------------------------------------------------------------------------------ */

async function testAll() {
    const cells = join(folder, "cells.leatrec");
    const table = join(folder, "cells.csv");
    const capture = join(folder, "cells.pcapng");
    same("leat sim", leatOf("sim", "clos444", "--load", "0.2", "--cycles", "2000", "--record", cells).status, 0);
    same("leat export", leatOf("export", cells, "--csv", table, "--pcapng", capture).status, 0);
    await oneRecording(cells, lines(table), capture);
    await stepsByCycle(cells);
    await damaged(cells);
    await compared();
    await singleFile(cells, lines(table), capture);
    await switched();
    await manyPlaces();
    await measure(TEST_EVENTS); /* printed, not judged: how fast this machine is is no matter of the page */
}

await runTest(mode === "bench" ? () => measure(BENCH_EVENTS) : mode === "picture" ? picture : testAll);
