import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { $, open, press, send, settled } from "./page.js";

/** @type {any[]} */
let steps = [];
let down = false;
const card = (key, number) =>
  `<li data-task="${key}"${number ? ` data-number="${number}"` : ""} data-title="Task ${key}"><button class="grip"></button>` +
  `<input type="checkbox" class="pick" name="task" value="${key}"><a class="card" id="card-${key}"></a></li>`;
const whole = () =>
  '<form id="arrange" data-step action="/move/"><input name="seen" value="4"><input name="place" value="9">' +
  '<button name="does" value="undo" id="undo"></button></form>' +
  `<ol data-lane>${card("a", "1")}${card("b", "2")}${card("c", "3")}</ol><ol data-tray>${card("d", "")}</ol>` +
  '<b data-count></b><button data-select-none></button><details id="groups"><button data-select="a c"></button></details>';
open(`<div id="messages"></div><p id="board-status"></p><div id="board">${whole()}</div><input id="text">`, {
  fetch: async (address, { body }) => {
    if (down) throw new TypeError("offline");
    steps.push([address, [...body]]);
    return {
      ok: true,
      redirected: false,
      text: async () =>
        `<div id="messages"><p class="message"><span>Moved.</span></p></div><div id="board">${whole()}</div>`,
    };
  },
});
globalThis.document.adoptNode = (/** @type {any} */ node) => node;
const { selected } = await import("../../static/js/episodes/cards.js");
await import("../../static/js/episodes/selection.js");
await import("../../static/js/episodes/keyboard.js");
await import("../../static/js/episodes/steps.js");

beforeEach(() => {
  steps = [];
  down = false;
  $("#board").innerHTML = whole();
  $("#messages").replaceChildren();
  document.activeElement = document.body;
});
const link = (key) => {
  const found = $(`#card-${key}`);
  found.focus();
  return found;
};
const chosen = () => selected().map((one) => one.dataset.task);
const status = () => $("#board-status").textContent;
const does = () => steps.map(([, data]) => Object.fromEntries(data));

test("Ctrl and a click selects a card or leaves it out; a click alone opens it", () => {
  assert.equal(send(link("b"), "click").defaultPrevented, false);
  assert.equal(send(link("b"), "click", { ctrlKey: true }).defaultPrevented, true);
  send(link("d"), "click", { metaKey: true });
  assert.deepEqual(chosen(), ["b", "d"]);
  assert.equal($("[data-count]").textContent, "2 selected");
  send(link("b"), "click", { ctrlKey: true });
  assert.deepEqual(chosen(), ["d"]);
});

test("Shift and a click selects from the last card to this one, in either direction", () => {
  send(link("b"), "click", { ctrlKey: true });
  send(link("d"), "click", { shiftKey: true });
  assert.deepEqual(chosen(), ["b", "c", "d"]);
  send(link("a"), "click", { shiftKey: true });
  assert.deepEqual(chosen(), ["a", "b"]);
});

test("x selects by keyboard, the arrows move, and with Shift they select", () => {
  press(link("a"), "x");
  assert.deepEqual(chosen(), ["a"]);
  assert.equal(status(), "1 selected.");
  press(link("a"), "ArrowDown");
  assert.equal(document.activeElement, $("#card-b"));
  assert.deepEqual(chosen(), ["a"]);
  press(link("b"), "ArrowDown", { shiftKey: true });
  assert.deepEqual(chosen(), ["a", "b", "c"]);
  press(link("c"), "ArrowUp", { shiftKey: true });
  assert.deepEqual(chosen(), ["a", "b"]);
  assert.equal(press(link("a"), "ArrowUp").defaultPrevented, false);
});

test("with single keys switched off x and m select nothing", () => {
  document.documentElement.dataset.keys = "off";
  press(link("a"), "x");
  press(link("a"), "m");
  delete document.documentElement.dataset.keys;
  assert.deepEqual(chosen(), []);
});

test("m selects the card one is at, if none is selected", () => {
  press(link("b"), "m");
  assert.deepEqual(chosen(), ["b"]);
  press(link("c"), "m");
  assert.deepEqual(chosen(), ["b"]);
});

test("nothing stays selected by Escape or the button, and a group is selected at once", () => {
  $("#groups").open = true;
  $("[data-select]").click();
  assert.deepEqual(chosen(), ["a", "c"]);
  assert.equal($("#groups").open, false);
  assert.equal(press(link("a"), "Escape").defaultPrevented, true);
  assert.deepEqual([chosen(), status()], [[], "Nothing selected."]);
  $("[data-select]").click();
  $("[data-select-none]").click();
  assert.deepEqual([chosen(), $("[data-count]").textContent], [[], "0 selected"]);
});

