// static/js/sessions/stops.js
for (let button of document.querySelectorAll("[data-next]")) {
  let stops = [...document.querySelectorAll(`[data-stop="${button.dataset.next}"]`)], at = -1;
  button.hidden = stops.length === 0, button.addEventListener("click", () => {
    at = (at + 1) % stops.length, stops[at].focus({ preventScroll: !0 }), stops[at].scrollIntoView({ block: "center" });
  });
}
