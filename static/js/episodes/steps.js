// Sends steps without leaving the page. The answer is the board after the step, with the reason if it was rejected.
import { announce, board, cardOf, linkOf, placed, selected } from "./cards.js";

let busy = false;

// After it the focus is at the moved card, or where it was.
async function post(data, moved) {
  if (busy) return;
  busy = true;
  const focused = document.activeElement;
  const stays = moved?.id || focused?.id || linkOf(cardOf(focused))?.id;
  const key = focused?.dataset?.key;
  board().setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(document.querySelector("#arrange").action, {
      method: "POST",
      body: data,
      headers: { "X-Requested-With": "fetch" },
    });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.querySelector("#board");
    if (!fresh) throw new Error("no board came back");
    board().replaceWith(document.adoptNode(fresh));
    window.htmx?.process(fresh);
    document.dispatchEvent(new Event("board:replaced"));
    const told = page.querySelector("#messages");
    if (told) document.querySelector("#messages").replaceChildren(...told.childNodes);
    if (answer.ok && answer.redirected) history.replaceState(history.state, "", answer.url);
    show(stays, key, Boolean(moved));
  } catch {
    announce("");
    announce("The server could not be reached. Nothing was changed; try again.");
    complain();
  } finally {
    busy = false;
    board().removeAttribute("aria-busy");
  }
}

function show(stays, key, isMoved) {
  const refusal = document.querySelector("#board .refusal");
  if (refusal) {
    announce("");
    (refusal.querySelector("button") ?? refusal).focus({ preventScroll: true });
    return refusal.scrollIntoView({ block: "nearest" });
  }
  const there =
    document.getElementById(stays) ??
    document.querySelector(key ? `[data-key="${CSS.escape(key)}"]` : "#board [data-open] .card");
  const place = isMoved ? placed().indexOf(cardOf(there)) + 1 : 0;
  const where = place ? ` Now at position ${place} of ${placed().length}.` : "";
  announce((document.querySelector("#messages .message span")?.textContent ?? "") + where);
  there?.focus({ preventScroll: true });
  cardOf(there)?.scrollIntoView({ block: "nearest" });
}

function complain() {
  const note = document.createElement("div");
  note.className = "message error";
  note.textContent = "The server could not be reached. Nothing was changed; try again.";
  document.querySelector("#messages").replaceChildren(note);
}

// Sends one step for these cards, based on the order that the page shows.
export function step(does, cards, more = {}) {
  const data = new FormData(document.querySelector("#arrange"));
  for (const name of ["task", "place", "group"]) data.delete(name);
  data.set("does", does);
  for (const card of cards) data.append("task", card.dataset.task);
  for (const [name, value] of Object.entries(more)) data.set(name, value);
  return post(data, linkOf(cards[0]));
}

document.addEventListener("submit", (event) => {
  const form = event.target.closest("form[data-step]");
  if (!form || event.submitter?.hasAttribute("data-full-page")) return;
  event.preventDefault();
  post(new FormData(form, event.submitter));
});

document.addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== "z") return;
  if (event.target.closest("input:not([type=checkbox]), textarea, select")) return;
  const button = document.querySelector(`#board button[name=does][value=${event.shiftKey ? "redo" : "undo"}]`);
  if (!button || button.disabled) return;
  event.preventDefault();
  button.click();
});

// The selection survives opening another card beside the board.
let kept = [];
document.addEventListener("htmx:beforeSwap", () => (kept = selected().map((card) => card.dataset.task)));
document.addEventListener("htmx:afterSwap", () => {
  for (const key of kept) {
    const box = document.querySelector(`[data-task="${key}"] .pick`);
    if (box) box.checked = true;
  }
  kept = [];
  document.dispatchEvent(new Event("board:selected"));
  document.dispatchEvent(new Event("board:replaced"));
});
