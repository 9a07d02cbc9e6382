/*
 * What a store tells (tool/report/report_view.c), made ready for curves, surfaces and tables. No
 * elements here: node tests it.
 */

export const FIGURES = [
    { id: "latency", name: "Mean latency", short: "mean latency", decimals: 2, isTime: true },
    { id: "throughput", name: "Throughput", short: "accepted", unit: "of a line", decimals: 4 },
    { id: "p99", name: "99th percentile of latency", short: "99th percentile", decimals: 1, isTime: true },
    { id: "hops", name: "Mean hops", short: "hops", decimals: 3, unit: "hops" },
];

export const STATES = ["steady", "saturated", "deadlock"];

export function figureOf(id) {
    return FIGURES.find((figure) => figure.id === id);
}

export function unitOf(figure, report) {
    return figure.isTime ? report.unit : figure.unit;
}

/* Points as objects; each knows its line, its traffic and how a table says where it is. */
export function readReport(report) {
    const lines = report.lines.map((line, i) => {
        const sweep = report.sweeps[line.sweep];
        const keys = line.family === undefined ? [] : report.families[line.family].keys;
        return { ...line, index: i, options: sweep.options, sweepId: sweep.id, keys, key: `${line.fabric}\n${sweep.options}\n${sweep.files}` };
    });
    const points = report.points.map((row) => {
        const point = Object.fromEntries(report.columns.map((column, i) => [column, row[i]]));
        point.line = lines[point.line];
        point.traffic = report.traffics[point.traffic];
        point.state = point.deadlocks ? "deadlock" : point.is_saturated ? "saturated" : "steady";
        point.lost = point.lost_packets + point.lost_cells + point.lost_messages;
        return point;
    });
    return { ...report, lines, points };
}

/* ---- filters ------------------------------------------------------------------------------ */

/* Words all of which a line's name or options have; "-word": none of it. */
function hasWords(line, words) {
    const text = `${line.name} ${line.options}`.toLowerCase();
    return words.every((word) => (word.startsWith("-") && word.length > 1 && !word.startsWith("--") ? !text.includes(word.slice(1)) : text.includes(word)));
}

export function filterPoints(points, { text = "", traffic = "", state = "", least = NaN, most = NaN }) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    return points.filter((point) => (!traffic || point.traffic === traffic) && (!state || point.state === state) &&
        !(point.load < least) && !(point.load > most) && hasWords(point.line, words));
}

export function sortRows(rows, valueOf, falling) {
    const compare = (a, b) => {
        const [x, y] = [valueOf(a), valueOf(b)];
        if (x === null || y === null) return (x === null) - (y === null); /* what is missing comes last */
        const order = typeof x === "string" ? x.localeCompare(y, "en", { numeric: true }) : x - y;
        return falling ? -order : order;
    };
    return [...rows].sort(compare);
}

/* ---- curves ------------------------------------------------------------------------------- */

/* One curve for each line: its points by rising load. */
export function curvesOf(points, figure) {
    const curves = new Map();
    for (const point of points) {
        if (point[figure] === null) continue;
        if (!curves.has(point.line)) curves.set(point.line, { name: point.line.name, style: point.line.index, points: [] });
        curves.get(point.line).points.push({ x: point.load, y: point[figure], half: point[`${figure}_half`] ?? null,
                                             open: point.state !== "steady", runs: point.runs });
    }
    for (const curve of curves.values()) curve.points.sort((a, b) => a.x - b.x);
    return [...curves.values()];
}

/* ---- surfaces ----------------------------------------------------------------------------- */

/* What two axes can be: the load and, for the lines of a family, the numbers in which they differ. */
export function surfaceAxes(report, family) {
    const axes = [{ id: "load", text: "offered load", valueOf: (point) => point.load }];
    for (const [k, key] of (report.families[family]?.keys ?? []).entries())
        axes.push({ id: `key${k}`, text: key.text, valueOf: (point) => point.line.values[k] });
    return axes;
}

/* The values of an axis, rising, each once. */
export function valuesOf(points, axis) {
    return [...new Set(points.map(axis.valueOf))].sort((a, b) => a - b);
}

/* Cells of the points that have the fixed values of all other axes; a cell without a point is null.
 * Where several lines have the same numbers, the first one is shown. */
export function surfaceOf(points, x, y, fixed) {
    const chosen = points.filter((point) => fixed.every(({ axis, value }) => axis.valueOf(point) === value));
    const [columns, rows] = [valuesOf(chosen, x), valuesOf(chosen, y)];
    const cells = rows.map(() => columns.map(() => null));
    for (const point of chosen) {
        const [row, column] = [rows.indexOf(y.valueOf(point)), columns.indexOf(x.valueOf(point))];
        cells[row][column] ??= point;
    }
    return { columns, rows, cells };
}

/* Least and most of what is not saturated; of all, if nothing else is there. */
export function scaleOf(cells, figure) {
    const known = cells.flat().filter((point) => point && point[figure] !== null);
    const steady = known.filter((point) => point.state === "steady");
    const values = (steady.length ? steady : known).map((point) => point[figure]);
    const [least, most] = values.length ? [Math.min(...values), Math.max(...values)] : [0, 1];
    return { least, most, isLog: least > 0 && most / least > 10 };
}

export function shareOf({ least, most, isLog }, value) {
    if (most === least) return 0;
    const share = isLog ? Math.log(value / least) / Math.log(most / least) : (value - least) / (most - least);
    return Math.min(1, Math.max(0, share));
}

/* ---- two stores --------------------------------------------------------------------------- */

/* Do the intervals of two means have nothing in common? Without intervals: are they different? */
function isApart(a, b, figure) {
    const half = (point) => point[`${figure}_half`] ?? 0;
    return Math.abs(a[figure] - b[figure]) > half(a) + half(b);
}

/* Points that both have, by fabric, options, files, traffic and load; what only one has. */
export function comparePoints(mine, theirs) {
    const nameOf = (point) => `${point.line.key}\n${point.traffic}\n${point.load}`;
    const others = new Map(theirs.map((point) => [nameOf(point), point]));
    const rows = [];
    const alone = [];
    for (const a of mine) {
        const b = others.get(nameOf(a));
        others.delete(nameOf(a));
        if (b) rows.push({ a, b, line: a.line, traffic: a.traffic, load: a.load, ...differences(a, b) });
        else alone.push(a);
    }
    return { rows, alone, others: [...others.values()] };
}

function differences(a, b) {
    const out = { differs: a.state !== b.state };
    for (const figure of ["latency", "throughput", "p99"]) {
        const known = a[figure] !== null && b[figure] !== null;
        out[`${figure}_change`] = known && a[figure] !== 0 ? b[figure] / a[figure] - 1 : null;
        if (known ? isApart(a, b, figure) : a[figure] !== b[figure]) out.differs = true;
    }
    return out;
}
