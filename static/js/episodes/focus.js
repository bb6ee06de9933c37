// Opening a task beside the board draws the board anew. After `j` and `k` the focus goes to the card that is open now, so
// that Space and the arrows act on what one sees as selected; so it does if what had the focus is gone. Keys pressed
// while the board is on its way take effect after it: its new links are not htmx's before it has settled.
const STEPS = "#detail [data-key=j], #detail [data-key=k]";

/** @type {XMLHttpRequest | null} */
let underWay = null;
let byKey = false;
/** @type {string[]} */
let waiting = [];

function stop() {
  underWay = null;
  byKey = false;
  waiting = [];
}

document.addEventListener(
  "click",
  (event) => {
    const link = event.target.closest?.(STEPS);
    if (!link || !underWay) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    waiting.push(link.dataset.key);
  },
  true,
);
document.addEventListener("htmx:beforeRequest", (event) => {
  const { elt, target, xhr } = event.detail;
  if (target?.id !== "board") return;
  underWay = xhr;
  byKey = elt.matches(STEPS);
});
document.addEventListener("htmx:afterRequest", (event) => {
  const { successful, xhr } = event.detail;
  if (xhr !== underWay) return;
  if (!successful) return stop();
  setTimeout(() => xhr === underWay && stop(), 1000); // an answer without a board settles nowhere
});
document.addEventListener("htmx:afterSettle", (event) => {
  if (event.detail.xhr !== underWay) return;
  const isLost = document.activeElement === document.body;
  const card = document.querySelector("#board [data-open] .card");
  if (byKey || isLost) {
    card?.focus({ preventScroll: true });
    card?.scrollIntoView({ block: "nearest" });
  }
  const [next, ...rest] = waiting;
  stop();
  if (!next) return;
  document.querySelector(`#detail [data-key="${CSS.escape(next)}"]`)?.click();
  if (underWay) waiting = rest;
});
