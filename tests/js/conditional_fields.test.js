import assert from "node:assert/strict";
import { test } from "node:test";
import { $, all, open, send } from "./page.js";

const row = (key) =>
  `<div data-row><input type="hidden" value="${key}"><div class="meta"><select data-reveals="grader">` +
  '<option value="rubric">a judge</option><option value="rule">a rule</option></select></div></div>';
open(
  `<form><select data-reveals="kind"><option value="a">A</option><option value="b">B</option></select>
  <p id="a" data-when-of="kind" data-when="a c"></p><p id="b" data-when-of="kind" data-when="b"></p></form>
  <div data-rows="items">${row("1")}${row("2")}
  <template data-row-part="grader" data-when="rule"><p data-when-of="grader" data-when="rule">
  <input name="items.__n__.rule"></p></template></div>`,
);
await import("../../static/js/shared/conditional_fields.js");

const choose = (select, value) => {
  select.value = value;
  send(select, "change");
};
const shown = () =>
  all("p[id]")
    .filter((one) => !one.hidden)
    .map((one) => one.id);

test("only the fields of the choice are shown, from the beginning and after each change", () => {
  assert.deepEqual(shown(), ["a"]);
  choose($("form select"), "b");
  assert.deepEqual(shown(), ["b"]);
  choose($("form select"), "a");
  assert.deepEqual(shown(), ["a"]);
});

test("a row gets its fields once it needs them, under its own name, and no other row does", () => {
  const [first, second] = all("[data-row]");
  choose(second.querySelector("select"), "rule");
  assert.equal(first.querySelector("[data-when-of]"), null);
  assert.equal(second.querySelectorAll("[data-when-of]").length, 1);
  assert.equal(second.querySelector("[name]").name, "items.2.rule");
  choose(second.querySelector("select"), "rubric");
  assert.equal(second.querySelector("[data-when-of]").hidden, true);
  choose(second.querySelector("select"), "rule");
  assert.equal(second.querySelectorAll("[data-when-of]").length, 1);
  assert.equal(second.querySelector("[data-when-of]").hidden, false);
});
