import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { $, all, open, page, press, send, settled, type } from "./page.js";

const TEXT = "🎼 The clock for Thursday, please.";
const thread = (id, words, start) =>
  `<article id="comment-${id}" class="thread" data-thread="${id}" data-input="initial_request" data-quote-text="${words}" ` +
  `data-start="${start}" aria-label="Ada: Why?"><a href="#f" data-goto="initial_request" data-select>${words}</a>` +
  `<details class="answer"><form><textarea id="answer-${id}"></textarea><button></button></form></details></article>`;
const compose = () =>
  '<form data-compose><select name="about"><option value="title">the title</option><option value="initial_request">' +
  'the request</option></select><input name="words"><input name="before"><input name="after"><input name="start">' +
  '<div data-quote hidden><blockquote></blockquote><button type="button" data-quote-remove></button></div>' +
  '<textarea name="text" id="comment-text"></textarea><details data-suggest><input name="suggest"><textarea ' +
  'name="suggestion" id="comment-suggestion"></textarea></details><button id="send"></button></form>';
const area = (name, text) =>
  `<div class="area"><div class="mirror"></div><textarea name="${name}">${text}</textarea></div>`;

open(
  `<form id="task" data-autosave="/autosave/">${area("title", "Bread")}${area("initial_request", TEXT)}` +
    `${area("intents.k1.content", "The rye goes first")}${area("note", "No comment here")}</form>` +
    '<div data-selection-bar hidden><button value="comment"></button><button value="suggest"></button></div>' +
    '<p data-comment-line="1"></p><p data-comment-line="9"></p><div id="comments"></div>',
  { innerWidth: 1000 },
);
const UNSENT = "studio:comments:7:/page/";
globalThis.document.createRange = () => ({ setStart() {}, setEnd() {}, getClientRects: () => [] });
globalThis.document.createTreeWalker = () => ({ nextNode: () => null });
globalThis.NodeFilter = /** @type {any} */ ({ SHOW_TEXT: 4 });
await import("../../static/js/tasks/comments.js");

const field = (name) => $(`form#task [name="${name}"]`);
const form = (name) => $(`[data-compose] [name="${name}"]`);
const marked = () => all("mark").map((one) => one.textContent);
const kept = () => JSON.parse(localStorage.getItem(UNSENT) ?? "null");
/** As htmx replaces the threads. */
function replaced(html, sent) {
  send($("#comments"), "htmx:beforeSwap", { detail: { requestConfig: { elt: sent } } });
  $("#comments").innerHTML = html;
  send($("#comments"), "htmx:afterSettle");
}
function select(name, start, end) {
  field(name).focus();
  field(name).setSelectionRange(start, end);
  send(document, "selectionchange");
}

beforeEach(() => {
  page.submitted.length = 0;
  if ($("#comments").children.length) {
    for (const one of all("#comments textarea")) type(one, "");
    for (const button of all("[data-unsent] button")) {
      button.click();
      type(form("text"), "");
    }
  }
  localStorage.removeItem(UNSENT);
  type(field("initial_request"), TEXT);
  document.activeElement = document.body;
  replaced(thread("1", "Thursday", 16) + compose());
});

test("the words that a thread is about are underlined, counted as the server counts them", () => {
  assert.deepEqual(marked(), ["Thursday"]);
  replaced(thread("1", "Thursday", 16) + thread("2", "clock", 6) + compose());
  assert.deepEqual(marked(), ["clock", "Thursday"]);
  assert.deepEqual(
    all("mark").map((one) => one.title),
    ["Ada: Why?", "Ada: Why?"],
  );
});

test("words that moved since the comment was written are underlined where they are now", () => {
  type(field("initial_request"), `Please. ${TEXT}`);
  replaced(thread("1", "Thursday", 16) + compose());
  assert.deepEqual(marked(), ["Thursday"]);
  type(field("initial_request"), "The clock, please.");
  replaced(thread("1", "Thursday", 16) + compose());
  assert.deepEqual(marked(), []);
});

test("words that occur twice are underlined where the comment was made", () => {
  type(field("initial_request"), "Thursday or Thursday");
  replaced(thread("1", "Thursday", 12) + compose());
  assert.deepEqual(
    $('[name="initial_request"]').previousElementSibling.childNodes.map((node) => node.textContent),
    ["Thursday or ", "Thursday", "\n"],
  );
});

test("the lines beside the fields are those of the open threads", () => {
  assert.deepEqual(
    all("[data-comment-line]").map((one) => one.hidden),
    [false, true],
  );
});

test("a click on underlined words shows their thread, and a click beside them does not", () => {
  const at = TEXT.indexOf("Thursday") + 2;
  field("initial_request").setSelectionRange(2, 2);
  send(field("initial_request"), "click");
  assert.equal(document.querySelector(".thread.here"), null);
  field("initial_request").setSelectionRange(at, at);
  send(field("initial_request"), "click");
  assert.equal($(".thread.here").id, "comment-1");
});

test("the words of a thread are selected in the text by its link", () => {
  const event = send($("[data-goto]"), "click");
  const { selectionStart, selectionEnd } = field("initial_request");
  assert.equal(event.defaultPrevented, true);
  assert.equal(TEXT.slice(selectionStart, selectionEnd), "Thursday");
  assert.equal(document.activeElement, field("initial_request"));
});

