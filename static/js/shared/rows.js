// Rows of a list in a form: add, move (Alt with an arrow), remove, undo all of it with Ctrl+Z.
// <div data-rows="intents"> <div data-row> … </div> <template data-row-blank> … </template> </div>
// Names contain __n__ in the template; the order of the rows on the page is the order that is saved. Lists of one kind
// share a template, <div data-rows="…" data-blank="its id">, in which __list__ stands for the list's name.
import { follow } from "./highlighted_text.js";

const WORDS = "textarea, select, input:not([type=hidden], [type=checkbox], [type=radio], [type=file])";
let rowsMade = 0;
const undoStack = [];
const redoStack = [];
let typedSince = false; // since the last step: then the browser undoes

const told = Object.assign(document.createElement("p"), { className: "visually-hidden", role: "status" });
document.body.append(told);

export const rowsOf = (list) => [...list.querySelectorAll(":scope > [data-row]")];
export const firstInput = (row) => row?.querySelector("textarea, input:not([type=hidden]), select");

export function renumber(list, quiet = false) {
  rowsOf(list).forEach((row, index) => {
    const place = row.querySelector("[data-row-number]");
    if (place && place.textContent !== String(index + 1)) place.textContent = index + 1;
    if (row.dataset.name) row.setAttribute("aria-label", `${row.dataset.name} ${index + 1}`);
  });
  list.dispatchEvent(new CustomEvent("studio:changed", { bubbles: true, detail: { quiet } }));
}

function place(list, rows) {
  const there = rowsOf(list);
  for (const row of there) if (!rows.includes(row)) row.remove();
  /** @type {any} */
  let before = null;
  for (const row of rows) {
    const next = before ? before.nextElementSibling : list.firstElementChild;
    if (next !== row) before ? before.after(row) : list.prepend(row);
    before = row;
  }
}

// Runs `act` as one undoable step: undo restores the rows, their text and what was ticked.
export function undoable(list, act) {
  const state = () => ({
    rows: rowsOf(list),
    inner: new Map([...list.querySelectorAll("[data-rows]")].map((inside) => [inside, rowsOf(inside)])),
    words: new Map([...list.querySelectorAll(WORDS)].map((input) => [input, input.value])),
    links: new Map(
      [...(list.closest("form") ?? list).querySelectorAll(".links input")].map((one) => [
        one,
        [one.checked, one.value],
      ]),
    ),
    focus: document.activeElement,
    caret: document.activeElement?.selectionStart,
  });
  const before = state();
  act();
  undoStack.push({ list, before, after: state() });
  redoStack.length = 0;
  typedSince = false;
  renumber(list);
}

function restore({ list, ...both }, which) {
  const { rows, inner, words, links, focus, caret } = both[which];
  place(list, rows);
  for (const [inside, own] of inner) place(inside, own);
  for (const [input, value] of words)
    if (input.value !== value) {
      input.value = value;
      if (input.matches("textarea")) follow(input);
      else input.dispatchEvent(new Event("change", { bubbles: true }));
    }
  for (const [one, [checked, value]] of links) Object.assign(one, { checked, value });
  renumber(list);
  if (focus?.isConnected && focus !== document.body) {
    focus.focus();
    if (caret != null && focus.setSelectionRange) focus.setSelectionRange(caret, caret);
  }
}

function undo() {
  const last = undoStack.pop();
  if (!last) return;
  restore(last, "before");
  redoStack.push(last);
  typedSince = false;
}

function redo() {
  const next = redoStack.pop();
  if (!next) return;
  restore(next, "after");
  undoStack.push(next);
  typedSince = false;
}

/** @returns {any} the new row */
export function blank(list, after) {
  const shared = list.dataset.blank && document.getElementById(list.dataset.blank);
  const template = shared || list.querySelector(":scope > template[data-row-blank]");
  const holder = document.createElement("template");
  const key = `new${Date.now()}${rowsMade++}${Math.random().toString(36).slice(2, 6)}`;
  const html = template.innerHTML.replaceAll("__list__", () => list.dataset.rows);
  holder.innerHTML = html.replaceAll(template.dataset.rowBlank || "__n__", key);
  const row = holder.content.firstElementChild;
  if (after) after.after(row);
  else list.prepend(row);
  return row;
}

function add(list) {
  const rows = rowsOf(list);
  undoable(list, () => firstInput(blank(list, rows[rows.length - 1]))?.focus());
}

function move(row, by) {
  const other = by < 0 ? row.previousElementSibling : row.nextElementSibling;
  if (!other?.matches("[data-row]")) return;
  const focused = document.activeElement;
  undoable(row.parentElement, () => {
    if (by < 0) other.before(row);
    else other.after(row);
    if (row.contains(focused)) focused?.focus();
  });
  const rows = rowsOf(row.parentElement);
  told.textContent = `${row.dataset.name ?? "Row"} moved to position ${rows.indexOf(row) + 1} of ${rows.length}.`;
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-row-add], [data-row-up], [data-row-down], [data-row-remove]");
  if (!button) return;
  event.preventDefault();
  if ("rowAdd" in button.dataset)
    return add(document.querySelector(`[data-rows="${CSS.escape(button.dataset.rowAdd)}"]`));
  const row = button.closest("[data-row]");
  if ("rowUp" in button.dataset) return move(row, -1);
  if ("rowDown" in button.dataset) return move(row, 1);
  const list = row.parentElement;
  const next = row.nextElementSibling?.matches("[data-row]") ? row.nextElementSibling : row.previousElementSibling;
  undoable(list, () => {
    row.remove();
    if (next?.matches("[data-row]")) firstInput(next)?.focus();
  });
});

document.addEventListener("input", (event) => {
  if (event.target.closest?.("form [data-rows], form[data-guard]")) typedSince = true;
});
document.addEventListener("keydown", (event) => {
  const undoing = (event.ctrlKey || event.metaKey) && !event.altKey ? event.key.toLowerCase() : "";
  if (
    ["z", "y"].includes(undoing) &&
    event.target.closest?.("form[data-guard], body") &&
    (undoStack.length || redoStack.length)
  ) {
    const again = undoing === "y" || event.shiftKey;
    const act = again ? redo : undo;
    if (!typedSince) {
      event.preventDefault();
      return act();
    }
    if (again) return;
    let native = false; // the browser undoes typing first; when it has nothing left, the rows follow
    const heard = () => (native = true);
    document.addEventListener("input", heard, { once: true });
    setTimeout(() => {
      document.removeEventListener("input", heard);
      if (!native) act();
    }, 0);
    return;
  }
  const row = event.target.closest?.("[data-row]");
  if (!row || !event.altKey || !["ArrowUp", "ArrowDown"].includes(event.key)) return;
  event.preventDefault();
  move(row, event.key === "ArrowUp" ? -1 : 1);
});

// Long lists leave the buttons of a row out of their HTML; they are added here.
class RowTools extends HTMLElement {
  connectedCallback() {
    if (!this.firstElementChild) this.append(document.getElementById("row-tools").content.cloneNode(true));
  }
}
customElements.define("row-tools", RowTools);
