import {
  singleKeysWork
} from "../chunks/chunk-WYHAFNNV.js";

// static/js/episodes/cards.js
var board = () => document.querySelector("#board"), lane = () => document.querySelector("[data-lane]"), cardsIn = (place) => [...place?.querySelectorAll("[data-task]") ?? []], placed = () => cardsIn(lane()), allCards = () => cardsIn(board()), cardOf = (element) => element?.closest?.("[data-task]") ?? null, linkOf = (card) => card?.querySelector(".card"), isPlaced = (card) => "number" in card.dataset, selected = () => allCards().filter((card) => card.querySelector(".pick")?.checked), titleOf = (card) => (card.dataset.number ? `${card.dataset.number.padStart(2, "0")} ` : "") + card.dataset.title;
function affected(card) {
  let cards = selected();
  return cards.includes(card) ? cards : [card];
}
var describe = (cards) => cards.length === 1 ? `“${titleOf(cards[0])}”` : `${cards.length} tasks`;
function announce(text) {
  let region = document.querySelector("#board-status");
  region && (region.textContent = text);
}
function line(before) {
  document.querySelector(".drop-line")?.remove();
  let list = lane();
  if (before === void 0 || !list) return null;
  let mark = document.createElement("li");
  return mark.className = "drop-line", mark.setAttribute("aria-hidden", "true"), mark.style.top = `${before ? before.offsetTop : list.offsetHeight}px`, list.append(mark), mark;
}

// static/js/episodes/selection.js
var anchor = null;
function showCount() {
  let number = selected().length, place = board()?.querySelector("[data-count]");
  return place && (place.textContent = `${number} selected`), number;
}
function select(card, on) {
  let box = card.querySelector(".pick");
  box && (box.checked = on);
}
function selectTo(card) {
  let cards = allCards(), from = Math.max(
    0,
    cards.findIndex((one) => one.dataset.task === anchor)
  ), to = cards.indexOf(card);
  for (let [place, one] of cards.entries()) select(one, place >= Math.min(from, to) && place <= Math.max(from, to));
}
function selectNone() {
  for (let card of selected()) select(card, !1);
  showCount();
}
document.addEventListener(
  "click",
  (event) => {
    let link = event.target.closest?.("#board a.card");
    if (link && (event.ctrlKey || event.metaKey || event.shiftKey)) {
      event.preventDefault(), event.stopPropagation();
      let card = cardOf(link);
      return event.shiftKey ? selectTo(card) : (select(card, !card.querySelector(".pick").checked), anchor = card.dataset.task), link.focus(), showCount();
    }
    link && (anchor = cardOf(link).dataset.task), event.target.closest?.("[data-select-none]") && selectNone();
    let group = event.target.closest?.("[data-select]");
    if (group) {
      let wanted = group.dataset.select.split(" ");
      for (let card of allCards()) select(card, wanted.includes(card.dataset.task));
      group.closest("details").open = !1, showCount();
    }
  },
  !0
);
document.addEventListener("change", (event) => {
  event.target.matches?.("#board .pick") && (event.target.checked && (anchor = cardOf(event.target).dataset.task), showCount());
});
document.addEventListener("board:selected", showCount);
document.addEventListener(
  "keydown",
  (event) => {
    let card = cardOf(event.target);
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "m" && singleKeysWork() && !selected().length && !event.target.closest("input:not(.pick), textarea, select")) {
      let one = card ?? document.querySelector("#board [data-open]");
      one && select(one, !0), showCount();
      return;
    }
    if (event.key === "Escape" && selected().length && !event.target.closest("input:not(.pick), textarea, select, details[open], dialog"))
      return event.preventDefault(), selectNone(), announce("Nothing selected.");
    if (!card) return;
    if (event.key === "x" && singleKeysWork())
      return event.preventDefault(), select(card, !card.querySelector(".pick").checked), anchor = card.dataset.task, announce(`${showCount()} selected.`);
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    let cards = allCards(), next = cards[cards.indexOf(card) + (event.key === "ArrowDown" ? 1 : -1)];
    next && (event.preventDefault(), event.shiftKey && (selected().length || (anchor = card.dataset.task), selectTo(next), announce(`${showCount()} selected.`)), linkOf(next).focus());
  },
  !0
);

