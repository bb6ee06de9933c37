import assert from "node:assert/strict";
import { test } from "node:test";
import { unchangedFields } from "../../static/js/drafts/changes.js";

const before = new URLSearchParams("title=A&tag=x&tag=y");

test("a field is unchanged if it has the same values in the same order", () => {
  const unchanged = unchangedFields(before, new URLSearchParams("tag=x&title=A&tag=y"));
  assert.ok(unchanged("title") && unchanged("tag"));
});

test("typing, adding, removing and reordering values change a field", () => {
  for (const now of ["title=B&tag=y&tag=x", "title=&tag=x", "tag=x&tag=y&tag=z"]) {
    const unchanged = unchangedFields(before, new URLSearchParams(now));
    assert.ok(!unchanged("title") || !unchanged("tag"));
  }
});

test("a field that is on neither page is unchanged", () => {
  assert.ok(unchangedFields(before, before)("note"));
});
