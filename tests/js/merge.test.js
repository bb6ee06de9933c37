import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { $, all, open } from "./page.js";

const row = (key, text) =>
  `<div data-row><input type="hidden" name="intents" value="${key}"><textarea name="intents.${key}.content">${text}</textarea></div>`;
const whole = ({ title = "Bread", rows = row("a", "one") + row("b", "two"), more = "" } = {}) =>
  '<input type="hidden" name="base_version" value="3"><div data-conflict-summary></div>' +
  `<input name="title" value="${title}"><select name="trigger"><option value="user">u</option><option value="feed">f</option>` +
  '</select><input type="checkbox" name="tools" value="read"><input type="checkbox" name="tools" value="write" checked>' +
  `<input name="note" value=""><input type="hidden" name="kept" value="1"><div data-rows="intents">${rows}</div>${more}`;
open('<form id="task" data-autosave="/autosave/"></form>');
const { merge, replaceValue } = await import("../../static/js/drafts/merge.js");
const { formValues, serialize } = await import("../../static/js/drafts/form.js");

beforeEach(() => {
  document.activeElement = document.body;
  $("form").innerHTML = whole();
});
const sent = () => new URLSearchParams(serialize(formValues()));
const field = (name) => $(`[name="${name}"]`);
const rows = () => all("[data-row] textarea").map((one) => one.value);
/** What others made of the page since `before`. */
const comes = (before, fresh) => merge(`<form id="task">${fresh}</form>`, before);

test("what others changed is shown, and what was typed since stays", () => {
  const before = sent();
  field("intents.a.content").value = "one, as typed";
  comes(before, whole({ title: "Rye", rows: row("a", "uno") + row("b", "due") }));
  assert.equal(field("title").value, "Rye");
  assert.deepEqual(rows(), ["one, as typed", "due"]);
});

test("rows that others added, moved and took away are so here", () => {
  comes(sent(), whole({ rows: row("b", "two") + row("c", "three") }));
  assert.deepEqual(rows(), ["two", "three"]);
  comes(sent(), whole({ rows: row("c", "three") + row("b", "two") + row("d", "four") }));
  assert.deepEqual(rows(), ["three", "two", "four"]);
});

test("a row that others took away stays while it is typed in", () => {
  const before = sent();
  field("intents.b.content").value = "two, as typed";
  comes(before, whole({ rows: row("a", "one") }));
  assert.deepEqual(rows().sort(), ["one", "two, as typed"]);
});

test("rows that were added here since are not taken away", () => {
  const before = sent();
  $("[data-rows]").innerHTML += row("newer", "three");
  comes(before, whole({ rows: row("a", "one") }));
  assert.deepEqual(rows(), ["one", "two", "three"]);
});

test("an empty row that was just begun stays, and one with words that others took away does not", () => {
  $("[data-rows]").innerHTML += row("new1", "") + row("new2", "three");
  comes(sent(), whole());
  assert.deepEqual(rows().sort(), ["", "one", "two"]);
});

test("choices and ticks of others are taken over, but for those made since", () => {
  const before = sent();
  comes(
    before,
    whole()
      .replace('value="feed"', 'value="feed" selected')
      .replace('value="read"', 'value="read" checked')
      .replace('value="write" checked', 'value="write"'),
  );
  assert.equal(field("trigger").value, "feed");
  assert.deepEqual(
    all("[name=tools]").map((one) => one.checked),
    [true, false],
  );
  const then = sent();
  all("[name=tools]")[1].checked = true;
  comes(then, whole().replace('value="write" checked', 'value="write"'));
  assert.deepEqual(
    all("[name=tools]").map((one) => one.checked),
    [true, true],
  );
});

test("a choice that this page does not have yet comes with its name", () => {
  comes(sent(), whole().replace('<option value="feed">f</option>', '<option value="drop" selected>d</option>'));
  assert.equal(field("trigger").value, "drop");
});

test("a hidden value is taken over; the page's own fields are left alone", () => {
  field("note").value = "mine";
  comes(
    sent(),
    whole()
      .replace('name="kept" value="1"', 'name="kept" value="2"')
      .replace('value="3"', 'value="4"')
      .replace('name="note" value=""', 'name="note" value="theirs"'),
  );
  assert.deepEqual(
    ["kept", "note", "base_version"].map((name) => field(name).value),
    ["2", "mine", "3"],
  );
});

test("the caret stays where it is in a text that others changed", () => {
  field("title").focus();
  field("title").setSelectionRange(2, 2);
  replaceValue(field("title"), "Breads");
  assert.equal(field("title").selectionStart, 2);
  const told = [];
  $("form").addEventListener("studio:replaced", (event) => told.push(event.target.name));
  replaceValue(field("title"), "Breads");
  replaceValue(field("title"), "Rolls");
  assert.deepEqual(told, ["title"]);
});

test("what two people changed is shown beside its field, or above if there is none, and old conflicts go", () => {
  const conflict = (at) => `<div data-conflict="${at}" data-at="${at}"></div>`;
  const summary = "<div data-conflict-summary><p>2 conflicts</p><div data-conflicts></div></div>";
  $("form").innerHTML = whole({ more: conflict("old") });
  comes(
    sent(),
    whole({ more: conflict("title") + conflict("gone") }).replace("<div data-conflict-summary></div>", summary),
  );
  assert.deepEqual(
    all("[data-conflict]").map((one) => one.dataset.conflict),
    ["gone", "title"],
  );
  assert.equal(field("title").nextElementSibling.dataset.conflict, "title");
  assert.equal($("[data-conflict=gone]").closest("[data-conflict-summary]") !== null, true);
});
