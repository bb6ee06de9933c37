// Linking an item to intents by keyboard: Alt+L opens the list, a number ticks the intent with that number (1 0 the
// tenth), arrows and Space reach all, Esc returns to the line, and Enter begins the next one.

import { form, lineOf } from "../drafts/form.js";
import { addLine } from "./keyboard.js";
import { boxesOf, expandLinks, groupOf, showLinkedIntents } from "./links.js";

const TOGETHER = 800; // milliseconds within which digits make one number
let typed = "";
let typedAt = 0;

function open(row) {
  const group = groupOf(row);
  if (!group) return false;
  group.closest("details").open = true;
  const boxes = expandLinks(group);
  (boxes.find((box) => box.checked) ?? boxes[0] ?? group.closest("details").querySelector("textarea")).focus();
  return true;
}

function tick(event, boxes) {
  const before = event.timeStamp - typedAt < TOGETHER ? typed : "";
  const together = boxes[Number(before + event.key) - 1];
  if (before && together) boxes[Number(before) - 1].click(); // it was the first digit of this one
  typed = before && together ? before + event.key : event.key;
  typedAt = event.timeStamp;
  boxes[Number(typed) - 1]?.click();
}

function among(event, group) {
  const boxes = boxesOf(group);
  const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
  if (step) boxes[(boxes.indexOf(event.target) + step + boxes.length) % boxes.length].focus();
  else if (/^[0-9]$/.test(event.key)) tick(event, boxes);
  else if (event.key === "Enter") addLine(group.closest("[data-row]"));
  else if (event.key === "Escape") lineOf(group.closest("[data-row]")).focus();
  else return;
  event.preventDefault();
}

form?.addEventListener(
  "toggle",
  (event) => {
    const group = event.target.open && event.target.querySelector(":scope .links");
    if (group) expandLinks(group);
  },
  true,
);
form?.addEventListener("change", (event) => {
  const group = event.target.closest(".links");
  if (group) showLinkedIntents(group);
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
