import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { $, all, open, send, settled } from "./page.js";

mock.timers.enable({ apis: ["setTimeout"] });
/** @type {any[]} */
const sent = [];
let down = false;
const question = (name, answers, chosen = "") =>
  `<div data-question>${answers
    .map((one) => `<input type="radio" name="${name}" value="${one}"${one === chosen ? " checked" : ""}>`)
    .join("")}</div>`;
open(
  '<p data-autosaved></p><form id="judgment" data-autosave="/autosave/">' +
    `${question("q1", ["yes", "no"], "yes")}${question("q2", ["met", "not"])}${question("q3", ["yes", "no"])}` +
    '<p data-status></p><p data-count></p><textarea name="why"></textarea>' +
    '<button type="button" data-choice="yes"></button><button type="button" data-choice="no"></button>' +
    '<button type="button" data-choice="met"></button><button type="button" data-move="1"></button>' +
    '<button type="button" data-move="-1"></button><button type="button" data-undo></button></form>',
  {
    fetch: async (_, { body }) => {
      if (down) throw new TypeError("offline");
      sent.push(Object.fromEntries(body));
      return { ok: true, status: 200 };
    },
  },
);
await import("../../static/js/audits/session.js");

const answers = () =>
  all("input")
    .filter((one) => one.checked)
    .map((one) => `${one.name} ${one.value}`);
const current = () => all("[data-question]").findIndex((one) => one.matches(".current")) + 1;
async function stored() {
  mock.timers.tick(400);
  await settled();
  return sent.splice(0);
}

test("the first question without an answer is the current one", () => {
  assert.equal(current(), 2);
  assert.equal($("[data-count]").textContent, "1 of 3 answered");
});

test("a key of another question answers nothing", async () => {
  $("[data-choice=yes]").click();
  assert.equal($("[data-status]").textContent, "This question has other answers.");
  assert.deepEqual(answers(), ["q1 yes"]);
  assert.deepEqual(await stored(), []);
});

test("an answer is saved, and the next open question is the current one", async () => {
  $("[data-choice=met]").click();
  assert.deepEqual(answers(), ["q1 yes", "q2 met"]);
  assert.equal(current(), 3);
  assert.deepEqual(await stored(), [{ q1: "yes", q2: "met", why: "" }]);
  assert.equal($("[data-autosaved]").textContent, "Saved");
  assert.equal($("[data-count]").textContent, "2 of 3 answered");
});

test("undo takes back the last answer, and goes where it was given", async () => {
  assert.equal(send($("[data-undo]"), "click").defaultPrevented, true);
  assert.deepEqual(answers(), ["q1 yes"]);
  assert.equal(current(), 2);
  assert.equal((await stored()).length, 1);
  assert.equal(send($("[data-undo]"), "click").defaultPrevented, false); // the form's own undo
});

test("one moves from question to question, and not beyond the ends", () => {
  for (const [by, at] of [
    ["1", 3],
    ["1", 3],
    ["-1", 2],
    ["-1", 1],
    ["-1", 1],
  ]) {
    $(`[data-move="${by}"]`).click();
    assert.equal(current(), at);
  }
});

test("what is ticked by hand becomes the current question, and is saved", async () => {
  const [, , , , last] = all("input");
  last.checked = true;
  send(last, "change");
  assert.equal(current(), 3);
  assert.equal((await stored())[0].q3, "yes");
  $("textarea").value = "Seen.";
  send($("textarea"), "input");
  assert.equal((await stored())[0].why, "Seen.");
});

test("a page that is hidden saves at once what waits", async () => {
  send($("textarea"), "input");
  document.hidden = true;
  send(document, "visibilitychange");
  await settled();
  assert.equal(sent.splice(0).length, 1);
  send(document, "visibilitychange");
  await settled();
  assert.deepEqual(sent, []);
  document.hidden = false;
});

test("what could not be saved is told", async () => {
  down = true;
  send($("textarea"), "input");
  await stored();
  assert.equal($("[data-autosaved]").textContent, "Not saved yet");
});
