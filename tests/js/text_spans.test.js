import assert from "node:assert/strict";
import { test } from "node:test";
import { codePoints, findingSpans, moveSpan, pieces, utf16Offset } from "../../static/js/shared/text_spans.js";

const TEXT = "The clock for Thursday, please.";
const SPAN = { start: 14, end: 22, words: "Thursday" };
const moved = (after) => {
  const { start, end } = moveSpan(SPAN, TEXT, after);
  return after.slice(start, end);
};

test("a span moves with an edit before it", () => {
  assert.equal(moved("Please: the clock for Thursday, please."), "Thursday");
});

test("a span stays where it is after an edit behind it", () => {
  assert.deepEqual(moveSpan(SPAN, TEXT, "The clock for Thursday, thank you."), SPAN);
});

test("a span grows with an edit inside it", () => {
  assert.equal(moved("The clock for Thurs-day, please."), "Thurs-day");
});

test("a span that was cut in two moves to the only place with its words", () => {
  assert.equal(moveSpan(SPAN, TEXT, "For Thursday the clock please.").start, 4);
});

test("a span whose words are gone, or occur twice, is empty", () => {
  for (const after of ["The clock", "Thursday or Thursday?"]) {
    const { start, end } = moveSpan(SPAN, TEXT, after);
    assert.deepEqual([start, end], [0, 0]);
  }
});

test("overlapping findings underline the first one only", () => {
  const findings = ["clock for", "for Thursday", "missing", ""].map((passage) => ({
    passage,
    severity: "error",
    message: passage,
  }));
  assert.deepEqual(
    findingSpans(findings, TEXT).map(({ title }) => title),
    ["clock for"],
  );
});

test("the text is cut at every start and end of a span", () => {
  const cut = pieces("abcdef", [
    { start: 1, end: 4 },
    { start: 3, end: 6 },
  ]);
  assert.deepEqual(
    cut.map(({ text, spans }) => [text, spans.length]),
    [
      ["a", 0],
      ["bc", 1],
      ["d", 2],
      ["ef", 1],
    ],
  );
});

test("an empty text has no pieces", () => {
  assert.deepEqual(pieces("", []), []);
});

test("code points are counted as the server counts them", () => {
  assert.equal(codePoints("a🎼b"), 3);
  assert.equal(utf16Offset("a🎼b", 2), 3);
});
