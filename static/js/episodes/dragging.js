// A card dragged: by its handle with anything that points, by the whole card with a mouse.
import { cardOf, isPlaced, lane, line, meant, placed, say, titleOf } from "./cards.js";
import { step } from "./steps.js";

const FAR_ENOUGH = 6;
const EDGE = 72;
/** @type {any} */
let start = null; // where the button went down, before it is a drag
/** @type {any} */
let drag = null;
let wasDragged = false;

function begin(event) {
  const cards = meant(start.card);
  const ghost = document.createElement("div");
  ghost.className = "ghost";
  const name = document.createElement("b");
  name.textContent = cards.length === 1 ? titleOf(cards[0]) : `${cards.length} sessions`;
  const where = document.createElement("span");
  where.className = "quiet small";
  ghost.append(name, where);
  document.body.append(ghost);
  document.documentElement.classList.add("dragging");
  for (const card of cards) card.classList.add("carried");
  drag = { cards, ghost, where, target: null, x: event.clientX, y: event.clientY };
  start.handle.setPointerCapture?.(start.pointer);
  requestAnimationFrame(scroll);
}

function scroll() {
  if (!drag) return;
  const down =
    drag.y > innerHeight - EDGE ? drag.y - (innerHeight - EDGE) : drag.y < EDGE + 40 ? drag.y - (EDGE + 40) : 0;
  if (down) {
    const was = scrollY;
    scrollBy(0, Math.max(-18, Math.min(18, down / 3)));
    if (scrollY !== was) aim();
  }
  requestAnimationFrame(scroll);
}

// What lies under the pointer: a group, the tray, or a place between two sessions.
function under() {
  const element = document.elementFromPoint(drag.x, drag.y);
  const group = element?.closest("[data-drop-group]");
  if (group)
    return {
      marks: [group],
      does: "group",
      group: group.dataset.dropGroup,
      words: group.dataset.dropGroup ? `into the group ${group.dataset.dropGroup}` : "out of its group",
    };
  const fresh = element?.closest("[data-drop-new]");
  if (fresh) return { marks: [fresh], does: "new", words: "into a new group" };
  const tray = element?.closest("[data-tray]");
  if (tray) return { marks: [tray], does: "take_out", words: "out of the episode" };
  const slots = element?.closest(".slots");
  const row = cardOf(element);
  if (slots && row?.dataset.group && !drag.cards.includes(row)) {
    const marks = placed().filter((one) => one.dataset.group === row.dataset.group);
    return { marks, does: "group", group: row.dataset.group, words: `into the group ${row.dataset.group}` };
  }
  const box = lane()?.getBoundingClientRect();
  if (!box || drag.y < box.top - 30 || drag.y > box.bottom + 30 || drag.x < box.left - 60 || drag.x > box.right + 60)
    return null;
  const rest = placed().filter((one) => !drag.cards.includes(one));
  const before = rest.find((one) => {
    const own = one.getBoundingClientRect();
    return drag.y < own.top + own.height / 2;
  });
  return {
    marks: [],
    does: "move",
    before: before ?? null,
    words: before ? `before ${titleOf(before)}` : "to the end",
  };
}

function aim() {
  for (const mark of document.querySelectorAll("[data-target]")) mark.removeAttribute("data-target");
  drag.target = under();
  line(drag.target?.does === "move" ? drag.target.before : undefined);
  for (const mark of drag.target?.marks ?? []) mark.setAttribute("data-target", "");
  drag.where.textContent = drag.target?.words ?? "not here";
  drag.ghost.style.transform = `translate(${drag.x + 14}px, ${drag.y + 10}px)`;
}

function finish() {
  for (const mark of document.querySelectorAll("[data-target]")) mark.removeAttribute("data-target");
  for (const card of drag.cards) card.classList.remove("carried");
  document.documentElement.classList.remove("dragging");
  drag.ghost.remove();
  line();
  const { cards, target } = drag;
  drag = null;
  return { cards, target };
}

function drop() {
  const { cards, target } = finish();
  if (!target) return say("Put back.");
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

document.addEventListener("pointerdown", (event) => {
  if (event.button || !event.isPrimary || event.ctrlKey || event.shiftKey || event.metaKey) return;
  const handle = event.target.closest?.("#board .grip, #board a.card");
  if (!handle || (event.pointerType !== "mouse" && !handle.matches(".grip"))) return;
  start = { card: cardOf(handle), handle, x: event.clientX, y: event.clientY, pointer: event.pointerId };
  wasDragged = false;
});
document.addEventListener("pointermove", (event) => {
  if (!start || event.pointerId !== start.pointer) return;
  if (!drag) {
    if (Math.hypot(event.clientX - start.x, event.clientY - start.y) < FAR_ENOUGH) return;
    begin(event);
  }
  event.preventDefault();
  drag.x = event.clientX;
  drag.y = event.clientY;
  aim();
});
document.addEventListener("pointerup", () => {
  wasDragged = Boolean(drag);
  start = null;
  if (drag) drop();
});
document.addEventListener("pointercancel", () => {
  start = null;
  if (drag) finish();
});
document.addEventListener(
  "keydown",
  (event) => {
    if (!drag || event.key !== "Escape") return;
    event.preventDefault();
    event.stopImmediatePropagation();
    start = null;
    wasDragged = true;
    finish();
    say("Put back.");
  },
  true,
);
document.addEventListener(
  "click",
  (event) => {
    if (!wasDragged) return;
    wasDragged = false; // the click that ends a drag opens nothing
    event.preventDefault();
    event.stopPropagation();
  },
  true,
);
