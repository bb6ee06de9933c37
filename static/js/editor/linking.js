// What an item follows from, without leaving the keyboard: Alt-L opens the list of intents, a digit ticks the intent of
// that number, arrows and the space bar do so beyond the ninth, Enter or Esc goes back to the line.
import { rowsOf } from "../rows.js";
import { keyOf, lineOf } from "./keys.js";
import { form } from "./page.js";

const boxesOf = (group) => [...group.querySelectorAll("label:not([hidden]) > input")];

// An item may follow from an intent that was added after the page was drawn.
function offer(group) {
  const intents = rowsOf(form.querySelector('[data-rows="intents"]')).map((row) => [keyOf(row), lineOf(row).value]);
  const known = new Map([...group.querySelectorAll("input")].map((box) => [box.value, box.closest("label")]));
  const name = `checklist.${keyOf(group.closest("[data-row]"))}.follows_from`;
  intents.forEach(([key, text], at) => {
    let label = known.get(key);
    if (!label) {
      label = document.createElement("label");
      label.className = "check";
      label.innerHTML = '<input type="checkbox"><span></span>';
      Object.assign(label.firstChild, { name, value: key });
    }
    known.delete(key);
    label.title = text;
    label.lastChild.textContent = `${at + 1} ${text.slice(0, 36)}`;
    if (group.children[at] !== label) group.insertBefore(label, group.children[at] ?? null);
  });
  for (const label of known.values()) label.hidden = true;
  return boxesOf(group);
}

function tell(group) {
  const place = group.closest("details").querySelector("[data-followed]");
  const numbers = boxesOf(group).flatMap((box, at) => (box.checked ? [at + 1] : []));
  place.textContent = numbers.map((number) => ` ${number}`).join("") || " no intent";
}

function open(row) {
  const group = row.querySelector(".links");
  if (!group) return false;
  group.closest("details").open = true;
  const boxes = offer(group);
  (boxes.find((box) => box.checked) ?? boxes[0] ?? group.closest("details").querySelector("textarea")).focus();
  return true;
}

function among(event, group) {
  const boxes = boxesOf(group);
  const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
  if (step) boxes[(boxes.indexOf(event.target) + step + boxes.length) % boxes.length].focus();
  else if (/^[1-9]$/.test(event.key)) boxes[event.key - 1]?.click();
  else if (["Enter", "Escape"].includes(event.key)) lineOf(group.closest("[data-row]")).focus();
  else return;
  event.preventDefault();
}

form?.addEventListener(
  "toggle",
  (event) => {
    const group = event.target.open && event.target.querySelector(":scope .links");
    if (group) offer(group);
  },
  true,
);
form?.addEventListener("change", (event) => {
  const group = event.target.closest(".links");
  if (group) tell(group);
});
form?.addEventListener("keydown", (event) => {
  const row = event.target.closest("[data-row]");
  if (!row || event.ctrlKey || event.metaKey || event.isComposing) return;
  if (event.altKey) {
    if (["l", "¬"].includes(event.key) && open(row)) event.preventDefault(); // elsewhere a Mac writes ł or @ with it
    return;
  }
  const group = event.target.closest(".links");
  if (group) among(event, group);
});
