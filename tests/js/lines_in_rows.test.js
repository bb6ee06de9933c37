import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { $, all, open, press, send } from "./page.js";

const intent = (key, text) =>
  `<div data-row data-name="Intent"><input type="hidden" name="intents" value="${key}"><div class="area">` +
  `<textarea name="intents.${key}.content">${text}</textarea></div><select name="intents.${key}.scope">` +
  '<option value="session"></option><option value="persistent"></option></select></div>';
const item = (key, text, ticked = []) =>
  `<div data-row data-name="Item"><input type="hidden" name="checklist" value="${key}"><div class="area">` +
  `<textarea name="checklist.${key}.criterion">${text}</textarea></div><b data-tests></b><details>` +
  `<b data-linked-intents></b><div class="links">${["i1", "i2"]
    .map(
      (other) =>
        `<label><input type="checkbox" name="checklist.${key}.follows_from" value="${other}"${ticked.includes(other) ? " checked" : ""}><span></span></label>`,
    )
    .join("")}</div><textarea name="checklist.${key}.evidence">plan.md</textarea></details></div>`;
open('<form id="task" data-autosave="/autosave/"></form>');
const whole = () =>
  `<div data-rows="intents">${intent("i1", "The rye first")}${intent("i2", "No nuts")}<template data-row-blank>` +
  `${intent("__n__", "")}</template></div><div data-rows="checklist">${item("c1", "Rye first, rolls later", ["i1"])}` +
  `${item("c2", "No nuts", ["i2"])}<template data-row-blank>${item("__n__", "")}</template></div>` +
  '<div data-rows="assets"><div data-row><input type="hidden" value="a"><div class="area"><textarea>x</textarea></div></div></div>';
$("form").innerHTML = whole();
await import("../../static/js/tasks/link_keys.js");

beforeEach(() => {
  $("form").innerHTML = whole();
});
const areas = (list) => all(`[data-rows="${list}"] > [data-row] > .area > textarea`);
const texts = (list) => areas(list).map((one) => one.value);
const ticked = (at) =>
  all('[data-rows="checklist"] > [data-row]')
    [at].querySelectorAll(".links input")
    .filter((one) => one.checked)
    .map((one) => one.value);
function at(area, start, end = start) {
  area.focus();
  area.setSelectionRange(start, end);
  return area;
}
const caret = () => [document.activeElement?.value, document.activeElement?.selectionStart];

test("Enter splits a line at the caret, and both halves keep their links and settings", () => {
  const scope = $('[name="intents.i1.scope"]');
  scope.value = "persistent";
  assert.equal(press(at(areas("checklist")[0], 9, 10), "Enter").defaultPrevented, true);
  assert.deepEqual(texts("checklist"), ["Rye first", "rolls later", "No nuts"]);
  assert.deepEqual([ticked(0), ticked(1), ticked(2)], [["i1"], ["i1"], ["i2"]]);
  assert.deepEqual(caret(), ["rolls later", 0]);
  press(at(areas("intents")[0], 4), "Enter");
  assert.deepEqual(texts("intents"), ["The", "rye first", "No nuts"]);
  assert.equal(all('[name$=".scope"]')[1].value, "persistent");
});

test("Enter at the end begins a line without any links", () => {
  press(at(areas("checklist")[1], 7), "Enter");
  assert.deepEqual(texts("checklist"), ["Rye first, rolls later", "No nuts", ""]);
  assert.deepEqual(ticked(2), []);
});

test("Shift+Enter, and Enter while a word is being composed or in a file, are the browser's", () => {
  for (const [area, more] of [
    [areas("intents")[0], { shiftKey: true }],
    [areas("intents")[0], { isComposing: true }],
    [areas("intents")[0], { ctrlKey: true }],
    [areas("assets")[0], {}],
  ])
    assert.equal(press(at(area, 1), "Enter", more).defaultPrevented, false);
  assert.deepEqual(texts("intents"), ["The rye first", "No nuts"]);
});

test("Backspace at the start of a line joins it to the one before, with the links and evidence of both", () => {
  $('[name="checklist.c2.evidence"]').value = "plan.md\nlist.md";
  assert.equal(press(at(areas("checklist")[1], 0), "Backspace").defaultPrevented, true);
  assert.deepEqual(texts("checklist"), ["Rye first, rolls later No nuts"]);
  assert.deepEqual(ticked(0), ["i1", "i2"]);
  assert.equal($('[name="checklist.c1.evidence"]').value, "plan.md\nlist.md");
  assert.equal(document.activeElement?.selectionStart, 23);
  press(document.body, "z", { ctrlKey: true });
  assert.deepEqual(texts("checklist"), ["Rye first, rolls later", "No nuts"]);
  assert.deepEqual([ticked(0), ticked(1)], [["i1"], ["i2"]]);
});

