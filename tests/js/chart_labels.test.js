import assert from "node:assert/strict";
import { test } from "node:test";
import { percentRange, placeLabels, trendLine } from "../../static/js/results/labels.js";

test("the name of a lone point stands above it to the right, beside the whiskers", () => {
  assert.deepEqual(placeLabels([{ x: 50, y: 50, text: "one" }], 300, 200), [{ x: 57, y: 45, anchor: "start" }]);
});

test("names hide neither points nor one another", () => {
  const points = [
    { x: 50, y: 50, text: "first" },
    { x: 70, y: 50, text: "second" },
  ];
  const places = placeLabels(points, 300, 200);
  assert.notDeepEqual([places[0].y, places[0].anchor], [places[1].y, places[1].anchor]);
  assert.equal(places.includes(null), false);
});

test("a name without a free place is left out", () => {
  assert.deepEqual(placeLabels([{ x: 5, y: 5, text: "much too long" }], 20, 20), [null]);
});

test("an axis of percents covers the values by tens and stays between 0 and 100", () => {
  assert.deepEqual(percentRange([43, 67]), [40, 70]);
  assert.deepEqual(percentRange([1, 99]), [0, 100]);
  assert.deepEqual(percentRange([]), [0, 100]);
});

test("the line of least squares goes through points on a line", () => {
  assert.deepEqual(
    trendLine([
      [1, 5],
      [2, 3],
      [3, 1],
    ]),
    [
      [1, 5],
      [3, 1],
    ],
  );
  assert.equal(
    trendLine([
      [1, 1],
      [1, 2],
      [1, 3],
    ]),
    null,
  );
});
