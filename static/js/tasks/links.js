// An item's links to intents and its evidence: checkboxes and a text field or, in a row of a long list that was not opened
// yet, one hidden field with the intents' keys in its first line and the evidence in the others.

import { form, keyOf, lineOf } from "../drafts/form.js";
import { put } from "../shared/conditional_fields.js";
import { rowsOf } from "../shared/rows.js";

const briefOf = (group) => group.querySelector(":scope > input[type=hidden]");
const evidenceOf = (group) => group.closest("details").querySelector('textarea[name$=".evidence"]');
const intents = () => rowsOf(form.querySelector('[data-rows="intents"]'));
export const groupOf = (row) => row.querySelector(".links");
export const boxesOf = (group) => [...group.querySelectorAll("label:not([hidden]) > input")];

export function keysOf(group) {
  const brief = briefOf(group);
  if (brief) return brief.value.split("\n")[0].split(" ").filter(Boolean);
  return boxesOf(group).flatMap((box) => (box.checked ? [box.value] : []));
}

// Expands an item's links: a checkbox for each intent that is on the page now.
export function expandLinks(group) {
  const brief = briefOf(group);
  const ticked = brief && keysOf(group);
  const name = `checklist.${keyOf(group.closest("[data-row]"))}.follows_from`;
  const known = new Map([...group.querySelectorAll("label > input")].map((box) => [box.value, box.closest("label")]));
  intents().forEach((row, at) => {
    const [key, text] = [keyOf(row), lineOf(row).value];
    let label = known.get(key);
    if (!label) {
      label = document.createElement("label");
      label.className = "check";
      label.innerHTML = '<input type="checkbox"><span></span>';
      Object.assign(label.firstChild, { name, value: key, checked: Boolean(ticked?.includes(key)) });
    }
    known.delete(key);
    label.hidden = false;
    label.title = text;
    label.lastChild.textContent = `${at + 1} ${text.slice(0, 36)}`;
    if (group.children[at] !== label) group.insertBefore(label, group.children[at] ?? null);
  });
  for (const label of known.values()) label.hidden = true;
  if (brief) {
    put(group.closest("[data-row]"), "evidence", group);
    evidenceOf(group).value = brief.value.split("\n").slice(1).join("\n");
    brief.remove();
  }
  return boxesOf(group);
}

function write(place, text) {
  if (place.textContent !== text) place.textContent = text;
}

// Shows the numbers of linked intents beside the items and in their summaries.
export function showLinkedIntents(...groups) {
  const numbers = new Map(intents().map((row, at) => [keyOf(row), at + 1]));
  for (const group of groups) {
    const own = keysOf(group)
      .flatMap((key) => numbers.get(key) ?? [])
      .sort((a, b) => a - b);
    const text = own.map((number) => ` ${number}`).join("");
    const row = group.closest("[data-row]");
    write(row.querySelector("[data-linked-intents]"), text || " no intent");
    write(row.querySelector("[data-tests]"), text && `tests${text}`);
  }
}
form?.addEventListener("studio:changed", (event) => {
  if (event.target.dataset.rows === "intents")
    showLinkedIntents(...form.querySelectorAll('[data-rows="checklist"] .links'));
});

function follow(group, keys) {
  const own = keysOf(group);
  const added = keys.filter((key) => !own.includes(key));
  if (!added.length) return;
  const brief = briefOf(group);
  if (brief) {
    const [first, ...evidence] = brief.value.split("\n");
    brief.value = [[first, ...added].filter(Boolean).join(" "), ...evidence].join("\n");
  } else for (const box of expandLinks(group)) box.checked ||= added.includes(box.value);
  showLinkedIntents(group);
}

// Copies links to another row: the intents of an item, or the items of an intent.
export function copyLinks(row, other) {
  if (groupOf(row)) return follow(groupOf(other), keysOf(groupOf(row)));
  for (const group of form.querySelectorAll('[data-rows="checklist"] .links'))
    if (keysOf(group).includes(keyOf(row))) follow(group, [keyOf(other)]);
}
