import assert from "node:assert/strict";
import { test } from "node:test";
import { percentRange, placeLabels, shortNames, trendLine } from "../../static/js/results/labels.js";

const AREA = { left: 46, top: 0, right: 300, bottom: 162 };

test("the name of a lone point stands above it to the right, beside the whiskers", () => {
  assert.deepEqual(placeLabels([{ x: 50, y: 50, text: "one" }], AREA), [{ x: 57, y: 45, anchor: "start" }]);
});

test("names hide neither points nor one another", () => {
  const points = [
    { x: 50, y: 50, text: "first" },
    { x: 70, y: 50, text: "second" },
  ];
  const places = placeLabels(points, AREA);
  assert.notDeepEqual([places[0].y, places[0].anchor], [places[1].y, places[1].anchor]);
  assert.equal(places.includes(null), false);
});

test("a name without a free place is left out", () => {
  assert.deepEqual(placeLabels([{ x: 5, y: 5, text: "much too long" }], { left: 0, top: 0, right: 20, bottom: 20 }), [
    null,
  ]);
});

test("names keep off the figures of the axes, and those of two points in a corner stand above one another", () => {
  const corner = { x: 46, y: 162, text: "passive" };
  const places = placeLabels([corner, { ...corner, text: "silent" }], AREA);
  for (const place of places) assert.ok(place.x >= AREA.left && place.y <= AREA.bottom);
  assert.notEqual(places[0].y, places[1].y);
});

test("names that do not fit lose what they have in common, and are then cut", () => {
  const agents = ["scripted-asks (scripted)", "scripted-helpful (scripted)"];
  assert.deepEqual(shortNames(agents, 500), agents);
  assert.deepEqual(shortNames(agents, 60), ["asks", "helpful"]);
  const rows = ["trainee_task_001 · Intent 1: a heading", "trainee_task_010 · Intent 1: a table"];
  assert.deepEqual(shortNames(rows, 130), ["001 · Intent 1: a h…", "010 · Intent 1: a t…"]);
  assert.deepEqual(shortNames(["one and the same", "one and the same"], 60), ["one and …", "one and …"]);
  assert.deepEqual(shortNames(["a", "a b"], 1), ["a", "a b"]);
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