test("Alt and an arrow moves a card by one position", async () => {
  press(link("b"), "ArrowUp", { altKey: true });
  await settled();
  press(link("b"), "ArrowDown", { altKey: true });
  await settled();
  assert.equal(document.activeElement, $("#card-b"));
  assert.equal(status(), "Moved. Now at position 2 of 3.");
  press(link("d"), "ArrowDown", { altKey: true }); // it has no position
  await settled();
  assert.deepEqual(does(), [
    { seen: "4", does: "earlier", task: "b" },
    { seen: "4", does: "later", task: "b" },
  ]);
  assert.equal(steps[0][0], "/move/");
});

test("a step on a selected card is one on all of them, on another it is not", async () => {
  press(link("a"), "x");
  press(link("c"), "x");
  press(link("c"), "ArrowUp", { altKey: true });
  await settled();
  assert.deepEqual(
    steps[0][1].filter(([name]) => name === "task").map(([, key]) => key),
    ["a", "c"],
  );
  press(link("a"), "x");
  press(link("b"), "ArrowUp", { altKey: true });
  await settled();
  assert.deepEqual(
    steps[1][1].filter(([name]) => name === "task").map(([, key]) => key),
    ["b"],
  );
});

test("Space picks a card up, arrows carry it, and Space drops it there", async () => {
  press(link("a"), " ");
  assert.match(status(), /^Picked up “01 Task a”.*Before “02 Task b”, position 1\.$/);
  press(link("a"), "ArrowDown");
  assert.equal(status(), "Before “03 Task c”, position 2.");
  press(link("a"), " ");
  await settled();
  assert.deepEqual(does(), [{ seen: "4", does: "move", task: "a", place: "c" }]);
});

test("a carried card goes to the end, out of the episode, and no further", async () => {
  press(link("a"), " ");
  press(link("a"), "End");
  assert.equal(status(), "At the end, position 3.");
  press(link("a"), "Enter");
  await settled();
  press(link("a"), " ");
  for (let times = 0; times < 9; times++) press(link("a"), "ArrowDown");
  assert.equal(status(), "Out of the episode.");
  press(link("a"), " ");
  await settled();
  assert.deepEqual(
    does().map(({ does, place }) => [does, place]),
    [
      ["move", "end"],
      ["take_out", undefined],
    ],
  );
});

test("a carried card is put back by Escape, and by dropping it where it was", async () => {
  press(link("b"), " ");
  press(link("b"), "ArrowUp");
  assert.equal(press(link("b"), "Escape").defaultPrevented, true);
  assert.equal(status(), "Put back.");
  press(link("b"), " ");
  press(link("b"), " ");
  await settled();
  assert.equal(status(), "Nothing moved.");
  assert.deepEqual(steps, []);
  assert.equal(document.querySelector(".carried, .drop-line"), null);
});

test("Ctrl+Z takes back the last step, and the browser's own undo stays in fields", async () => {
  assert.equal(press($("#text"), "z", { ctrlKey: true }).defaultPrevented, false);
  assert.equal(press(link("a"), "z", { ctrlKey: true, shiftKey: true }).defaultPrevented, false);
  assert.equal(press(link("a"), "z").defaultPrevented, false);
  assert.equal(press(link("a"), "z", { ctrlKey: true }).defaultPrevented, true);
  await settled();
  assert.deepEqual(does(), [{ seen: "4", place: "9", does: "undo" }]);
  $("#undo").disabled = true;
  assert.equal(press(link("a"), "z", { ctrlKey: true }).defaultPrevented, false);
});

test("a step that the server never heard of is told, and can be tried again", async () => {
  down = true;
  press(link("b"), "ArrowUp", { altKey: true });
  await settled();
  assert.match(status(), /Nothing was changed; try again/);
  assert.match($("#messages").textContent, /could not be reached/);
  assert.equal($("#board").hasAttribute("aria-busy"), false);
  down = false;
  press(link("b"), "ArrowUp", { altKey: true });
  await settled();
  assert.equal(steps.length, 1);
});

test("one step is sent at a time", async () => {
  press(link("b"), "ArrowUp", { altKey: true });
  press(link("b"), "ArrowUp", { altKey: true });
  await settled();
  assert.equal(steps.length, 1);
});

test("the selection survives that the board is drawn anew", () => {
  press(link("a"), "x");
  press(link("c"), "x");
  send($("#board"), "htmx:beforeSwap");
  $("#board").innerHTML = whole();
  send($("#board"), "htmx:afterSwap");
  assert.deepEqual(chosen(), ["a", "c"]);
  assert.equal($("[data-count]").textContent, "2 selected");
});
