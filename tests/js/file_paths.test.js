import assert from "node:assert/strict";
import { test } from "node:test";
import { fileSize, freePath, lineRange, pathProblem } from "../../static/js/tasks/file_paths.js";

test("names inside the workspace are accepted", () => {
  for (const path of ["plan.md", "notes/plan.md", ".env", "a b/ç.txt"]) assert.equal(pathProblem(path), "");
});

test("names that lead out of the workspace are not", () => {
  for (const path of ["/etc/passwd", "../plan.md", "notes/../../plan.md", "notes//plan.md", "a\\b", "notes/"])
    assert.match(pathProblem(path), /out of the workspace/);
});

test("names that the format needs are reserved", () => {
  for (const path of ["task.yaml", ".history/x", ".result", ".eval_result"])
    assert.match(pathProblem(path), /belongs to the format/);
});

test("a second file of a name gets the lowest free number before its extension", () => {
  const taken = new Set(["plan-2.md", "notes.d/plan-2"]);
  const free = (/** @type {string} */ path) => freePath(path, (other) => taken.has(other));
  assert.equal(free("plan.md"), "plan-3.md");
  assert.equal(free("notes.d/plan"), "notes.d/plan-3");
});

test("sizes are given in the largest unit that fits", () => {
  assert.deepEqual([1, 999, 1500, 2_500_000].map(fileSize), ["1 byte", "999 bytes", "1.5 kB", "2.5 MB"]);
});

test("a line is found by its number", () => {
  const text = "a\nbcd\n";
  assert.deepEqual(
    [1, 2, 3].map((number) => lineRange(text, number)).map(({ start, end }) => text.slice(start, end)),
    ["a", "bcd", ""],
  );
});
