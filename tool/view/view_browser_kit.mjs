/*
 * What tests of the page in Chromium share: leat, pages that are opened, what is shown, boxes that
 * overlap or leave the page, contrasts. Errors on the console and reports of the policy are failures.
 *
 * Arguments of a test: leat, a folder with node_modules/playwright-core, a folder for files, a mode.
 */
import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

export const [leat, modules, folder, mode] = process.argv.slice(2);
const { chromium } = createRequire(join(modules, "x.js"))("playwright-core");
export const PATIENCE = 120000; /* ms: after it, what is waited for does not come */
const SWITCHES = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync";
export const WIDTHS = [1280, 390];
export const SCHEMES = ["light", "dark"];

/* ---- failures ----------------------------------------------------------------------------- */

let failures = 0;

export function fail(text) {
    failures++;
    console.error(`FAILED: ${text}`);
}

export function check(condition, text) {
    if (!condition) fail(text);
}

export function same(what, got, want) {
    check(got === want, `${what}: got '${got}', want '${want}'`);
}

/* ---- leat ----------------------------------------------------------------------------------- */

export function leatOf(...words) {
    const told = spawnSync(leat, words, { encoding: "utf8", maxBuffer: 1 << 28 });
    if (told.error) throw told.error;
    return told;
}

export function lines(table) {
    return readFileSync(table, "utf8").split("\r\n").slice(1, -1).map((line) => line.split(","));
}

/* The address that a line on this stream of a process ends with. */
async function addressOf(child, stream, ended, what) {
    return new Promise((resolve, reject) => {
        let told = "";
        stream.on("data", (part) => {
            told += part;
            const line = told.match(/(http:\S+)\n/);
            if (line) resolve(line[1]);
        });
        ended.then((code) => reject(new Error(`${what} ended with ${code} before it told its address: ${told}`)));
    });
}

/* leat view, until stop(): its address. */
export async function serve(...files) {
    const server = spawn(leat, ["view", ...files], { stdio: ["ignore", "pipe", "pipe"] });
    const ended = new Promise((resolve) => server.on("exit", resolve));
    const address = await addressOf(server, server.stdout, ended, "leat view");
    return { address, stop: () => { server.kill("SIGINT"); return ended; } };
}

/* A verb with --view, until stop(): its page. */
export async function watch(...words) {
    const run = spawn(leat, words, { stdio: ["ignore", "ignore", "pipe"] });
    const ended = new Promise((resolve) => run.on("exit", resolve));
    const address = await addressOf(run, run.stderr, ended, words.join(" "));
    return { address, ended, stop: (signal = "SIGINT") => { run.kill(signal); return ended; } };
}

/* ---- pages -------------------------------------------------------------------------------- */

export const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: SWITCHES.split(" ") });

export async function open(address, width, colorScheme) {
    const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme });
    page.setDefaultTimeout(PATIENCE);
    const what = `${width} pixels, ${colorScheme}`;
    /* Chromium drops what it loads when a device of the host gets an address, which may be late. */
    let dropped = false;
    page.on("console", (message) => {
        if (message.text().includes("ERR_NETWORK_CHANGED")) dropped = true;
        else if (message.type() !== "log") fail(`${what}: console: ${message.text()}`);
    });
    page.on("pageerror", (error) => fail(`${what}: ${error.stack}`));
    page.on("request", (request) => {
        const { protocol, origin } = new URL(request.url());
        check(["data:", "blob:", "file:"].includes(protocol) || origin === new URL(address).origin, `${what}: asks for ${request.url()}`);
    });
    await page.addInitScript(() => {
        window.reports = [];
        document.addEventListener("securitypolicyviolation", (event) => window.reports.push(`${event.violatedDirective} ${event.blockedURI}`));
    });
    await page.goto(address);
    await until(`${what}: the page`, async () => {
        if (dropped) {
            dropped = false;
            await page.goto(address);
        }
        return page.getAttribute("html", "data-state");
    }, (state) => state !== null);
    same(`${what}: the page`, await page.getAttribute("html", "data-state"), "ready");
    return page;
}

export async function close(page) {
    same("reports of the policy", (await page.evaluate(() => window.reports)).join(), "");
    await page.close();
}

export const text = (page, selector) => page.textContent(selector);

export async function search(page, wanted) {
    await page.fill("#wanted", wanted);
    await page.press("#wanted", "Enter");
}

