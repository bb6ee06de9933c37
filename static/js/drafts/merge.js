// Merges what others changed into the page. What was typed here since the request was sent stays.

import { follow } from "../shared/highlighted_text.js";
import { renumber, rowsOf } from "../shared/rows.js";
import { unchangedFields } from "./changes.js";
import { form, formValues, serialize } from "./form.js";

const OWN = ["csrfmiddlewaretoken", "unresolved", "note", "base_version", "base_draft"];

const parsed = (html) => new DOMParser().parseFromString(html, "text/html");

// Changes a field's value; the event tells an editor that is shown in its place.
export function replaceValue(input, value, fresh) {
  if (input.value === value) return;
  const unknown = input.matches("select") && ![...input.options].some((one) => one.value === value);
  if (unknown && fresh) input.replaceChildren(...fresh.cloneNode(true).childNodes);
  const caret = input === document.activeElement ? input.selectionStart : null;
  input.value = value;
  if (caret != null) input.setSelectionRange(caret, caret);
  if (input.matches(".area > textarea")) follow(input);
  input.dispatchEvent(new CustomEvent("studio:replaced", { bubbles: true }));
}

// `sent` is the form as it was when the request was sent.
export function merge(html, sent) {
  const fresh = parsed(html).querySelector(`form#${form.id}`);
  const now = new URLSearchParams(serialize(formValues()));
  const untouched = unchangedFields(sent, now);
  for (const list of fresh.querySelectorAll("[data-rows]")) mergeRows(list, untouched);
  for (const input of fresh.querySelectorAll("textarea[name], input[name], select[name]")) {
    if (OWN.includes(input.name) || input.type === "file" || !untouched(input.name)) continue;
    const same = `[name="${CSS.escape(input.name)}"]`;
    if (["checkbox", "radio"].includes(input.type)) {
      const own = form.querySelector(`${same}[value="${CSS.escape(input.value)}"]`);
      if (own) own.checked = input.checked;
      continue;
    }
    const own = input.type === "hidden" && form.querySelectorAll(same).length > 1 ? null : form.querySelector(same);
    if (own) replaceValue(own, input.value, input);
  }
  window.htmx?.process(form);
  showConflicts(fresh);
}

function mergeRows(list, untouched) {
  const own = form.querySelector(`[data-rows="${CSS.escape(list.dataset.rows)}"]`);
  if (!own || !untouched(list.dataset.rows)) return;
  const keyOf = (row) => row.querySelector(":scope > input[type=hidden]")?.value;
  const there = new Map(rowsOf(own).map((row) => [keyOf(row), row]));
  const wanted = rowsOf(list).map((row) => there.get(keyOf(row)) ?? document.importNode(row, true));
  const touched = (row) => [...row.querySelectorAll("[name]")].some((input) => !untouched(input.name));
  const blank = (row) => keyOf(row).startsWith("new") && !row.querySelector("textarea")?.value;
  for (const row of there.values()) if (!wanted.includes(row) && !blank(row) && !touched(row)) row.remove();
  /** @type {any} */
  let before = null;
  for (const row of wanted) {
    const next = before ? before.nextElementSibling : own.firstElementChild;
    if (next !== row) before ? before.after(row) : own.prepend(row);
    before = row;
  }
  renumber(own, true);
}

// Both versions of a field that two people changed are shown beside it.
function showConflicts(fresh) {
  for (const old of form.querySelectorAll("[data-conflict]")) old.remove();
  const summary = form.querySelector("[data-conflict-summary]");
  const apart = [...fresh.querySelectorAll("[data-conflict]")].filter((one) => !one.closest("[data-conflict-summary]"));
  summary.innerHTML = fresh.querySelector("[data-conflict-summary]").innerHTML;
  for (const box of apart) {
    const at = form.querySelector(`[name="${CSS.escape(box.dataset.at)}"]`);
    if (at) (at.closest(".area") ?? at).after(document.importNode(box, true));
    else summary.querySelector("[data-conflicts]").append(document.importNode(box, true));
  }
}
