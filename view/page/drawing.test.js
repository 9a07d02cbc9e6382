/* Axes cover their values with round ticks; numbers are short and exact enough. */
import { test } from "node:test";
import assert from "node:assert/strict";
import { axisOf, figureText, styleOf } from "./drawing.js";

test("a linear axis starts at zero and covers all values with round ticks", () => {
    for (const most of [0.6, 1, 7, 12345, 3e-4, 2e9]) {
        const axis = axisOf([most / 3, most, NaN]);
        assert.equal(axis.min, 0);
        assert.ok(axis.max >= most && axis.ticks.length >= 3 && axis.ticks.length <= 13, `${most}: ${axis.ticks}`);
        assert.ok(axis.ticks.every((tick) => tick >= 0 && tick <= axis.max * 1.001));
        assert.ok(Math.abs(axis.share(axis.max) - 1) < 1e-9 && axis.share(0) === 0);
    }
});

test("values of several decades have a logarithmic axis, if they may", () => {
    const axis = axisOf([15, 2000], { mayBeLog: true });
    assert.ok(axis.isLog && axis.min < 15 && axis.max > 2000);
    assert.ok(axis.ticks.includes(100) && axis.ticks.every((tick) => tick >= axis.min && tick <= axis.max));
    assert.equal(axisOf([15, 2000]).isLog, false);
    assert.equal(axisOf([0, 2000], { mayBeLog: true }).isLog, false);
});

test("an axis of nothing, or of one value, is an axis", () => {
    for (const values of [[], [0], [5], [-3]]) {
        const axis = axisOf(values);
        assert.ok(axis.max > axis.min && axis.ticks.every(Number.isFinite), String(values));
    }
});

test("figures are short", () => {
    const texts = { 0: "0", 0.05: "0.05", 0.25: "0.25", 12: "12", 1234.5: "1235", 20000: "20k", 1.5e6: "1.5M", 2.5e-4: "2.5e-4", 100: "100" };
    for (const [value, text] of Object.entries(texts)) assert.equal(figureText(Number(value)), text);
    assert.equal(figureText(null), "–");
    assert.equal(figureText(-1500000), "-1.5M");
});

test("forty styles are all different", () => {
    assert.equal(new Set(Array.from({ length: 40 }, (_, i) => JSON.stringify(styleOf(i)))).size, 40);
});
