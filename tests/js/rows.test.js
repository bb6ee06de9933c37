import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { $, all, open, press, send, type } from "./page.js";

open("<main></main>");
const { rowsOf } = await import("../../static/js/shared/rows.js");

const row = (key, text) =>
  `<div data-row data-name="Intent"><input type="hidden" name="intents" value="${key}"><b data-row-number></b>` +
  `<textarea name="intents.${key}.content">${text}</textarea>` +
  "<button data-row-up></button><button data-row-down></button><button data-row-remove></button></div>";

beforeEach(() => {
  $("main").innerHTML =
    `<form data-guard><div data-rows="intents">${row("a", "one")}${row("b", "two")}${row("c", "three")}` +
    `<template data-row-blank>${row("__n__", "")}</template></div><button data-row-add="intents"></button></form>`;
});
const texts = () => rowsOf($('[data-rows="intents"]')).map((one) => one.querySelector("textarea").value);
const button = (at, what) => all(`[data-row-${what}]`)[at];
const undo = (more = {}) => press(document.body, "z", { ctrlKey: true, ...more });

test("a row moves up and down, and not beyond the ends", () => {
  button(2, "up").click();
  assert.deepEqual(texts(), ["one", "three", "two"]);
  button(0, "down").click();
  assert.deepEqual(texts(), ["three", "one", "two"]);
  button(0, "up").click();
  button(2, "down").click();
  assert.deepEqual(texts(), ["three", "one", "two"]);
});

test("Alt with an arrow moves the row in which the caret is, which is told", () => {
  const area = all("textarea")[1];
  area.focus();
  assert.equal(press(area, "ArrowUp", { altKey: true }).defaultPrevented, true);
  assert.deepEqual(texts(), ["two", "one", "three"]);
  assert.equal($(".visually-hidden").textContent, "Intent moved to position 1 of 3.");
  press(area, "ArrowDown", { altKey: true });
  assert.deepEqual(texts(), ["one", "two", "three"]);
  assert.equal(press(area, "ArrowDown").defaultPrevented, false);
});

test("a new row comes last, empty, under a key of its own, with the caret in it", () => {
  $("[data-row-add]").click();
  $("[data-row-add]").click();
  assert.deepEqual(texts(), ["one", "two", "three", "", ""]);
  const keys = all("[data-row] > input").map((one) => one.value);
  assert.equal(new Set(keys).size, 5);
  assert.ok(keys.slice(3).every((key) => key.startsWith("new") && $(`[name="intents.${key}.content"]`)));
  assert.equal(document.activeElement, all("textarea").at(-1));
});

test("rows say their number after every step", () => {
  button(0, "remove").click();
  assert.deepEqual(
    all("[data-row]").map((one) => [
      one.querySelector("[data-row-number]").textContent,
      one.getAttribute("aria-label"),
    ]),
    [
      ["1", "Intent 1"],
      ["2", "Intent 2"],
    ],
  );
});

test("a removed row comes back with its words by undo, and goes again by redo", () => {
  type(all("textarea")[1], "two, as typed");
  button(1, "remove").click();
  assert.deepEqual(texts(), ["one", "three"]);
  assert.equal(document.activeElement, all("textarea")[1]);
  assert.equal(undo().defaultPrevented, true);
  assert.deepEqual(texts(), ["one", "two, as typed", "three"]);
  press(document.body, "y", { ctrlKey: true });
  assert.deepEqual(texts(), ["one", "three"]);
  undo();
  undo({ shiftKey: true });
  assert.deepEqual(texts(), ["one", "three"]);
});

test("a step after undo forgets what could be done again", () => {
  button(2, "remove").click();
  undo();
  button(0, "remove").click();
  press(document.body, "y", { ctrlKey: true });
  assert.deepEqual(texts(), ["two", "three"]);
});

test("steps are undone one after the other, the last first", () => {
  button(2, "up").click();
  button(0, "remove").click();
  undo();
  assert.deepEqual(texts(), ["one", "three", "two"]);
  undo();
  assert.deepEqual(texts(), ["one", "two", "three"]);
});

test("after typing the browser undoes first, and the rows once it has nothing left", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  button(2, "remove").click();
  type(all("textarea")[0], "one more");
  assert.equal(undo().defaultPrevented, false);
  send(all("textarea")[0], "input"); // the browser undid a word
  t.mock.timers.tick(1);
  assert.deepEqual(texts(), ["one more", "two"]);
  undo();
  t.mock.timers.tick(1);
  assert.deepEqual(texts(), ["one", "two", "three"]);
});

test("what changed in the rows is told to the form, so that it is saved", () => {
  const told = [];
  $("form").addEventListener("studio:changed", (event) => told.push(event.target.dataset.rows));
  button(0, "remove").click();
  undo();
  assert.deepEqual(told, ["intents", "intents"]);
});
