// Comments on a part of a text: select it, then press the button beside it, Ctrl+Alt+M to comment or Ctrl+Alt+S to suggest.
// Text with comments is underlined; a click on it shows the thread.

import { go } from "../drafts/form.js";
import { commentAt, markComments, rectangleAt } from "../shared/highlighted_text.js";
import { codePoints, utf16Offset } from "../shared/text_spans.js";

const task = document.querySelector("form#task");
const bar = document.querySelector("[data-selection-bar]");
const AROUND = 48;
const WHOLE = ["title", "description", "initial_request", "reference_workflow", "files_read"];

const compose = () => document.querySelector("[data-compose]");

// Readers can select text to comment on: their fields are enabled, but read-only.
function makeReadable() {
  const parts = task?.querySelector(":scope > fieldset[disabled]");
  if (!parts) return;
  for (const control of parts.querySelectorAll("input, select, button, textarea"))
    if (control.matches("textarea")) control.readOnly = true;
    else control.disabled = true;
  parts.disabled = false;
  parts.addEventListener(
    "keydown",
    (event) => event.altKey && event.key.startsWith("Arrow") && event.stopPropagation(),
  );
}

function subjectOf(area) {
  const row = /^(intents|checklist)\.(.+)\.(content|criterion)$/.exec(area.name);
  if (row) return `${row[1]}:${row[2]}`;
  return WHOLE.includes(area.name) ? area.name : "";
}

function underline() {
  const talk = new Map();
  for (const card of document.querySelectorAll("[data-thread][data-input]")) {
    const area = task?.querySelector(`textarea[name="${CSS.escape(card.dataset.input)}"]`);
    if (!area) continue;
    const words = card.dataset.quoteText;
    let start = utf16Offset(area.value, Number(card.dataset.start));
    if (!area.value.startsWith(words, start)) start = area.value.indexOf(words);
    if (start < 0) continue;
    const one = {
      thread: card.dataset.thread,
      start,
      end: start + words.length,
      words,
      title: card.getAttribute("aria-label"),
    };
    talk.set(area, [...(talk.get(area) ?? []), one]);
  }
  for (const area of task?.querySelectorAll(".area > textarea") ?? []) markComments(area, talk.get(area) ?? []);
  const open = new Set([...document.querySelectorAll("[data-thread]")].map((card) => card.dataset.thread));
  for (const line of document.querySelectorAll("[data-comment-line]"))
    line.hidden = !open.has(line.dataset.commentLine);
}

// Updates the lines beside the fields: htmx replaced the threads only.
function updateLines() {
  for (const line of document.querySelector("#comments [data-comment-lines]")?.content.children ?? []) {
    const there = document.querySelector(`[data-comment-line="${CSS.escape(line.dataset.commentLine)}"]`);
    const made = document.importNode(line, true);
    if (there) there.replaceWith(made);
    else document.getElementById(line.dataset.anchor)?.after(made);
  }
}

function chosen() {
  const area = document.activeElement;
  if (!area?.matches?.("form#task .area > textarea") || !subjectOf(area)) return null;
  const { selectionStart: start, selectionEnd: end, value } = area;
  return { area, start, end, words: value.slice(start, end), value };
}

function showBar() {
  if (!bar) return;
  const now = chosen();
  bar.hidden = !now?.words.trim();
  if (!now || bar.hidden) return;
  const box = rectangleAt(now.area, now.end);
  const left = Math.min(box.right, document.documentElement.clientWidth - bar.offsetWidth - 8);
  bar.style.left = `${Math.max(8, left) + scrollX}px`;
  bar.style.top = `${box.bottom + 6 + scrollY}px`;
}

function drop() {
  const form = compose();
  for (const name of ["words", "before", "after", "start"]) form.elements[name].value = "";
  form.querySelector("[data-quote]").hidden = true;
}

function startComment({ suggest = false } = {}) {
  const form = compose();
  const now = chosen();
  if (!form || !now) return;
  const place = subjectOf(now.area);
  const about = form.elements.about;
  if (![...about.options].some((option) => option.value === place)) about.add(new Option("this row", place));
  about.value = place;
  drop();
  if (now.words.trim()) {
    form.elements.words.value = now.words;
    form.elements.before.value = now.value.slice(Math.max(0, now.start - AROUND), now.start);
    form.elements.after.value = now.value.slice(now.end, now.end + AROUND);
    form.elements.start.value = codePoints(now.value.slice(0, now.start));
    form.querySelector("[data-quote] blockquote").textContent = now.words;
    form.querySelector("[data-quote]").hidden = false;
  }
  bar.hidden = true;
  const change = form.querySelector("[data-suggest]");
  change.open = suggest;
  form.scrollIntoView({ block: "center" });
  if (suggest) {
    fill(form, true);
    const area = form.elements.suggestion;
    area.focus({ preventScroll: true });
    area.select();
  } else form.elements.text.focus({ preventScroll: true });
}