test("the bar is there for selected words of a text that can be commented on", () => {
  select("initial_request", 3, 12);
  assert.equal($("[data-selection-bar]").hidden, false);
  select("initial_request", 3, 3);
  assert.equal($("[data-selection-bar]").hidden, true);
  select("note", 0, 2);
  assert.equal($("[data-selection-bar]").hidden, true);
  select("initial_request", 2, 3); // a space
  assert.equal($("[data-selection-bar]").hidden, true);
});

test("a comment begins with the selected words, where they stand and what stands around them", () => {
  select("initial_request", 7, 12);
  $("[data-selection-bar] button").click();
  assert.deepEqual(
    ["about", "words", "before", "after", "start", "suggest"].map((name) => form(name).value),
    ["initial_request", "clock", "🎼 The ", " for Thursday, please.", "6", ""],
  );
  assert.equal($("blockquote").textContent, "clock");
  assert.equal($("[data-quote]").hidden, false);
  assert.equal(document.activeElement, form("text"));
  $("[data-quote-remove]").click();
  assert.deepEqual(
    ["words", "before", "after", "start"].map((name) => form(name).value),
    ["", "", "", ""],
  );
  assert.equal($("[data-quote]").hidden, true);
});

test("Ctrl+Alt+M comments and Ctrl+Alt+S suggests, with the words to change", () => {
  select("initial_request", 7, 12);
  assert.equal(press(field("initial_request"), "m").defaultPrevented, false);
  assert.equal(press(field("initial_request"), "s", { ctrlKey: true, altKey: true }).defaultPrevented, true);
  assert.deepEqual(
    ["words", "suggest", "suggestion"].map((name) => form(name).value),
    ["clock", "1", "clock"],
  );
  assert.equal($("[data-suggest]").open, true);
});

test("a comment on a row names the row", () => {
  select("intents.k1.content", 4, 7);
  press(field("intents.k1.content"), "m", { ctrlKey: true, altKey: true });
  assert.deepEqual([form("about").value, form("words").value], ["intents:k1", "rye"]);
});

test("what is written and not sent is kept in this browser, by who is signed in", () => {
  type(form("text"), "Why?");
  assert.equal(kept().active.text, "Why?");
  type($("#answer-1"), "Because.");
  assert.deepEqual(kept().answers, { "answer-1": "Because." });
  type($("#answer-1"), "");
  type(form("text"), "  ");
  assert.equal(kept(), null);
});

test("what is written and not sent survives new threads", () => {
  type(form("text"), "Why?");
  type($("#answer-1"), "Because.");
  replaced(thread("1", "Thursday", 16) + thread("2", "clock", 6) + compose());
  assert.deepEqual([form("text").value, $("#answer-1").value], ["Why?", "Because."]);
  assert.equal($("#answer-1").closest("details").open, true);
});

test("a comment that was sent is forgotten, and the others are not", () => {
  type(form("text"), "Why?");
  type($("#answer-1"), "Because.");
  replaced(thread("1", "Thursday", 16) + compose(), $("[data-compose]"));
  assert.deepEqual([form("text").value, $("#answer-1").value], ["", "Because."]);
  replaced(thread("1", "Thursday", 16) + compose(), $("#answer-1").form);
  assert.equal($("#answer-1").value, "");
  assert.equal(kept(), null);
});

test("a comment that was refused is still there", () => {
  type(form("text"), "Why?");
  replaced(`<p class="error">Too long.</p>${compose()}`, $("[data-compose]"));
  assert.equal(form("text").value, "Why?");
});

test("a comment waits while another is begun, and can be gone on with", () => {
  select("initial_request", 7, 12);
  $("[data-selection-bar] button").click();
  type(form("text"), "Which clock?");
  select("title", 0, 5);
  $("[data-selection-bar] button").click();
  assert.deepEqual([form("about").value, form("text").value], ["title", ""]);
  assert.match($("[data-unsent]").textContent, /Unsent comment on the request “clock”/);
  $("[data-unsent] button").click();
  assert.deepEqual(
    ["about", "words", "text"].map((name) => form(name).value),
    ["initial_request", "clock", "Which clock?"],
  );
  assert.equal(document.querySelector("[data-unsent]"), null);
});

test("Ctrl+Enter sends what one writes in, and Enter alone does not", async () => {
  press(form("text"), "Enter");
  press(field("title"), "Enter", { ctrlKey: true });
  assert.equal(page.submitted.length, 0);
  press(form("text"), "Enter", { ctrlKey: true });
  press($("#answer-1"), "Enter", { metaKey: true });
  await settled();
  assert.deepEqual(page.submitted, [$("[data-compose]"), $("#answer-1").form]);
});

test("another subject drops the quotation, and a suggestion begins with its text", () => {
  select("initial_request", 7, 12);
  press(field("initial_request"), "s", { ctrlKey: true, altKey: true });
  form("about").value = "title";
  send(form("about"), "change");
  assert.deepEqual(
    ["words", "start", "suggestion"].map((name) => form(name).value),
    ["", "", "Bread"],
  );
});

test("a suggestion that is folded again is none", () => {
  $("[data-suggest]").open = true;
  send($("[data-suggest]"), "toggle");
  assert.deepEqual([form("suggest").value, form("suggestion").value], ["1", "Bread"]);
  $("[data-suggest]").open = false;
  send($("[data-suggest]"), "toggle");
  assert.deepEqual([form("suggest").value, form("suggestion").value], ["", ""]);
});
