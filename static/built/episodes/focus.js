// static/js/episodes/focus.js
var STEPS = "#detail [data-key=j], #detail [data-key=k]", underWay = null, byKey = !1, waiting = [];
function stop() {
  underWay = null, byKey = !1, waiting = [];
}
document.addEventListener(
  "click",
  (event) => {
    let link = event.target.closest?.(STEPS);
    !link || !underWay || (event.preventDefault(), event.stopImmediatePropagation(), waiting.push(link.dataset.key));
  },
  !0
);
document.addEventListener("htmx:beforeRequest", (event) => {
  let { elt, target, xhr } = event.detail;
  target?.id === "board" && (underWay = xhr, byKey = elt.matches(STEPS));
});
document.addEventListener("htmx:afterRequest", (event) => {
  let { successful, xhr } = event.detail;
  if (xhr === underWay) {
    if (!successful) return stop();
    setTimeout(() => xhr === underWay && stop(), 1e3);
  }
});
document.addEventListener("htmx:afterSettle", (event) => {
  if (event.detail.xhr !== underWay) return;
  let isLost = document.activeElement === document.body, card = document.querySelector("#board [data-open] .card");
  (byKey || isLost) && (card?.focus({ preventScroll: !0 }), card?.scrollIntoView({ block: "nearest" }));
  let [next, ...rest] = waiting;
  stop(), next && (document.querySelector(`#detail [data-key="${CSS.escape(next)}"]`)?.click(), underWay && (waiting = rest));
});
