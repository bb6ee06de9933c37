import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { $, all, open, press, send } from "./page.js";

open("<main></main>", { innerHeight: 800 });
await import("../../static/js/shared/shortcuts.js");

let pressed;
beforeEach(() => {
  delete document.documentElement.dataset.keys;
  document.activeElement = document.body;
  pressed = [];
  $("main").innerHTML =
    '<dialog id="keys"><h2 data-own-title></h2><dl data-own-keys></dl><button data-close></button></dialog>' +
    '<a id="home" data-room-key="h"></a><nav class="crumbs"><a id="top"></a><a id="up"></a></nav>' +
    '<button id="new" data-key="n" data-key-label="New task"></button><button id="gone" data-key="x" hidden></button>' +
    '<button id="enter" data-key="Enter"></button><button id="off" data-key="o" disabled></button>' +
    '<input id="filter" data-key="/" title="Filter"><textarea></textarea>' +
    '<details class="menu" id="menu"><summary></summary></details>' +
    '<details data-unfolds><summary></summary><button id="folded" data-key="f"></button></details>' +
    '<section data-key-scope><input type="checkbox"><button id="scoped" data-key="n"></button></section>';
  for (const one of all("button, a")) one.addEventListener("click", () => pressed.push(one.id));
});
const key = (name, more) => press(more?.on ?? document.activeElement, name, more);

test("a key presses its button, and focuses its field", () => {
  assert.equal(key("n").defaultPrevented, true);
  assert.deepEqual(pressed, ["new"]);
  key("/");
  assert.equal(document.activeElement, $("#filter"));
});

test("of several with the same key the one is meant in whose part of the page one is", () => {
  $("section input").focus();
  key("n");
  assert.deepEqual(pressed, ["scoped"]);
});

test("what is hidden has no key, and what is folded opens for it", () => {
  key("x");
  assert.deepEqual(pressed, []);
  key("f");
  assert.deepEqual(pressed, ["folded"]);
  assert.equal($("[data-unfolds]").open, true);
});

test("no key acts while one types, nor with Ctrl, Alt or the command key", () => {
  for (const more of [
    { on: $("textarea") },
    { on: $("#filter") },
    { ctrlKey: true },
    { altKey: true },
    { metaKey: true },
  ])
    assert.equal(key("n", more).defaultPrevented, false);
  assert.deepEqual(pressed, []);
});

test("with single keys switched off only longer names act", () => {
  document.documentElement.dataset.keys = "off";
  for (const name of ["n", "g", "h", "?", "Enter"]) key(name);
  assert.deepEqual(pressed, ["enter"]);
  assert.equal($("#keys").open, false);
});

test("g and a letter open a room, for a while", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  key("g");
  key("h");
  key("h");
  assert.deepEqual(pressed, ["home"]);
  key("g");
  t.mock.timers.tick(1500);
  key("h");
  key("n");
  assert.deepEqual(pressed, ["home", "new"]);
});

test("the list names each key that acts now, once", () => {
  assert.equal(key("?").defaultPrevented, true);
  assert.equal($("#keys").open, true);
  assert.deepEqual(
    all("[data-own-keys] kbd").map((one) => [one.textContent, one.nextElementSibling.textContent]),
    [
      ["n", "New task"],
      ["Enter", ""],
      ["/", "Filter"],
      ["f", ""],
    ],
  );
  assert.equal($("[data-own-title]").hidden, false);
  key("n");
  assert.deepEqual(pressed, []); // a dialog has the keys
  $("[data-close]").click();
  assert.equal($("#keys").open, false);
});

test("Escape leaves the field, closes the menu, and then leads up", () => {
  key("Escape", { on: $("textarea") });
  assert.deepEqual(pressed, []);
  $("#menu").open = true;
  key("Escape");
  assert.equal($("#menu").open, false);
  assert.equal(document.activeElement, $("#menu summary"));
  key("Escape");
  assert.deepEqual(pressed, ["up"]);
});

test("Escape leads where the page says, if it does", () => {
  $("#new").setAttribute("data-back", "");
  key("Escape");
  assert.deepEqual(pressed, ["new"]);
});

test("a click elsewhere closes a menu, and one within it does not", () => {
  $("#menu").open = true;
  send($("#menu summary"), "click");
  assert.equal($("#menu").open, true);
  send($("main"), "click");
  assert.equal($("#menu").open, false);
});
