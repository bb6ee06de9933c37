// Suggestions of a model: after a decision the focus stays where it was, and the menu that asked closes.
let held = null;

document.addEventListener("htmx:beforeSwap", (event) => {
  const panel = event.target.closest?.("[data-suggestion]");
  held = panel?.contains(document.activeElement) ? panel.id : null;
});

document.addEventListener("htmx:afterSettle", (event) => {
  const place = event.target.closest?.(".assist-place, [data-suggestion]");
  if (!place) return;
  const menu = event.detail.requestConfig?.elt.closest("details.assist-menu[open]");
  if (menu) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
  if (!held) return;
  const panel = document.getElementById(held) ?? place.querySelector("[data-suggestion]");
  held = null;
  (panel?.querySelector("button") ?? panel)?.focus();
});
