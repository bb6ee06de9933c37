import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { $, open, page, press, send, type } from "./page.js";

open("<main></main>");
const { markSaved } = await import("../../static/js/shared/unsaved.js");
await import("../../static/js/shared/submit_once.js");

beforeEach(() => {
  page.submitted.length = 0;
  $("main").innerHTML =
    '<p data-save-status>Saved</p><form id="guarded" data-guard><input name="title"><button data-save></button></form>' +
    '<form id="other"><input name="q"></form><form id="once" data-once><button></button></form>';
});
const asks = () => send(window, "beforeunload").defaultPrevented;

test("the browser asks before a page with changes is left, and not before", () => {
  assert.equal(asks(), false);
  type($("#guarded input"), "Rye");
  assert.equal($("[data-save-status]").textContent, "Unsaved");
  assert.equal(asks(), true);
  markSaved($("#guarded"));
  assert.equal(asks(), false);
});

test("a change of rows is a change, unless nobody made it", () => {
  send($("#guarded"), "studio:changed", { detail: { quiet: true } });
  assert.equal(asks(), false);
  send($("#guarded"), "studio:changed");
  assert.equal(asks(), true);
});

test("changes of a form that guards nothing may be lost", () => {
  type($("#other input"), "Rye");
  assert.equal(asks(), false);
});

test("nothing is asked where the text is safe elsewhere", () => {
  type($("#guarded input"), "Rye");
  $("#guarded").addEventListener("studio:leaving", (event) => event.preventDefault());
  assert.equal(asks(), false);
});

test("Ctrl+S saves the form; one that is saved without leaving the page is asked about as before", () => {
  $("#guarded").dataset.autosave = "/autosave/";
  assert.equal(press(document.body, "s").defaultPrevented, false);
  assert.equal(press(document.body, "s", { ctrlKey: true }).defaultPrevented, true);
  assert.equal(press(document.body, "s", { metaKey: true }).defaultPrevented, true);
  assert.deepEqual(
    page.submitted.map((form) => form.id),
    ["guarded", "guarded"],
  );
  type($("#guarded input"), "Rye");
  assert.equal(asks(), true);
});

test("a form is sent once, however often its button is pressed, and again after coming back", () => {
  const button = $("#once button");
  button.click();
  button.click();
  assert.equal(page.submitted.length, 1);
  send(window, "pageshow");
  button.click();
  assert.equal(page.submitted.length, 2);
});

test("any other form is sent as often as it is asked for", () => {
  $("#other").requestSubmit();
  $("#other").requestSubmit();
  assert.equal(page.submitted.length, 2);
});

test("sending the form with the changes asks nothing; sending another one does", () => {
  type($("#guarded input"), "Rye");
  $("#other").requestSubmit();
  assert.equal(asks(), true);
  $("#guarded").requestSubmit();
  assert.equal(asks(), false); // from here on the page is being left
});
