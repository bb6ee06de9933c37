// Comments on a part of a text: select it, then press the button beside it, Ctrl+Alt+M to comment or Ctrl+Alt+S to suggest.
// Text with comments is underlined; a click on it shows the thread.

import { go } from "../drafts/form.js";
import { commentAt, markComments, rectangleAt } from "../shared/highlighted_text.js";
import { codePoints, utf16Offset } from "../shared/text_spans.js";
import { isEmpty, isWritten, nothingUnsent, switchTarget } from "./unsent_comments.js";

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
  const quoted = Boolean(now.words.trim());
  const target = {
    about: subjectOf(now.area),
    words: quoted ? now.words : "",
    before: quoted ? now.value.slice(Math.max(0, now.start - AROUND), now.start) : "",
    after: quoted ? now.value.slice(now.end, now.end + AROUND) : "",
    start: quoted ? String(codePoints(now.value.slice(0, now.start))) : "",
  };
  storeUnsent();
  const same = unsent.active;
  unsent = switchTarget(unsent, { ...target, text: "", suggest: "", suggestion: "" });
  if (unsent.active !== same || !same) put({ text: "", suggest: "", suggestion: "", ...unsent.active, ...target });
  showUnsent();
  bar.hidden = true;
  form.scrollIntoView({ block: "center" });
  if (suggest) {
    form.querySelector("[data-suggest]").open = true;
    fill(form, !form.elements.suggest.value);
    const area = form.elements.suggestion;
    area.focus({ preventScroll: true });
    area.select();
  } else form.elements.text.focus({ preventScroll: true });
}

const FIELDS = ["about", "words", "before", "after", "start", "text", "suggest", "suggestion"];
const UNSENT = `studio:comments:${document.body.dataset.signedIn}:${location.pathname}`;
let unsent = { ...nothingUnsent(), ...JSON.parse(localStorage.getItem(UNSENT) ?? "{}") };

// Shows a comment in the form: its target, its quotation and its text.
function put(draft) {
  const form = compose();
  const about = form.elements.about;
  if (![...about.options].some((option) => option.value === draft.about))
    about.add(new Option("this row", draft.about));
  for (const name of FIELDS) form.elements[name].value = draft[name] ?? "";
  form.querySelector("[data-quote] blockquote").textContent = draft.words;
  form.querySelector("[data-quote]").hidden = !draft.words;
  form.querySelector("[data-suggest]").open = Boolean(draft.suggest);
}

// What is written and not sent stays in this browser, also when the page is left.
function storeUnsent() {
  const form = compose();
  if (!form) return;
  const draft = Object.fromEntries(FIELDS.map((name) => [name, form.elements[name].value]));
  unsent.active = isWritten(draft, form.elements.suggestion.dataset.filled) ? draft : null;
  const answers = [...document.querySelectorAll("#comments details.answer textarea")];
  unsent.answers = Object.fromEntries(answers.filter((one) => one.value.trim()).map((one) => [one.id, one.value]));
  try {
    if (isEmpty(unsent)) localStorage.removeItem(UNSENT);
    else localStorage.setItem(UNSENT, JSON.stringify(unsent));
  } catch {} // full or switched off
}

function restoreUnsent() {
  if (!compose()) return;
  if (unsent.active) put(unsent.active);
  for (const [id, text] of Object.entries(unsent.answers)) {
    const area = /** @type {any} */ (document.getElementById(id));
    if (!area || area.value) continue;
    area.value = text;
    area.closest("details")?.setAttribute("open", "");
  }
  showUnsent();
}

// A line for each comment that waits at another target.
function showUnsent() {
  const form = compose();
  document.querySelector("[data-unsent]")?.remove();
  if (!form || !unsent.others.length) return;
  const list = document.createElement("ul");
  list.className = "small";
  list.dataset.unsent = "";
  for (const draft of unsent.others) {
    const line = document.createElement("li");
    line.className = "line";
    const option = [...form.elements.about.options].find((one) => one.value === draft.about);
    const quote = draft.words ? ` “${draft.words.slice(0, 40)}”` : "";
    line.append(`Unsent comment on ${option?.textContent.trim() ?? "a row"}${quote} `);
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "link", textContent: "Continue" });
    button.addEventListener("click", () => {
      storeUnsent();
      unsent = switchTarget(unsent, draft);
      put(unsent.active);
      storeUnsent();
      showUnsent();
      compose().elements.text.focus();
    });
    line.append(button);
    list.append(line);
  }
  form.parentElement.insertBefore(list, form); // `form.before` is its input of that name
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
/** @type {HTMLFormElement | null} the form that was sent */
let sentForm = null;
function storeTyped(sent) {
  storeUnsent();
  typed = new Map();
  for (const area of document.querySelectorAll("#comments textarea[id]"))
    if (area.value !== area.defaultValue && !sent?.contains(area) && !area.closest("[data-compose]"))
      typed.set(area.id, area.value);
  sentForm = sent ?? null;
}

function restoreTyped() {
  const refused = document.querySelector("#comments .error");
  for (const [id, value] of typed) {
    const area = /** @type {any} */ (document.getElementById(id));
    if (!area) continue;
    area.value = value;
    area.closest("details.answer, details[data-suggest]")?.setAttribute("open", "");
  }
  if (sentForm && !refused) {
    if (sentForm.matches("[data-compose]")) unsent.active = null;
    for (const area of sentForm.querySelectorAll("textarea[id]")) delete unsent.answers[area.id];
  }
  sentForm = null;
  restoreUnsent();
  storeUnsent();
}

function show(thread) {
  const card = document.getElementById(`comment-${thread}`);
  for (const other of document.querySelectorAll(".thread.here")) other.classList.toggle("here", other === card);
  if (!card) return;
  card.classList.add("here");
  card.scrollIntoView({ block: "nearest" });
}

if (task) {
  restoreUnsent();
  document.addEventListener("input", (event) => event.target.closest?.("#comments") && storeUnsent());
  window.addEventListener("pagehide", storeUnsent);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    const sent = event.target.closest?.("#comments textarea")?.form;
    if (!sent) return;
    event.preventDefault();
    sent.requestSubmit();
  });
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