/* Waits until what `read` gives in the page satisfies `test`. */
export async function until(what, read, test) {
    const begin = Date.now();
    for (;;) {
        const value = await read();
        if (test(value)) return value;
        if (Date.now() - begin > PATIENCE) {
            fail(`${what}: still '${value}'`);
            return value;
        }
        await new Promise((resolve) => setTimeout(resolve, 50));
    }
}

/* ---- layout ------------------------------------------------------------------------------- */

/* Boxes that leave the page, are empty, or cover each other; controls without a name. */
export function wrongBoxes() {
    const out = [];
    const shown = (element) => element.getClientRects().length > 0;
    const boxOf = (element) => element.getBoundingClientRect();
    const nameOf = (element) => element.id || `${element.tagName} ${element.textContent.slice(0, 20)}`;
    const overlap = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
    const apart = (elements) => elements.forEach((a, i) => elements.slice(i + 1).forEach((b) => {
        if (overlap(boxOf(a), boxOf(b))) out.push(`${nameOf(a)} covers ${nameOf(b)}`);
    }));
    if (document.documentElement.scrollWidth > innerWidth + 1) out.push(`the page is ${document.documentElement.scrollWidth} pixels wide`);
    apart(["header", "#controls", "#strip", "#tabs", "main", "#details", "footer"].map((selector) => document.querySelector(selector)).filter(shown));
    apart([...document.querySelectorAll("#controls > *, #search > input, #search > button")].filter(shown));
    apart([...document.querySelectorAll(".pane")].filter(shown));
    apart([...document.querySelectorAll(".row")].filter(shown));
    for (const element of document.querySelectorAll("button, input, select, canvas, progress, [role]")) {
        const named = element.textContent.trim() || element.getAttribute("aria-label") || element.getAttribute("aria-labelledby") || element.labels?.length;
        if (shown(element) && !named && !["status", "alert"].includes(element.role)) out.push(`${element.outerHTML.slice(0, 60)} has no name`);
    }
    for (const element of [...document.querySelectorAll("button, select, canvas, input:not([type=checkbox])")].filter(shown)) {
        const { width, height, left, right } = boxOf(element);
        if (width < 20 || height < 18) out.push(`${nameOf(element)} is ${width} x ${height}`);
        const scrolls = element.closest(".events, #details, .fabric, #found, .wide");
        if (!scrolls && (left < -1 || right > innerWidth + 1)) out.push(`${nameOf(element)} leaves the page`);
    }
    return out;
}

export async function checkLayout(page, what) {
    for (const wrong of await page.evaluate(wrongBoxes)) fail(`${what}: ${wrong}`);
}

/* Text and background differ enough (WCAG: 4.5 to 1). */
export function poorContrasts() {
    const parse = (color) => color.match(/[\d.]+/g).map(Number);
    const light = (color) => {
        const [r, g, b] = parse(color).map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const backOf = (element) => {
        for (let at = element; at; at = at.parentElement) {
            const color = getComputedStyle(at).backgroundColor;
            if (parse(color)[3] !== 0) return color;
        }
        return "rgb(255, 255, 255)";
    };
    return [...document.querySelectorAll("h1, h1 span, h2, p, button:not(:disabled), label, th, td, dt, dd, caption, .row, output")]
        .filter((element) => element.getClientRects().length && element.textContent.trim() && !element.closest(".hidden"))
        .map((element) => {
            const [a, b] = [light(getComputedStyle(element).color), light(backOf(element))].sort((x, y) => y - x);
            return [(a + 0.05) / (b + 0.05), element];
        })
        .filter(([ratio]) => ratio < 4.5)
        .map(([ratio, element]) => `${element.tagName} '${element.textContent.trim().slice(0, 20)}' has contrast ${ratio.toFixed(1)}`);
}

/* A canvas on which something is drawn: the number of its colours. */
export function colorsOn(page, selector) {
    return page.evaluate((wanted) => {
        const canvas = [...document.querySelectorAll(wanted)].find((one) => one.clientWidth);
        const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
        copy.drawImage(canvas, 0, 0);
        const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
        return new Set(new Uint32Array(data.buffer)).size;
    }, selector);
}

/* Runs a test; its exit code is that of the process. */
export async function runTest(all) {
    try {
        await all();
    } catch (error) {
        fail(error.stack);
    }
    await browser.close();
    process.exit(failures ? 1 : 0);
}
