// What is on the board: its cards in order, those that are chosen, and the line that shows where something would go.
export const board = () => document.querySelector("#board");
export const lane = () => document.querySelector("[data-lane]");
export const cardsIn = (place) => [...(place?.querySelectorAll("[data-task]") ?? [])];
export const placed = () => cardsIn(lane());
export const everyCard = () => cardsIn(board());
export const cardOf = (element) => element?.closest?.("[data-task]") ?? null;
export const linkOf = (card) => card?.querySelector(".card");
export const isPlaced = (card) => "number" in card.dataset;
export const chosen = () => everyCard().filter((card) => card.querySelector(".pick")?.checked);
export const titleOf = (card) =>
  (card.dataset.number ? `${card.dataset.number.padStart(2, "0")} ` : "") + card.dataset.title;

// What a step that begins at this card is about: all that are chosen, if it is one of them.
export function meant(card) {
  const cards = chosen();
  return cards.includes(card) ? cards : [card];
}

export const wordsFor = (cards) => (cards.length === 1 ? `“${titleOf(cards[0])}”` : `${cards.length} sessions`);

export function say(text) {
  const region = document.querySelector("#board-status");
  if (region) region.textContent = text;
}

// The line in front of a card; with null after the last one; without any it goes away.
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
