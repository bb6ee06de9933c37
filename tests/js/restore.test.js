import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { $, all, open, page, settled } from "./page.js";

mock.timers.enable({ apis: ["setTimeout", "setInterval"] });

/** @type {any[]} */
let requests = [];
/** @type {any} */
let said = {};
open(
  '<header class="top"></header><p data-save-status></p><form id="task" data-autosave="/autosave/" data-user="7">' +
    '<input type="hidden" name="csrfmiddlewaretoken" value="token"><input type="hidden" name="base_version" value="3">' +
    '<input type="hidden" name="base_draft" value="5"><div data-conflict-summary></div><input name="title" value="Bread">' +
    '<button name="do" value="intents:add"></button><button data-save></button></form>',
  {
    fetch: async (_, { body }) => {
      requests.push(Object.fromEntries(body ?? []));
      return { ok: true, status: 200, json: async () => ({ version: 3, draft: 6, ...said }) };
    },
  },
);
const day = 24 * 3600_000;
const copy = (window, title, age, user = "7", path = "/page/") =>
  localStorage.setItem(
    `studio:words:${user}:${path}:${window}`,
    JSON.stringify({
      at: Date.now() - age,
      words: [
        ["base_version", "2"],
        ["base_draft", "4"],
        ["title", title],
      ],
    }),
  );
copy("older", "Second newest", 2 * day);
copy("newer", "Newest", day);
copy("ancient", "A month old", 31 * day);
copy("other", "Of somebody else", day, "8");
copy("elsewhere", "Of another page", day, "7", "/other/");
said = { page: '<form id="task"><div data-conflict-summary></div><input name="title" value="Merged"></form>' };
await import("../../static/js/drafts/autosave.js");
await settled();
const sent = () =>
  requests
    .splice(0)
    .map(({ title, window, base_draft, render, keep_mine }) => ({ title, window, base_draft, render, keep_mine }));
const left = () =>
  Object.keys(localStorage)
    .filter((name) => name.startsWith("studio:words"))
    .map((name) => name.split(":").at(-1))
    .sort();

test("what earlier windows of the page left is sent when it is opened, the oldest first, each as that window's", () => {
  assert.deepEqual(
    sent().filter(({ title }) => title),
    [
      { title: "Second newest", window: "older", base_draft: "4", render: "1", keep_mine: undefined },
      { title: "Newest", window: "newer", base_draft: "4", render: "1", keep_mine: undefined },
    ],
  );
  assert.equal($("[name=title]").value, "Merged");
  assert.match($("[data-save-status]").textContent, /Unsaved changes restored · v3/);
});

test("then it is forgotten here, as is what is older than a month, and nothing of others or of other pages", () => {
  assert.deepEqual(left(), ["elsewhere", "other"]);
});

test("text of a window that another one overtook is offered, and used if its writer says so", async () => {
  const { restoreAll } = await import("../../static/js/drafts/restore.js");
  const { localCopies } = await import("../../static/js/drafts/local_copy.js");
  copy("late", "Late", day);
  said = { elsewhere: true };
  await restoreAll(localCopies());
  assert.match($(".save-notice").textContent, /You typed something else in another window/);
  assert.deepEqual(left(), ["elsewhere", "late", "other"]);
  said = {};
  sent();
  all(".save-notice button")[0].click();
  await settled();
  assert.deepEqual(
    sent().map(({ title, keep_mine }) => [title, keep_mine]),
    [["Late", "1"]],
  );
  assert.deepEqual(left(), ["elsewhere", "other"]);
});

test("what is not used can be taken back: the server keeps it before it is forgotten here", async () => {
  const { restoreAll } = await import("../../static/js/drafts/restore.js");
  const { localCopies } = await import("../../static/js/drafts/local_copy.js");
  copy("late", "Late", day);
  said = { elsewhere: true };
  await restoreAll(localCopies());
  said = {};
  requests = [];
  all(".save-notice button")[1].click();
  await settled();
  assert.deepEqual(
    requests.map(({ title, keep_discarded }) => [title, keep_discarded]),
    [["Late", "1"]],
  );
  assert.deepEqual(left(), ["elsewhere", "other"]);
});

test("a button that needs the server's answer sends the form, with a copy kept here until the next page has it", async () => {
  $("[name=title]").value = "Before the next page";
  $("[name=do]").click();
  await settled();
  assert.deepEqual(
    page.submitted.map((form) => form.id),
    ["task"],
  );
  assert.equal(left().length, 3);
});
