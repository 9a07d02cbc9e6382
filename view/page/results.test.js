/* What the page makes of a store: filters, orders, curves, surfaces, two stores. */
import { test } from "node:test";
import assert from "node:assert/strict";
import { readReport, filterPoints, sortRows, curvesOf, surfaceAxes, surfaceOf, valuesOf, scaleOf, shareOf, comparePoints } from "./results.js";

const columns = ["line", "traffic", "load", "runs", "is_saturated", "saturated", "deadlocks", "throughput", "latency", "p99", "hops",
                 "throughput_half", "latency_half", "p99_half", "lost_packets", "lost_cells", "lost_messages", "rerouted", "retransmissions"];

/* Lines of two buffers and two lengths of packets; latency says where a point is. */
function reportOf(change = () => {}) {
    const lines = [1, 4].flatMap((buffer) => [1, 8].map((flits) => ({ name: `mesh/buffer=${buffer}`, fabric: `mesh/buffer=${buffer}`, sweep: flits === 8 ? 1 : 0, family: 0, values: [buffer, flits] })));
    lines.push({ name: "torus", fabric: "torus", sweep: 0 });
    const points = [];
    lines.forEach((line, l) => [0, 1].forEach((traffic) => [0.1, 0.2, 0.4].forEach((load) => {
        const [buffer, flits] = line.values ?? [100, 0];
        const saturated = load === 0.4 && buffer === 1;
        const point = [l, traffic, load, 3, saturated ? 1 : 0, saturated ? 2 : 0, 0, load, 1000 * traffic + 100 * load + buffer + 10 * flits, 50, 2, 0.001, 1, 2, 0, 0, 0, 0, 0];
        change(point, line);
        points.push(point);
    })));
    return readReport({ unit: "ns", runs: 90, lines, traffics: ["transpose", "uniform"], families: [{ keys: [{ name: "buffer", text: "buffer, flits" }, { name: "flits", text: "flits" }] }],
                        sweeps: [{ id: 1, options: "", files: "" }, { id: 2, options: "--flits 8", files: "" }], columns, points, programs: [] });
}

const report = reportOf();

test("points know their line, traffic and state", () => {
    const point = report.points.find(({ line, load }) => line.values?.[0] === 1 && load === 0.4);
    assert.equal(point.line.name, "mesh/buffer=1");
    assert.equal(point.traffic, "transpose");
    assert.equal(point.state, "saturated");
    assert.equal(reportOf((row) => { row[6] = 1; }).points[0].state, "deadlock");
});

test("filters leave what has all words, and none that is excluded", () => {
    const count = (wanted) => filterPoints(report.points, wanted).length;
    assert.equal(count({}), 30);
    assert.equal(count({ text: "mesh" }), 24);
    assert.equal(count({ text: "MESH buffer=4" }), 12);
    assert.equal(count({ text: "-torus --flits" }), 12);
    assert.equal(count({ text: "-buffer=1" }), 18);
    assert.equal(count({ traffic: "uniform" }), 15);
    assert.equal(count({ state: "saturated" }), 4);
    assert.equal(count({ least: 0.2 }), 20);
    assert.equal(count({ least: 0.15, most: 0.3, traffic: "uniform" }), 5);
    assert.equal(count({ text: "no such" }), 0);
});

test("rows are sorted by numbers and by words, what is missing last", () => {
    const rows = [{ a: 10 }, { a: null }, { a: 9 }, { a: 2 }];
    assert.deepEqual(sortRows(rows, ({ a }) => a).map(({ a }) => a), [2, 9, 10, null]);
    assert.deepEqual(sortRows(rows, ({ a }) => a, true).map(({ a }) => a), [10, 9, 2, null]);
    assert.deepEqual(sortRows(["buffer=10", "buffer=9"], (row) => row), ["buffer=9", "buffer=10"]);
});

test("a curve has the points of a line by rising load, and none without the figure", () => {
    const own = reportOf((row) => { if (row[2] === 0.2) row[8] = null; }).points.filter(({ traffic }) => traffic === "uniform").reverse();
    const curves = curvesOf(own, "latency");
    assert.equal(curves.length, 5);
    for (const curve of curves) assert.deepEqual(curve.points.map(({ x }) => x), [0.1, 0.4]);
    assert.deepEqual(curves[0].points.map(({ half }) => half), [1, 1]);
    assert.equal(curvesOf(own, "throughput")[0].points.length, 3);
});

test("a surface has a cell for each pair of values, with the others fixed", () => {
    const axes = surfaceAxes(report, 0);
    assert.deepEqual(axes.map(({ text }) => text), ["offered load", "buffer, flits", "flits"]);
    const points = report.points.filter(({ line, traffic }) => line.family === 0 && traffic === "uniform");
    const byLoad = surfaceOf(points, axes[0], axes[1], [{ axis: axes[2], value: 8 }]);
    assert.deepEqual([byLoad.columns, byLoad.rows], [[0.1, 0.2, 0.4], [1, 4]]);
    assert.deepEqual(byLoad.cells.map((row) => row.map(({ latency }) => latency)), [[1091, 1101, 1121], [1094, 1104, 1124]]);
    const byBoth = surfaceOf(points, axes[1], axes[2], [{ axis: axes[0], value: 0.2 }]);
    assert.deepEqual(byBoth.cells.map((row) => row.map(({ latency }) => latency)), [[1031, 1034], [1101, 1104]]);
    const partly = surfaceOf(points.filter(({ load, line }) => load < 0.4 || line.values[0] === 4), axes[0], axes[1], [{ axis: axes[2], value: 1 }]);
    assert.equal(partly.cells[0][2], null);
    assert.deepEqual(valuesOf(points, axes[2]), [1, 8]);
});

test("a scale covers what is steady, by logarithms where it spans decades", () => {
    const cells = [[{ latency: 1, state: "steady" }, { latency: 100, state: "steady" }, { latency: 9999, state: "saturated" }, null, { latency: null, state: "steady" }]];
    const scale = scaleOf(cells, "latency");
    assert.deepEqual(scale, { least: 1, most: 100, isLog: true });
    assert.deepEqual([1, 10, 100, 9999].map((value) => Math.round(100 * shareOf(scale, value)) / 100), [0, 0.5, 1, 1]);
    assert.equal(scaleOf([[{ latency: 5, state: "steady" }]], "latency").isLog, false);
});

test("two stores differ where intervals have nothing in common, or the state does", () => {
    const other = reportOf((row, line) => {
        if (line.name === "torus" && row[1] === 0) row[8] += row[2] === 0.1 ? 1.5 : row[2] === 0.2 ? 2.5 : 0;
        if (line.name === "torus" && row[1] === 0 && row[2] === 0.4) row[4] = 1;
    });
    const { rows, alone, others } = comparePoints(report.points, other.points);
    assert.equal(rows.length, 30);
    assert.deepEqual(rows.filter(({ differs }) => differs).map(({ line, traffic, load }) => [line.name, traffic, load]), [["torus", "transpose", 0.2], ["torus", "transpose", 0.4]]);
    assert.equal(alone.length + others.length, 0);
    const [row] = rows.filter(({ differs }) => differs);
    assert.ok(Math.abs(row.latency_change - 2.5 / row.a.latency) < 1e-12);
    const less = comparePoints(report.points.slice(2), other.points.slice(0, 20));
    assert.deepEqual([less.rows.length, less.alone.length, less.others.length], [18, 10, 2]);
});
