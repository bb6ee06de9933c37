// Intents and items are edited like lines: Enter adds one or splits it at the caret, Backspace at its start joins it to
// the previous one, several pasted lines become several rows. Shift+Enter is a line break within one.

import { form, lineOf } from "../drafts/form.js";
import { follow } from "../shared/highlighted_text.js";
import { blank, rowsOf, undoable } from "../shared/rows.js";
import { joinLines, pastedLines, splitLine, uniqueLines } from "./lines.js";
import { copyLinks, expandLinks, groupOf } from "./links.js";

const LISTS = ["intents", "checklist"];

function write(area, text, caret = text.length) {
  area.value = text;
  follow(area);
  area.focus();
  area.setSelectionRange(caret, caret);
}

function split(row, area) {
  const lines = splitLine(area.value, area.selectionStart, area.selectionEnd);
  if (!lines) return;
  const { head, tail } = lines;
  undoable(row.parentElement, () => {
    const next = blank(row.parentElement, row);
    write(area, head);
    if (tail.trim()) copySettings(row, next);
    write(lineOf(next), tail, 0);
  });
}

// A new line after this one, as Enter at its end makes it.
export function addLine(row) {
  const area = lineOf(row);
  area.focus();
  area.setSelectionRange(area.value.length, area.value.length);
  split(row, area);
}

// Both halves of a split item have the same links and settings.
function copySettings(row, next) {
  for (const name of ["scope", "initial_status", "grader"]) {
    const from = row.querySelector(`select[name$=".${name}"]`);
    const to = next.querySelector(`select[name$=".${name}"]`);
    if (from && to) to.value = from.value;
  }
  copyLinks(row, next);
}

function join(row, area) {
  const before = row.previousElementSibling;
  if (!before?.matches("[data-row]")) return;
  for (const group of [row, before].map(groupOf)) if (group) expandLinks(group); // first, so that undo restores them expanded
  undoable(row.parentElement, () => {
    const into = lineOf(before);
    const { text, caret } = joinLines(into.value, area.value);
    copyLinks(row, before);
    mergeSources(row, before);
    write(into, text, caret);
    row.remove();
  });
}

// A joined row has the sources or the evidence of both.
function mergeSources(row, before) {
  const [from, to] = [row, before].map((one) => one.querySelector(":scope .sub[data-rows]"));
  for (const place of from && to ? rowsOf(from) : []) {
    const values = valuesOf(place);
    if (rowsOf(to).some((own) => valuesOf(own).join("\0") === values.join("\0"))) continue;
    const rows = rowsOf(to);
    const next = blank(to, rows[rows.length - 1]);
    for (const [at, input] of inputsOf(next).entries()) input.value = values[at];
  }
  const [evidence, own] = [row, before].map((one) => one.querySelector('textarea[name$=".evidence"]'));
  if (!evidence || !own) return;
  own.value = uniqueLines(own.value, evidence.value);
}
const inputsOf = (row) => [...row.querySelectorAll("select, input:not([type=hidden])")];
const valuesOf = (row) => inputsOf(row).map((input) => input.value);

// At the start of a line, Up goes to the start of the previous one; at the end, Down goes to the end of the next.
function step(row, area, up) {
  const edge = up ? 0 : area.value.length;
  const next = up ? row.previousElementSibling : row.nextElementSibling;
  if (area.selectionStart !== edge || area.selectionEnd !== edge || !next?.matches("[data-row]")) return false;
  const into = lineOf(next);
  into.focus();
  const caret = up ? 0 : into.value.length;
  into.setSelectionRange(caret, caret);
  return true;
}

function inLine(event) {
  const area = event.target;
  const row = area.closest?.("[data-row]");
  if (!row || !LISTS.includes(row.parentElement.dataset.rows) || lineOf(row) !== area || !form?.contains(row))
    return null;
  return row;
}

form?.addEventListener("keydown", (event) => {
  if (event.isComposing || event.altKey || event.ctrlKey || event.metaKey) return;
  const row = inLine(event);
  if (!row) return;
  const area = event.target;
  if (event.key === "Enter" && !event.shiftKey) {
    event.preventDefault();
    split(row, area);
  } else if (event.key === "Backspace" && area.selectionStart === 0 && area.selectionEnd === 0) {
    if (!row.previousElementSibling?.matches("[data-row]")) return;
    event.preventDefault();
    join(row, area);
  } else if (
    ["ArrowUp", "ArrowDown"].includes(event.key) &&
    !event.shiftKey &&
    step(row, area, event.key === "ArrowUp")
  ) {
    event.preventDefault();
  }
});

form?.addEventListener("paste", (event) => {
  const row = inLine(event);
  const lines = pastedLines(event.clipboardData?.getData("text/plain") ?? "");
  if (!row || lines.length < 2) return;
  event.preventDefault();
  const area = event.target;
  undoable(row.parentElement, () => {
    const [head, tail] = [area.value.slice(0, area.selectionStart), area.value.slice(area.selectionEnd)];
    write(area, head + lines[0]);
    let last = row;
    for (const line of lines.slice(1)) {
      last = blank(row.parentElement, last);
      lineOf(last).value = line;
      follow(lineOf(last));
    }
    const end = lineOf(last).value.length;
    write(lineOf(last), lineOf(last).value + tail, end);
  });
});
