import assert from "node:assert/strict";
import { test } from "node:test";
import { joinLines, pastedLines, splitLine, uniqueLines } from "../../static/js/tasks/lines.js";

test("a pasted list loses its bullets, numbers and empty lines", () => {
  assert.deepEqual(pastedLines("- one\r\n\n 2) two\n• three\n10.5 seconds"), ["one", "two", "three", "10.5 seconds"]);
});

test("Enter splits a line at the caret and drops the selection", () => {
  assert.deepEqual(splitLine("Ends at noon, not later", 12, 13), { head: "Ends at noon", tail: "not later" });
});

test("Enter at the end of a line starts an empty one", () => {
  assert.deepEqual(splitLine("Ends at noon", 12, 12), { head: "Ends at noon", tail: "" });
});

test("Enter in an empty line does nothing", () => {
  assert.equal(splitLine("  ", 1, 1), null);
});

test("Backspace joins two lines with one space and puts the caret between them", () => {
  assert.deepEqual(joinLines("Ends at noon ", "not later"), { text: "Ends at noon not later", caret: 13 });
});

test("joining with an empty line adds no space", () => {
  assert.deepEqual(joinLines("", "not later"), { text: "not later", caret: 0 });
  assert.deepEqual(joinLines("Ends at noon", ""), { text: "Ends at noon", caret: 12 });
});

test("lines of several texts are trimmed and listed once", () => {
  assert.equal(uniqueLines("a\n b", "b\n\nc"), "a\nb\nc");
});