test("Backspace elsewhere, with a selection, or in the first line deletes text only", () => {
  for (const [row, start, end] of [
    [1, 1, 1],
    [1, 0, 3],
    [0, 0, 0],
  ])
    assert.equal(press(at(areas("checklist")[row], start, end), "Backspace").defaultPrevented, false);
  assert.equal(texts("checklist").length, 2);
});

test("the arrows lead from line to line at their ends, and move within a line elsewhere", () => {
  press(at(areas("intents")[0], 13), "ArrowDown");
  assert.deepEqual(caret(), ["No nuts", 7]);
  press(at(areas("intents")[1], 0), "ArrowUp");
  assert.deepEqual(caret(), ["The rye first", 0]);
  for (const [row, place, key, more] of [
    [0, 0, "ArrowUp", {}],
    [0, 5, "ArrowDown", {}],
    [1, 7, "ArrowDown", {}],
    [0, 13, "ArrowDown", { shiftKey: true }],
  ])
    assert.equal(press(at(areas("intents")[row], place), key, more).defaultPrevented, false);
});

test("pasted lines become rows, between what stood before and behind the caret", () => {
  const clipboardData = { getData: () => "- first\n- second\n- third" };
  const event = send(at(areas("intents")[0], 4), "paste", { clipboardData });
  assert.equal(event.defaultPrevented, true);
  assert.deepEqual(texts("intents"), ["The first", "second", "thirdrye first", "No nuts"]);
  assert.deepEqual(caret(), ["thirdrye first", 5]);
  const one = { clipboardData: { getData: () => "a word" } };
  assert.equal(send(at(areas("intents")[0], 4), "paste", one).defaultPrevented, false);
  assert.equal(send(at(areas("assets")[0], 0), "paste", { clipboardData }).defaultPrevented, false);
});

test("Alt+L opens an item's links, and a number ticks the intent with it", () => {
  press(at(areas("checklist")[0], 0), "l", { altKey: true });
  const boxes = all('[data-rows="checklist"] > [data-row]')[0].querySelectorAll(".links input");
  assert.equal(boxes[0].closest("details").open, true);
  assert.equal(document.activeElement, boxes[0]);
  assert.deepEqual(
    boxes.map((box) => box.parentElement.textContent),
    ["1 The rye first", "2 No nuts"],
  );
  assert.equal(press(boxes[0], "2", { timeStamp: 5000 }).defaultPrevented, true);
  assert.deepEqual(ticked(0), ["i1", "i2"]);
  press(boxes[0], "1", { timeStamp: 9000 });
  assert.deepEqual(ticked(0), ["i2"]);
  assert.equal($("[data-linked-intents]").textContent, " 2");
  assert.equal($("[data-tests]").textContent, "tests 2");
  press(boxes[0], "2", { timeStamp: 15_000 });
  assert.equal($("[data-linked-intents]").textContent, " no intent");
  assert.equal($("[data-tests]").textContent, "");
});

test("among the links arrows go round, Escape returns to the line, and Enter begins the next one", () => {
  const boxes = all('[data-rows="checklist"] > [data-row]')[0].querySelectorAll(".links input");
  press(boxes[0], "ArrowUp");
  assert.equal(document.activeElement, boxes[1]);
  press(boxes[1], "ArrowRight");
  assert.equal(document.activeElement, boxes[0]);
  press(boxes[0], "Escape");
  assert.equal(document.activeElement, areas("checklist")[0]);
  press(boxes[0], "Enter");
  assert.deepEqual(texts("checklist"), ["Rye first, rolls later", "", "No nuts"]);
  assert.equal(press(boxes[0], "q").defaultPrevented, false);
});

test("intents that move or go change the numbers beside the items", () => {
  press(at(areas("intents")[1], 0), "ArrowUp", { altKey: true });
  assert.deepEqual(
    all("[data-tests]").map((one) => one.textContent),
    ["tests 2", "tests 1"],
  );
  $('[data-rows="intents"] > [data-row]').remove();
  send($('[data-rows="intents"]'), "studio:changed");
  assert.deepEqual(
    all("[data-tests]").map((one) => one.textContent),
    ["tests 1", ""],
  );
});
