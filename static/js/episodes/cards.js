// The cards of the board in order, the selected ones, and the line that shows where a card would go.
export const board = () => document.querySelector("#board");
export const lane = () => document.querySelector("[data-lane]");
export const cardsIn = (place) => [...(place?.querySelectorAll("[data-task]") ?? [])];
export const placed = () => cardsIn(lane());
export const allCards = () => cardsIn(board());
export const cardOf = (element) => element?.closest?.("[data-task]") ?? null;
export const linkOf = (card) => card?.querySelector(".card");
export const isPlaced = (card) => "number" in card.dataset;
export const selected = () => allCards().filter((card) => card.querySelector(".pick")?.checked);
export const titleOf = (card) =>
  (card.dataset.number ? `${card.dataset.number.padStart(2, "0")} ` : "") + card.dataset.title;

// The cards that a step on this card applies to: all selected ones if it is one of them.
export function affected(card) {
  const cards = selected();
  return cards.includes(card) ? cards : [card];
}

export const describe = (cards) => (cards.length === 1 ? `“${titleOf(cards[0])}”` : `${cards.length} tasks`);

export function announce(text) {
  const region = document.querySelector("#board-status");
  if (region) region.textContent = text;
}

// Draws the line in front of a card, with null after the last one; without an argument it removes the line.
export function line(before) {
  document.querySelector(".drop-line")?.remove();
  const list = lane();
  if (before === undefined || !list) return null;
  const mark = document.createElement("li");
  mark.className = "drop-line";
  mark.setAttribute("aria-hidden", "true");
  mark.style.top = `${before ? before.offsetTop : list.offsetHeight}px`;
  list.append(mark);
  return mark;
}
