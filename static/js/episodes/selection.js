// Selecting cards: Ctrl or Shift with a click, `x`, Shift with the arrows; the arrows alone move from card to card.
import { singleKeysWork } from "../shared/shortcuts.js";
import { allCards, announce, board, cardOf, linkOf, selected } from "./cards.js";

let anchor = null;

export function showCount() {
  const number = selected().length;
  const place = board()?.querySelector("[data-count]");
  if (place) place.textContent = `${number} selected`;
  return number;
}

function select(card, on) {
  const box = card.querySelector(".pick");
  if (box) box.checked = on;
}

function selectTo(card) {
  const cards = allCards();
  const from = Math.max(
    0,
    cards.findIndex((one) => one.dataset.task === anchor),
  );
  const to = cards.indexOf(card);
  for (const [place, one] of cards.entries()) select(one, place >= Math.min(from, to) && place <= Math.max(from, to));
}

function selectNone() {
  for (const card of selected()) select(card, false);
  showCount();
}

document.addEventListener(
  "click",
  (event) => {
    const link = event.target.closest?.("#board a.card");
    if (link && (event.ctrlKey || event.metaKey || event.shiftKey)) {
      event.preventDefault();
      event.stopPropagation();
      const card = cardOf(link);
      if (event.shiftKey) selectTo(card);
      else {
        select(card, !card.querySelector(".pick").checked);
        anchor = card.dataset.task;
      }
      link.focus();
      return showCount();
    }
    if (link) anchor = cardOf(link).dataset.task;
    if (event.target.closest?.("[data-select-none]")) selectNone();
    const group = event.target.closest?.("[data-select]");
    if (group) {
      const wanted = group.dataset.select.split(" ");
      for (const card of allCards()) select(card, wanted.includes(card.dataset.task));
      group.closest("details").open = false;
      showCount();
    }
  },
  true,
);
document.addEventListener("change", (event) => {
  if (!event.target.matches?.("#board .pick")) return;
  if (event.target.checked) anchor = cardOf(event.target).dataset.task;
  showCount();
});
document.addEventListener("board:selected", showCount);

document.addEventListener(
  "keydown",
  (event) => {
    const card = cardOf(event.target);
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (
      event.key === "m" &&
      singleKeysWork() &&
      !selected().length &&
      !event.target.closest("input:not(.pick), textarea, select")
    ) {
      const one = card ?? document.querySelector("#board [data-open]");
      if (one) select(one, true); // shows the field that the key leads to
      showCount();
      return;
    }
    if (
      event.key === "Escape" &&
      selected().length &&
      !event.target.closest("input:not(.pick), textarea, select, details[open], dialog")
    ) {
      event.preventDefault();
      selectNone();
      return announce("Nothing selected.");
    }
    if (!card) return;
    if (event.key === "x" && singleKeysWork()) {
      event.preventDefault();
      select(card, !card.querySelector(".pick").checked);
      anchor = card.dataset.task;
      return announce(`${showCount()} selected.`);
    }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const cards = allCards();
    const next = cards[cards.indexOf(card) + (event.key === "ArrowDown" ? 1 : -1)];
    if (!next) return;
    event.preventDefault();
    if (event.shiftKey) {
      if (!selected().length) anchor = card.dataset.task;
      selectTo(next);
      announce(`${showCount()} selected.`);
    }
    linkOf(next).focus();
  },
  true,
);
