import assert from "node:assert/strict";
import { test } from "node:test";
import { isEmpty, isWritten, nothingUnsent, switchTarget } from "../../static/js/tasks/unsent_comments.js";

const draft = (about, text = "Why?") => ({ about, words: "", start: "", text, suggest: "", suggestion: "" });

test("an unsent comment stays with its target when another is chosen", () => {
  const before = { ...nothingUnsent(), active: draft("title") };
  const after = switchTarget(before, draft("initial_request"));
  assert.equal(after.active, null);
  assert.deepEqual(after.others, [draft("title")]);
});

test("an unsent comment returns when its target is chosen again", () => {
  const before = { ...nothingUnsent(), active: draft("title"), others: [draft("initial_request", "How?")] };
  const after = switchTarget(before, draft("initial_request", ""));
  assert.equal(after.active?.text, "How?");
  assert.deepEqual(after.others, [draft("title")]);
});

test("choosing the same target changes nothing", () => {
  const before = { ...nothingUnsent(), active: draft("title") };
  assert.equal(switchTarget(before, draft("title", "")), before);
});

test("a suggestion counts as written once it differs from the text it started from", () => {
  const started = { ...draft("title", ""), suggest: "1", suggestion: "Bread" };
  assert.equal(isWritten(started, "Bread"), false);
  assert.equal(isWritten({ ...started, suggestion: "Rye" }, "Bread"), true);
  assert.equal(isEmpty(nothingUnsent()), true);
});
