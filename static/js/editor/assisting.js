// Suggestions of a model: after a decision the focus stays where it was, and a menu that asked closes.
let held = null;

document.addEventListener("htmx:beforeSwap", (event) => {
  const panel = event.target.closest?.("[data-suggestion]");
  held = panel?.contains(document.activeElement) ? panel.id : null;
});

document.addEventListener("htmx:afterSettle", (event) => {
  const place = event.target.closest?.(".assist-place, [data-suggestion]");
  if (!place) return;
  for (const menu of document.querySelectorAll("details.assist-menu[open]")) menu.open = false;
  if (!held) return;
  const panel = document.getElementById(held) ?? place.querySelector("[data-suggestion]");
  held = null;
  (panel?.querySelector("button") ?? panel)?.focus();
});
