import assert from "node:assert/strict";
import { test } from "node:test";
import {
  age,
  confirmSave,
  createState,
  delayOfForcedSave,
  delayOfVersion,
  hasUnsaved,
  queueSave,
  savedStatus,
} from "../../static/js/drafts/autosave_state.js";

const edited = (more = {}) => ({ ...createState({ stored: "title=Old", unversioned: true }), ...more });

test("a save is forced within 1.9 seconds of the first key, however long typing goes on", () => {
  const state = edited({ firstChangeAt: 1000 });
  assert.equal(delayOfForcedSave(state, 1500), null);
  assert.equal(delayOfForcedSave(state, 2000), 900);
  assert.equal(delayOfForcedSave(state, 4000), 0);
});

test("a version is made sooner while another author is here", () => {
  assert.ok(delayOfVersion(edited({ others: ["Rosa"] })) < delayOfVersion(edited()));
});

test("of several saves asked for while one is under way, the first decides what follows", () => {
  const state = edited();
  queueSave(state, { version: true });
  queueSave(state, { version: false });
  assert.equal(state.queued, "version");
});

test("a confirmed version leaves nothing unsaved", () => {
  const state = edited({ autoVersions: true });
  confirmSave(state, { sent: "title=New", current: "title=New", upToDate: true, versioned: true });
  assert.equal(hasUnsaved(state, "title=New"), false);
});

test("what was typed while the request was under way is still unsaved and in no version", () => {
  const state = edited();
  confirmSave(state, { sent: "title=New", current: "title=Newer", upToDate: false, versioned: true });
  assert.equal(state.stored, "title=New");
  assert.equal(state.unversioned, true);
  assert.equal(hasUnsaved(state, "title=Newer"), true);
});

test("a draft without a version is unsaved only where versions are made automatically", () => {
  assert.equal(hasUnsaved(edited({ autoVersions: true }), "title=Old"), true);
  assert.equal(hasUnsaved(edited(), "title=Old"), false);
});

test("the age of a save is given in seconds, then minutes", () => {
  assert.deepEqual(
    [500, 3000, 180_000].map((after) => age(0, after)),
    ["just now", "3 s ago", "3 min ago"],
  );
});

test("the status tells a draft from a version", () => {
  assert.equal(savedStatus(edited({ savedAt: 0 }), "4", 3000), "Draft saved 3 s ago · not in a version yet");
  assert.equal(savedStatus(edited({ autoVersions: true }), "4", 3000), "Draft saved 3 s ago · v4");
  assert.equal(savedStatus(edited({ unversioned: false }), "5", 3000), "Saved as version 5 · 3 s ago");
});