// static/js/episodes/steps.js
var busy = !1;
async function post(data) {
  if (busy) return;
  busy = !0;
  let focused = document.activeElement, stays = focused?.id || linkOf(cardOf(focused))?.id, key = focused?.dataset?.key;
  board().setAttribute("aria-busy", "true");
  try {
    let answer = await fetch(document.querySelector("#arrange").action, {
      method: "POST",
      body: data,
      headers: { "X-Requested-With": "fetch" }
    }), page = new DOMParser().parseFromString(await answer.text(), "text/html"), fresh = page.querySelector("#board");
    if (!fresh) throw new Error("no board came back");
    board().replaceWith(document.adoptNode(fresh)), window.htmx?.process(fresh), document.dispatchEvent(new Event("board:replaced"));
    let told = page.querySelector("#messages");
    told && document.querySelector("#messages").replaceChildren(...told.childNodes), answer.ok && answer.redirected && history.replaceState(history.state, "", answer.url), show(stays, key);
  } catch {
    announce(""), announce("The server could not be reached. Nothing was changed; try again."), complain();
  } finally {
    busy = !1, board().removeAttribute("aria-busy");
  }
}
function show(stays, key) {
  let refusal = document.querySelector("#board .refusal");
  if (refusal)
    return announce(""), (refusal.querySelector("button") ?? refusal).focus({ preventScroll: !0 }), refusal.scrollIntoView({ block: "nearest" });
  announce(document.querySelector("#messages .message span")?.textContent ?? "");
  let there = document.getElementById(stays) ?? document.querySelector(key ? `[data-key="${CSS.escape(key)}"]` : "#board [data-open] .card");
  there?.focus({ preventScroll: !0 }), cardOf(there)?.scrollIntoView({ block: "nearest" });
}
function complain() {
  let note = document.createElement("div");
  note.className = "message error", note.textContent = "The server could not be reached. Nothing was changed; try again.", document.querySelector("#messages").replaceChildren(note);
}
function step(does, cards, more = {}) {
  let data = new FormData(document.querySelector("#arrange"));
  for (let name of ["task", "place", "group"]) data.delete(name);
  data.set("does", does);
  for (let card of cards) data.append("task", card.dataset.task);
  for (let [name, value] of Object.entries(more)) data.set(name, value);
  return post(data);
}
document.addEventListener("submit", (event) => {
  let form = event.target.closest("form[data-step]");
  !form || event.submitter?.hasAttribute("data-full-page") || (event.preventDefault(), post(new FormData(form, event.submitter)));
});
document.addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== "z" || event.target.closest("input:not([type=checkbox]), textarea, select")) return;
  let button = document.querySelector(`#board button[name=does][value=${event.shiftKey ? "redo" : "undo"}]`);
  !button || button.disabled || (event.preventDefault(), button.click());
});
var kept = [];
document.addEventListener("htmx:beforeSwap", () => kept = selected().map((card) => card.dataset.task));
document.addEventListener("htmx:afterSwap", () => {
  for (let key of kept) {
    let box = document.querySelector(`[data-task="${key}"] .pick`);
    box && (box.checked = !0);
  }
  kept = [], document.dispatchEvent(new Event("board:selected")), document.dispatchEvent(new Event("board:replaced"));
});

