import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { $, all, open, press, send, type } from "./page.js";

open("<main></main>");
const { commentAt, findingAt, markComments, markFindings } = await import("../../static/js/shared/highlighted_text.js");

const TEXT = "The clock for Thursday, please.";
const FINDING = { passage: "clock", severity: "error", message: "Which clock?", fingerprint: "f1" };
const COMMENT = { thread: "7", start: 14, end: 22, words: "Thursday", title: "Ada: Why?" };

beforeEach(() => {
  $("main").innerHTML =
    `<div class="area"><div class="mirror"></div><textarea name="request">${TEXT}</textarea></div>` +
    '<div class="area title"><div class="mirror"></div><textarea name="title">Bread</textarea></div>';
});
const area = () => $("[name=request]");
const marks = () => all(".mirror mark").map((one) => [one.className, one.textContent, one.title]);

test("what findings and comments are about is underlined, each with what it says", () => {
  markFindings(area(), [FINDING]);
  markComments(area(), [COMMENT]);
  assert.deepEqual(marks(), [
    ["error", "clock", "Which clock?"],
    ["comment", "Thursday", "Ada: Why?"],
  ]);
  assert.equal($(".mirror").textContent, `${TEXT}\n`);
});

test("a comment's words stay underlined at their own place while text is typed before them", () => {
  markComments(area(), [COMMENT]);
  type(area(), `Thursday? ${TEXT}`);
  assert.deepEqual(
    $(".mirror").childNodes.map((node) => [node.tag ?? "", node.textContent]),
    [
      ["", "Thursday? The clock for "],
      ["mark", "Thursday"],
      ["", ", please."],
      ["", "\n"],
    ],
  );
  assert.equal(commentAt(area(), 25)?.thread, "7");
  assert.equal(commentAt(area(), 2), undefined);
  type(area(), `So: Thursday? ${TEXT}`);
  assert.equal(commentAt(area(), 30)?.thread, "7");
  assert.equal(commentAt(area(), 20), undefined);
});

test("a comment whose words were deleted underlines nothing and is found nowhere", () => {
  markComments(area(), [COMMENT]);
  type(area(), "The clock, please.");
  assert.deepEqual(marks(), []);
  assert.equal(commentAt(area(), 0), undefined);
});

test("the finding and the comment at a position are found, their ends included", () => {
  markFindings(area(), [FINDING]);
  markComments(area(), [COMMENT]);
  assert.deepEqual(
    [3, 4, 9, 10].map((at) => findingAt(area(), at)),
    [undefined, "f1", "f1", undefined],
  );
  assert.deepEqual(
    [13, 14, 22, 23].map((at) => commentAt(area(), at)?.thread),
    [undefined, "7", "7", undefined],
  );
});

test("findings that are gone, and comments that were resolved, lose their line", () => {
  markFindings(area(), [FINDING]);
  markComments(area(), [COMMENT]);
  markFindings(area(), []);
  assert.deepEqual(
    marks().map(([name]) => name),
    ["comment"],
  );
  markComments(area(), []);
  assert.deepEqual(marks(), []);
});

test("the page's own findings are underlined from the first key on", () => {
  $(".mirror").dataset.findings = JSON.stringify([FINDING]);
  type(area(), `${TEXT} Now.`);
  assert.deepEqual(
    marks().map(([, text]) => text),
    ["clock"],
  );
});

test("Enter makes no second line of a title, and one of every other text", () => {
  assert.equal(press($("[name=title]"), "Enter").defaultPrevented, true);
  assert.equal(press($("[name=request]"), "Enter").defaultPrevented, false);
  assert.equal(press($("[name=title]"), "a").defaultPrevented, false);
});

test("a text without a mirror is left alone", () => {
  $("main").innerHTML = '<textarea name="note">Bread</textarea>';
  markComments($("[name=note]"), [COMMENT]);
  assert.equal(findingAt($("[name=note]"), 0), undefined);
  assert.equal(send($("[name=note]"), "input").defaultPrevented, false);
});
