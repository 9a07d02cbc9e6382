/* SVG elements, axes with round numbers, and how numbers are written at them. */

export const SVG = "http://www.w3.org/2000/svg";

/* svg("path", { d: "..." }, child...) */
export function svg(name, attributes = {}, ...children) {
    const out = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) {
        if (key.startsWith("on")) out.addEventListener(key.slice(2), value);
        else if (value !== false && value !== undefined && value !== null) out.setAttribute(key, value === true ? "" : value);
    }
    out.append(...children);
    return out;
}

/* ---- numbers ------------------------------------------------------------------------------ */

const SIZES = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];

/* For axes and tips: at most this many digits that count. */
export function figureText(value, digits = 4) {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    const size = Math.abs(value);
    if (size && size < 1e-3) return value.toExponential(Math.min(2, digits - 1)).replace(/\.?0+e/, "e");
    const [unit, letter] = size >= 1e4 ? SIZES.find(([least]) => size >= least) : [1, ""];
    const text = (value / unit).toPrecision(digits);
    const plain = text.includes("e") ? String(Number(text)) : text;
    return `${plain.includes(".") && !plain.includes("e") ? plain.replace(/\.?0+$/, "") : plain}${letter}`;
}

/* ---- axes --------------------------------------------------------------------------------- */

const LOG_FROM = 25; /* beyond this ratio small values would be one line */

function roundStep(span, count) {
    const raw = span / Math.max(1, count);
    const power = 10 ** Math.floor(Math.log10(raw));
    return power * [1, 2, 2.5, 5, 10].find((step) => step * power >= raw * 0.999);
}

function linearTicks(min, max, count) {
    const step = roundStep(max - min, count);
    const ticks = [];
    for (let i = Math.ceil(min / step - 1e-9); i * step <= max * (1 + 1e-12); i++) ticks.push(Number((i * step).toPrecision(12)));
    return ticks;
}

function logTicks(min, max) {
    const ticks = [];
    const steps = max / min > 1e3 ? [1] : [1, 2, 5];
    for (let power = Math.floor(Math.log10(min)); power <= Math.ceil(Math.log10(max)); power++)
        for (const step of steps) {
            const tick = Number((step * 10 ** power).toPrecision(3));
            if (tick >= min * 0.999 && tick <= max * 1.001) ticks.push(tick);
        }
    return ticks;
}

/* An axis that covers the values; share(value): where it is, 0 to 1. */
export function axisOf(values, { mayBeLog = false, fromZero = true, count = 6 } = {}) {
    const known = values.filter((value) => Number.isFinite(value));
    const least = known.reduce((a, b) => Math.min(a, b), Infinity);
    const most = known.reduce((a, b) => Math.max(a, b), -Infinity);
    if (mayBeLog && least > 0 && most / least > LOG_FROM) {
        const [min, max] = [least / 1.15, most * 1.15];
        return { min, max, isLog: true, ticks: logTicks(min, max), share: (value) => Math.log(value / min) / Math.log(max / min) };
    }
    const min = known.length && !fromZero ? least : Math.min(0, known.length ? least : 0);
    let max = known.length ? most : 1;
    if (max <= min) max = min + (Math.abs(min) || 1);
    if (fromZero) max += (max - min) * 0.04;
    return { min, max, isLog: false, ticks: linearTicks(min, max, count), share: (value) => (value - min) / (max - min) };
}

/* ---- marks -------------------------------------------------------------------------------- */

export const COLORS = 8;
const MARKS = 5;

/* As in leat report: neighbours differ in both. */
export function styleOf(index) {
    return { color: index % COLORS, mark: (index + Math.floor(index / COLORS)) % MARKS };
}

export function markPath(mark, x, y, r) {
    switch (mark) {
    case 1: return `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}z`;
    case 2: return `M${x} ${y - 1.3 * r}L${x + 1.2 * r} ${y + r}H${x - 1.2 * r}z`;
    case 3: return `M${x} ${y - 1.35 * r}L${x + 1.35 * r} ${y}L${x} ${y + 1.35 * r}L${x - 1.35 * r} ${y}z`;
    case 4: return `M${x} ${y + 1.3 * r}L${x + 1.2 * r} ${y - r}H${x - 1.2 * r}z`;
    default: return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
    }
}