// static/js/episodes/keyboard.js
var carried = null, outside = () => carried.rest.length + 1;
function pickUp(card) {
  let cards = affected(card), rest = placed().filter((one) => !cards.includes(one)), first = placed().find((one) => cards.includes(one)), after = placed().slice(0, placed().indexOf(first)).filter((one) => rest.includes(one));
  carried = { cards, rest, place: first ? after.length : rest.length + 1, card }, carried.from = carried.place;
  for (let one of cards) one.classList.add("carried");
  show2(`Picked up ${describe(cards)}. Arrow keys move it, Space drops it, Esc cancels. `);
}
function show2(first = "") {
  let { rest, place } = carried, out = place === outside(), mark = line(out ? void 0 : rest[place] ?? null);
  document.querySelector("[data-tray]")?.toggleAttribute("data-target", out);
  let where = out ? "Out of the episode" : rest[place] ? `Before “${titleOf(rest[place])}”, position ${place + 1}` : `At the end, position ${place + 1}`;
  announce(`${first}${where}.`), (mark ?? document.querySelector("[data-tray]"))?.scrollIntoView({ block: "center" });
}
function release() {
  line(), document.querySelector("[data-tray]")?.removeAttribute("data-target");
  for (let one of carried.cards) one.classList.remove("carried");
  carried = null;
}
function drop() {
  let { cards, rest, place, from } = carried, out = place === outside();
  if (release(), place === from && cards.length === 1) return announce("Nothing moved.");
  out ? step("take_out", cards) : step("move", cards, { place: rest[place]?.dataset.task ?? "end" });
}
function carry(event) {
  let keys = { ArrowUp: carried.place - 1, ArrowDown: carried.place + 1, Home: 0, End: carried.rest.length };
  if (event.key in keys)
    carried.place = Math.max(0, Math.min(outside(), keys[event.key])), show2();
  else if (event.key === " " || event.key === "Enter") drop();
  else if (event.key === "Escape") {
    let { card } = carried;
    release(), linkOf(card).focus(), linkOf(card).scrollIntoView({ block: "nearest" }), announce("Put back.");
  } else return event.key === "Tab" ? release() : void 0;
  event.preventDefault(), event.stopImmediatePropagation();
}
document.addEventListener(
  "keydown",
  (event) => {
    if (carried) return carry(event);
    let card = cardOf(event.target);
    !card || !event.target.closest(".card, .grip") || event.ctrlKey || event.metaKey || (event.altKey && ["ArrowUp", "ArrowDown"].includes(event.key) && isPlaced(card) ? (event.preventDefault(), linkOf(card).focus(), step(event.key === "ArrowUp" ? "earlier" : "later", affected(card))) : event.key === " " && !event.altKey && lane() && (event.preventDefault(), event.stopImmediatePropagation(), pickUp(card)));
  },
  !0
);
document.addEventListener("keyup", (event) => {
  event.key === " " && event.target.closest?.(".grip") && event.preventDefault();
});
document.addEventListener("focusout", (event) => {
  carried && event.relatedTarget && !cardOf(event.relatedTarget) && release();
});

