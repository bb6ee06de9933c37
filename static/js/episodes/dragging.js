// A card dragged: by its handle with anything that points, by the whole card with a mouse. SortableJS picks it up, shows
// it under the pointer and scrolls; what a drop means (a position, a group, out of the episode) is decided here, and the
// server moves the card.
import "../../vendor/sortablejs/Sortable.min.js";
import { affected, announce, cardOf, isPlaced, lane, line, placed, titleOf } from "./cards.js";
import { step } from "./steps.js";

const Sortable = window.Sortable;

const FAR_ENOUGH = 6; // px, so that a click of an unsteady hand is none
/** @type {any} */
let drag = null; // {cards, label, target, x, y}

function start(event) {
  const { clientX: x, clientY: y } = event.originalEvent;
  const cards = affected(event.item);
  for (const card of cards) card.classList.add("carried");
  document.documentElement.classList.add("dragging");
  drag = { cards, label: labelOf(cards, x, y), target: null, x, y };
  document.addEventListener("pointermove", follow);
  document.addEventListener("scroll", aim, { passive: true });
}

// In place of a copy of the card: its title, and what letting go would do.
function labelOf(cards, x, y) {
  const { ghost } = Sortable;
  const name = document.createElement("b");
  name.textContent = cards.length === 1 ? titleOf(cards[0]) : `${cards.length} tasks`;
  const label = document.createElement("span");
  label.className = "quiet small";
  if (!ghost) return label;
  ghost.className = "ghost";
  ghost.replaceChildren(name, label);
  Object.assign(ghost.style, { left: `${x + 14}px`, top: `${y + 10}px`, width: "auto", height: "auto", opacity: "1" });
  return label;
}

function follow(event) {
  drag.x = event.clientX;
  drag.y = event.clientY;
  aim();
}

// What lies under the pointer: a group, the tray, or a position between two tasks.
function targetUnderPointer() {
  const element = document.elementFromPoint(drag.x, drag.y);
  const group = element?.closest("[data-drop-group]");
  if (group) return groupTarget(group.dataset.dropGroup, [group]);
  const fresh = element?.closest("[data-drop-new]");
  if (fresh) return { marks: [fresh], does: "new", text: "into a new group" };
  const tray = element?.closest("[data-tray]");
  if (tray) return { marks: [tray], does: "take_out", text: "out of the episode" };
  const card = element?.closest(".slots") && cardOf(element);
  if (card?.dataset.group && !drag.cards.includes(card)) {
    const name = card.dataset.group;
    return groupTarget(
      name,
      placed().filter((one) => one.dataset.group === name),
    );
  }
  return positionTarget();
}

function groupTarget(name, marks) {
  return { marks, does: "group", group: name, text: name ? `into the group ${name}` : "out of its group" };
}

function positionTarget() {
  const box = lane()?.getBoundingClientRect();
  if (!box || drag.y < box.top - 30 || drag.y > box.bottom + 30 || drag.x < box.left - 60 || drag.x > box.right + 60)
    return null;
  const before = placed()
    .filter((card) => !drag.cards.includes(card))
    .find((card) => {
      const { top, height } = card.getBoundingClientRect();
      return drag.y < top + height / 2;
    });
  return { marks: [], does: "move", before: before ?? null, text: before ? `before ${titleOf(before)}` : "to the end" };
}

function aim() {
  clearMarks();
  drag.target = targetUnderPointer();
  line(drag.target?.does === "move" ? drag.target.before : undefined);
  for (const mark of drag.target?.marks ?? []) mark.setAttribute("data-target", "");
  drag.label.textContent = drag.target?.text ?? "not here";
}

function clearMarks() {
  for (const mark of document.querySelectorAll("[data-target]")) mark.removeAttribute("data-target");
}

function end() {
  document.removeEventListener("pointermove", follow);
  document.removeEventListener("scroll", aim);
  document.documentElement.classList.remove("dragging");
  clearMarks();
  line();
  const { cards, target } = drag;
  drag = null;
  for (const card of cards) card.classList.remove("carried");
  drop(cards, target);
}

function drop(cards, target) {
  if (!target) return announce("Put back.");
  if (target.does === "move") {
    const next = placed()[placed().indexOf(cards.at(-1)) + 1] ?? null;
    if (cards.length === 1 && isPlaced(cards[0]) && next === target.before) return;
    return step("move", cards, { place: target.before?.dataset.task ?? "end" });
  }
  if (target.does === "new") {
    for (const card of cards) card.querySelector(".pick").checked = true;
    document.dispatchEvent(new Event("board:selected"));
    return document.querySelector(".bar [name=group]").focus();
  }
  if (target.does === "take_out") return step("take_out", cards);
  return step(target.group ? "group" : "ungroup", cards, { group: target.group });
}

// A finger scrolls the board unless it is on a handle; with a modifier key a card is selected.
const startsNoDrag = (event) =>
  event.ctrlKey ||
  event.shiftKey ||
  event.metaKey ||
  ((event.pointerType ?? "mouse") !== "mouse" && !event.target.closest(".grip"));

function makeDraggable() {
  for (const list of document.querySelectorAll("#board [data-lane], #board [data-tray] > ul"))
    Sortable.create(list, {
      draggable: "[data-task]",
      handle: ".grip, a.card",
      filter: startsNoDrag,
      preventOnFilter: false,
      sort: false, // the server answers with the new order
      forceFallback: true, // the browser's own drag and drop knows no fingers
      fallbackOnBody: true,
      fallbackTolerance: FAR_ENOUGH,
      onStart: start,
      onEnd: end,
    });
}

document.addEventListener(
  "keydown",
  (event) => {
    if (!drag || event.key !== "Escape") return;
    event.preventDefault();
    event.stopImmediatePropagation();
    drag.target = null;
    document.dispatchEvent(new PointerEvent("pointercancel")); // SortableJS has no call that ends a drag
  },
  true,
);
document.addEventListener("board:replaced", makeDraggable);
makeDraggable();