// Starts a suggestion with the selected text, or the whole text of the field.
function fill(form, again = false) {
  const area = form.elements.suggestion;
  const whole = form.elements.about.value;
  const [list, key] = whole.split(":");
  const name = key ? `${list}.${key}.${list === "intents" ? "content" : "criterion"}` : whole;
  const text = form.elements.words.value || (task?.querySelector(`textarea[name="${CSS.escape(name)}"]`)?.value ?? "");
  form.elements.suggest.value = "1";
  if (again || !area.value || area.value === area.dataset.filled) area.value = text;
  area.dataset.filled = text;
}

let typed = new Map();
/** @type {Record<string, any> | null} */
let submitted = null;
function storeTyped(sent) {
  typed = new Map();
  for (const area of document.querySelectorAll("#comments textarea[id]"))
    if (area.value !== area.defaultValue && !sent?.contains(area)) typed.set(area.id, area.value);
  submitted = sent && Object.fromEntries(new FormData(sent));
}

function restoreTyped() {
  const refused = document.querySelector("#comments .error");
  for (const [id, value] of typed) {
    const area = document.getElementById(id);
    if (!area) continue;
    area.value = value;
    area.closest("details.answer, details[data-suggest]")?.setAttribute("open", "");
  }
  const form = compose();
  if (!refused || !form || !submitted || !("about" in submitted)) return;
  for (const [name, value] of Object.entries(submitted))
    if (name !== "csrfmiddlewaretoken") form.elements[name].value = value;
  form.querySelector("[data-quote]").hidden = !submitted.words;
  form.querySelector("[data-quote] blockquote").textContent = submitted.words;
  form.querySelector("[data-suggest]").open = Boolean(submitted.suggest);
}

function show(thread) {
  const card = document.getElementById(`comment-${thread}`);
  for (const other of document.querySelectorAll(".thread.here")) other.classList.toggle("here", other === card);
  if (!card) return;
  card.classList.add("here");
  card.scrollIntoView({ block: "nearest" });
}

if (task) {
  makeReadable();
  underline();
  document.addEventListener("selectionchange", showBar);
  task.addEventListener("mouseup", () => setTimeout(showBar));
  task.addEventListener("keyup", showBar);
  task.addEventListener("focusout", () => setTimeout(() => !bar?.contains(document.activeElement) && showBar()));
  task.addEventListener("click", (event) => {
    const area = event.target;
    if (!area.matches?.(".area > textarea") || area.selectionStart !== area.selectionEnd) return;
    const talk = commentAt(area, area.selectionStart);
    if (talk) show(talk.thread);
  });
  bar?.addEventListener("mousedown", (event) => event.preventDefault()); // keeps the selection
  bar?.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) startComment({ suggest: button.value === "suggest" });
  });
  document.addEventListener("keydown", (event) => {
    if (!event.ctrlKey || !event.altKey || !["m", "s"].includes(event.key.toLowerCase()) || !chosen()) return;
    event.preventDefault();
    startComment({ suggest: event.key.toLowerCase() === "s" });
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-quote-remove]")) {
      drop();
      compose().elements.text.focus();
    }
    const link = event.target.closest("[data-goto][data-select]");
    const card = link?.closest("[data-thread]");
    const area = card && task.querySelector(`textarea[name="${CSS.escape(card.dataset.input)}"]`);
    if (!area || !go(card.dataset.input)) return;
    event.preventDefault();
    const start = utf16Offset(area.value, Number(card.dataset.start));
    if (area.value.startsWith(card.dataset.quoteText, start))
      area.setSelectionRange(start, start + card.dataset.quoteText.length);
    show(card.dataset.thread);
  });
  document.addEventListener("change", (event) => {
    const form = event.target.closest?.("[data-compose]");
    if (form && event.target.name === "about") {
      drop();
      if (form.querySelector("[data-suggest]").open) fill(form);
    }
  });
  document.addEventListener(
    "toggle",
    (event) => {
      const form = event.target.matches?.("[data-suggest]") && event.target.closest("[data-compose]");
      if (!form) return;
      if (event.target.open) return fill(form);
      form.elements.suggest.value = "";
      form.elements.suggestion.value = "";
    },
    true,
  );
  document.addEventListener(
    "htmx:beforeSwap",
    (event) => event.target.id === "comments" && storeTyped(event.detail.requestConfig?.elt),
  );
  document.addEventListener("htmx:afterSettle", () => {
    restoreTyped();
    updateLines();
    underline();
  });
}