// static/js/episodes/dragging.js
import "../../vendor/sortablejs/Sortable.min.js";
var Sortable = window.Sortable, FAR_ENOUGH = 6, drag = null;
function start(event) {
  let { clientX: x, clientY: y } = event.originalEvent, cards = affected(event.item);
  for (let card of cards) card.classList.add("carried");
  document.documentElement.classList.add("dragging"), drag = { cards, label: labelOf(cards, x, y), target: null, x, y }, document.addEventListener("pointermove", follow), document.addEventListener("scroll", aim, { passive: !0 });
}
function labelOf(cards, x, y) {
  let { ghost } = Sortable, name = document.createElement("b");
  name.textContent = cards.length === 1 ? titleOf(cards[0]) : `${cards.length} tasks`;
  let label = document.createElement("span");
  return label.className = "quiet small", ghost && (ghost.className = "ghost", ghost.replaceChildren(name, label), Object.assign(ghost.style, { left: `${x + 14}px`, top: `${y + 10}px`, width: "auto", height: "auto", opacity: "1" })), label;
}
function follow(event) {
  drag.x = event.clientX, drag.y = event.clientY, aim();
}
function targetUnderPointer() {
  let element = document.elementFromPoint(drag.x, drag.y), group = element?.closest("[data-drop-group]");
  if (group) return groupTarget(group.dataset.dropGroup, [group]);
  let fresh = element?.closest("[data-drop-new]");
  if (fresh) return { marks: [fresh], does: "new", text: "into a new group" };
  let tray = element?.closest("[data-tray]");
  if (tray) return { marks: [tray], does: "take_out", text: "out of the episode" };
  let card = element?.closest(".slots") && cardOf(element);
  if (card?.dataset.group && !drag.cards.includes(card)) {
    let name = card.dataset.group;
    return groupTarget(
      name,
      placed().filter((one) => one.dataset.group === name)
    );
  }
  return positionTarget();
}
function groupTarget(name, marks) {
  return { marks, does: "group", group: name, text: name ? `into the group ${name}` : "out of its group" };
}
function positionTarget() {
  let box = lane()?.getBoundingClientRect();
  if (!box || drag.y < box.top - 30 || drag.y > box.bottom + 30 || drag.x < box.left - 60 || drag.x > box.right + 60)
    return null;
  let before = placed().filter((card) => !drag.cards.includes(card)).find((card) => {
    let { top, height } = card.getBoundingClientRect();
    return drag.y < top + height / 2;
  });
  return { marks: [], does: "move", before: before ?? null, text: before ? `before ${titleOf(before)}` : "to the end" };
}
function aim() {
  clearMarks(), drag.target = targetUnderPointer(), line(drag.target?.does === "move" ? drag.target.before : void 0);
  for (let mark of drag.target?.marks ?? []) mark.setAttribute("data-target", "");
  drag.label.textContent = drag.target?.text ?? "not here";
}
function clearMarks() {
  for (let mark of document.querySelectorAll("[data-target]")) mark.removeAttribute("data-target");
}
function end() {
  document.removeEventListener("pointermove", follow), document.removeEventListener("scroll", aim), document.documentElement.classList.remove("dragging"), clearMarks(), line();
  let { cards, target } = drag;
  drag = null;
  for (let card of cards) card.classList.remove("carried");
  drop2(cards, target);
}
function drop2(cards, target) {
  if (!target) return announce("Put back.");
  if (target.does === "move") {
    let next = placed()[placed().indexOf(cards.at(-1)) + 1] ?? null;
    return cards.length === 1 && isPlaced(cards[0]) && next === target.before ? void 0 : step("move", cards, { place: target.before?.dataset.task ?? "end" });
  }
  if (target.does === "new") {
    for (let card of cards) card.querySelector(".pick").checked = !0;
    return document.dispatchEvent(new Event("board:selected")), document.querySelector(".bar [name=group]").focus();
  }
  return target.does === "take_out" ? step("take_out", cards) : step(target.group ? "group" : "ungroup", cards, { group: target.group });
}
var startsNoDrag = (event) => event.ctrlKey || event.shiftKey || event.metaKey || (event.pointerType ?? "mouse") !== "mouse" && !event.target.closest(".grip");
function makeDraggable() {
  for (let list of document.querySelectorAll("#board [data-lane], #board [data-tray] > ul"))
    Sortable.create(list, {
      draggable: "[data-task]",
      handle: ".grip, a.card",
      filter: startsNoDrag,
      preventOnFilter: !1,
      sort: !1,
      // the server answers with the new order
      forceFallback: !0,
      // the browser's own drag and drop knows no fingers
      fallbackOnBody: !0,
      fallbackTolerance: FAR_ENOUGH,
      onStart: start,
      onEnd: end
    });
}
document.addEventListener(
  "keydown",
  (event) => {
    !drag || event.key !== "Escape" || (event.preventDefault(), event.stopImmediatePropagation(), drag.target = null, document.dispatchEvent(new PointerEvent("pointercancel")));
  },
  !0
);
document.addEventListener("board:replaced", makeDraggable);
makeDraggable();
