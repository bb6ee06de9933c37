// Moving a card by keyboard: Space picks it up, arrows move it, Space drops it, Esc cancels. Alt with an arrow moves it
// one position.
import { affected, announce, cardOf, describe, isPlaced, lane, line, linkOf, placed, titleOf } from "./cards.js";
import { step } from "./steps.js";

/** @type {any} */
let carried = null; // {cards, rest, place}: `place` is an index in `rest`; one past its end is outside the episode

const outside = () => carried.rest.length + 1;

function pickUp(card) {
  const cards = affected(card);
  const rest = placed().filter((one) => !cards.includes(one));
  const first = placed().find((one) => cards.includes(one));
  const after = placed()
    .slice(0, placed().indexOf(first))
    .filter((one) => rest.includes(one));
  carried = { cards, rest, place: first ? after.length : rest.length + 1, card };
  carried.from = carried.place;
  for (const one of cards) one.classList.add("carried");
  show(`Picked up ${describe(cards)}. Arrow keys move it, Space drops it, Esc cancels. `);
}

function show(first = "") {
  const { rest, place } = carried;
  const out = place === outside();
  const mark = line(out ? undefined : (rest[place] ?? null));
  document.querySelector("[data-tray]")?.toggleAttribute("data-target", out);
  const where = out
    ? "Out of the episode"
    : rest[place]
      ? `Before “${titleOf(rest[place])}”, position ${place + 1}`
      : `At the end, position ${place + 1}`;
  announce(`${first}${where}.`);
  (mark ?? document.querySelector("[data-tray]"))?.scrollIntoView({ block: "center" });
}

function release() {
  line();
  document.querySelector("[data-tray]")?.removeAttribute("data-target");
  for (const one of carried.cards) one.classList.remove("carried");
  carried = null;
}

function drop() {
  const { cards, rest, place, from } = carried;
  const out = place === outside();
  release();
  if (place === from && cards.length === 1) return announce("Nothing moved.");
  if (out) step("take_out", cards);
  else step("move", cards, { place: rest[place]?.dataset.task ?? "end" });
}

function carry(event) {
  const keys = { ArrowUp: carried.place - 1, ArrowDown: carried.place + 1, Home: 0, End: carried.rest.length };
  if (event.key in keys) {
    carried.place = Math.max(0, Math.min(outside(), keys[event.key]));
    show();
  } else if (event.key === " " || event.key === "Enter") drop();
  else if (event.key === "Escape") {
    const { card } = carried;
    release();
    linkOf(card).focus();
    linkOf(card).scrollIntoView({ block: "nearest" });
    announce("Put back.");
  } else if (event.key === "Tab") return release();
  else return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

document.addEventListener(
  "keydown",
  (event) => {
    if (carried) return carry(event);
    const card = cardOf(event.target);
    if (!card || !event.target.closest(".card, .grip") || event.ctrlKey || event.metaKey) return;
    if (event.altKey && ["ArrowUp", "ArrowDown"].includes(event.key) && isPlaced(card)) {
      event.preventDefault();
      linkOf(card).focus();
      step(event.key === "ArrowUp" ? "earlier" : "later", affected(card));
    } else if (event.key === " " && !event.altKey && lane()) {
      event.preventDefault();
      event.stopImmediatePropagation();
      pickUp(card);
    }
  },
  true,
);
document.addEventListener("keyup", (event) => {
  if (event.key === " " && event.target.closest?.(".grip")) event.preventDefault(); // no click of the button
});
document.addEventListener("focusout", (event) => {
  if (carried && event.relatedTarget && !cardOf(event.relatedTarget)) release();
});
