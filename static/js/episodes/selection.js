// Selecting cards: Ctrl or Shift with a click, `x`, Shift with the arrows; the arrows alone move from card to card.
import { lettersAct } from "../shared/shortcuts.js";
import { board, cardOf, chosen, everyCard, linkOf, say } from "./cards.js";

let anchor = null;

export function tell() {
  const number = chosen().length;
  const place = board()?.querySelector("[data-count]");
  if (place) place.textContent = `${number} selected`;
  return number;
}

function choose(card, on) {
  const box = card.querySelector(".pick");
  if (box) box.checked = on;
}

function chooseTo(card) {
  const cards = everyCard();
  const from = Math.max(
    0,
    cards.findIndex((one) => one.dataset.task === anchor),
  );
  const to = cards.indexOf(card);
  for (const [place, one] of cards.entries()) choose(one, place >= Math.min(from, to) && place <= Math.max(from, to));
}

function chooseNone() {
  for (const card of chosen()) choose(card, false);
  tell();
}

document.addEventListener(
  "click",
  (event) => {
    const link = event.target.closest?.("#board a.card");
    if (link && (event.ctrlKey || event.metaKey || event.shiftKey)) {
      event.preventDefault();
      event.stopPropagation();
      const card = cardOf(link);
      if (event.shiftKey) chooseTo(card);
      else {
        choose(card, !card.querySelector(".pick").checked);
        anchor = card.dataset.task;
      }
      link.focus();
      return tell();
    }
    if (link) anchor = cardOf(link).dataset.task;
    if (event.target.closest?.("[data-select-none]")) chooseNone();
    const group = event.target.closest?.("[data-select]");
    if (group) {
      const wanted = group.dataset.select.split(" ");
      for (const card of everyCard()) choose(card, wanted.includes(card.dataset.task));
      group.closest("details").open = false;
      tell();
    }
  },
  true,
);
document.addEventListener("change", (event) => {
  if (!event.target.matches?.("#board .pick")) return;
  if (event.target.checked) anchor = cardOf(event.target).dataset.task;
  tell();
});
document.addEventListener("board:selected", tell);

document.addEventListener(
  "keydown",
  (event) => {
    const card = cardOf(event.target);
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (
      event.key === "m" &&
      lettersAct() &&
      !chosen().length &&
      !event.target.closest("input:not(.pick), textarea, select")
    ) {
      const one = card ?? document.querySelector("#board [data-open]");
      if (one) choose(one, true); // the field it goes to is shown with it
      tell();
      return;
    }
    if (
      event.key === "Escape" &&
      chosen().length &&
      !event.target.closest("input:not(.pick), textarea, select, details[open], dialog")
    ) {
      event.preventDefault();
      chooseNone();
      return say("Nothing selected.");
    }
    if (!card) return;
    if (event.key === "x" && lettersAct()) {
      event.preventDefault();
      choose(card, !card.querySelector(".pick").checked);
      anchor = card.dataset.task;
      return say(`${tell()} selected.`);
    }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const cards = everyCard();
    const next = cards[cards.indexOf(card) + (event.key === "ArrowDown" ? 1 : -1)];
    if (!next) return;
    event.preventDefault();
    if (event.shiftKey) {
      if (!chosen().length) anchor = card.dataset.task;
      chooseTo(next);
      say(`${tell()} selected.`);
    }
    linkOf(next).focus();
  },
  true,
);
