/* Colours of canvases: those of the style sheet, so that dark and light follow the reader's choice. */

const NAMES = ["back", "raised", "line", "text", "faint", "accent", "hot", "warn", "good"];
const HUES = 8;
let palette = null;
const known = new Map(); /* of names: their colours */

function read() {
    const style = getComputedStyle(document.documentElement);
    const out = { hue: [] };
    for (const name of NAMES) out[name] = style.getPropertyValue(`--${name}`).trim();
    for (let i = 0; i < HUES; i++) out.hue.push(style.getPropertyValue(`--hue${i}`).trim());
    return out;
}

export function colors() {
    palette ??= read();
    return palette;
}

export function onColorsChange(redraw) {
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
        palette = null;
        known.clear();
        redraw();
    });
}

/* A name has the same colour everywhere. */
export function colorOf(name) {
    let color = known.get(name);
    if (color === undefined) {
        color = colors().hue[hueOf(name)];
        known.set(name, color);
    }
    return color;
}

function hueOf(name) {
    let hash = 7;
    for (let i = 0; i < name.length; i++) hash = (Math.imul(hash, 31) + name.charCodeAt(i)) >>> 0;
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 0;
    return hash % HUES;
}

/* From cold to hot: how much something is used, 0 to 1. */
export function useColor(share) {
    const hue = 210 - 210 * Math.min(1, Math.max(0, share));
    return `hsl(${hue} 75% ${matchMedia("(prefers-color-scheme: dark)").matches ? 55 : 45}%)`;
}
