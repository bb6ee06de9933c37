import assert from "node:assert/strict";
import { test } from "node:test";
import {
  age,
  confirmSave,
  createState,
  delayOfForcedSave,
  failureNotice,
  hasUnsaved,
  isBehind,
  PAUSE_BEFORE_SAVE,
  pendingVersion,
  queueSave,
  savedStatus,
  versionFailed,
} from "../../static/js/drafts/autosave_state.js";

const edited = (more = {}) => ({ ...createState({ stored: "title=Old", unversioned: true }), ...more });

test("a save is forced within 1.9 seconds of the first key, however long typing goes on", () => {
  const state = edited({ firstChangeAt: 1000 });
  assert.equal(delayOfForcedSave(state, 1500), null);
  assert.equal(delayOfForcedSave(state, 2000), 900);
  assert.equal(delayOfForcedSave(state, 4000), 0);
});

test("a save follows within two seconds of the last key", () => {
  assert.ok(PAUSE_BEFORE_SAVE < 2000);
});

test("a version that is asked for while a draft is being saved follows it", () => {
  for (const order of [
    [true, false],
    [false, true],
  ]) {
    const state = edited();
    for (const version of order) queueSave(state, { version });
    assert.equal(state.queued, "version");
  }
});

test("a confirmed version leaves nothing unsaved", () => {
  const state = edited({ touched: true });
  confirmSave(state, { stored: "title=New", current: "title=New", versioned: true });
  assert.equal(hasUnsaved(state, "title=New"), false);
  assert.equal(state.unversioned, false);
});

test("what was typed while the request was under way is still unsaved and in no version", () => {
  const state = edited({ touched: true });
  confirmSave(state, { stored: "title=New", current: "title=Newer", versioned: true });
  assert.equal(state.stored, "title=New");
  assert.equal(state.unversioned, true);
  assert.equal(hasUnsaved(state, "title=Newer"), true);
});

test("an untouched page has nothing unsaved, whatever scripts changed in its form", () => {
  assert.equal(hasUnsaved(edited(), "title=Filled+in"), false);
  assert.equal(hasUnsaved(edited({ touched: true }), "title=Typed"), true);
});

test("a page is behind when a newer version or newer text of another window is stored", () => {
  const known = { version: "2", draft: "5" };
  assert.equal(isBehind(edited(), known, { version: 2, draft: 5 }), false);
  assert.equal(isBehind(edited(), known, { version: 3, draft: 5 }), true);
  assert.equal(isBehind(edited(), known, { version: 2, draft: 6 }), true);
  assert.equal(isBehind(edited({ request: Promise.resolve() }), known, { version: 3, draft: 5 }), false);
});

test("a failed save says that the text is safe and what to do", () => {
  assert.match(failureNotice("offline", { version: true }), /^Not saved as a version: there is no connection/);
  assert.match(failureNotice("signed-out", { version: false }), /^You are signed out\. .* as soon as you sign in/);
  for (const reason of ["offline", "timeout", "signed-out", "rejected", "broken"])
    assert.match(failureNotice(reason, { version: true }), /safe in this browser/);
});

test("a version that failed is repeated by the next save, unless its author typed on or it was rejected", () => {
  const state = edited();
  assert.equal(pendingVersion(state, "title=New"), "");
  versionFailed(state, "title=New", "signed-out");
  assert.equal(pendingVersion(state, "title=New"), "repeat");
  assert.equal(pendingVersion(state, "title=Newer"), "offer");
  versionFailed(state, "title=New", "rejected");
  assert.equal(pendingVersion(state, "title=New"), "");
});

test("the age of a save is given in seconds, then minutes", () => {
  assert.deepEqual(
    [500, 3000, 180_000].map((after) => age(0, after)),
    ["just now", "3 s ago", "3 min ago"],
  );
});

test("the status tells a draft from a version", () => {
  assert.equal(savedStatus(edited({ savedAt: 0 }), "4", 3000), "Draft saved 3 s ago · not in a version yet");
  assert.equal(savedStatus(edited({ unversioned: false }), "5", 3000), "Saved as version 5 · 3 s ago");
});
