// Proposals of the assistant model: after a decision the focus stays where it was and the menu closes.
let held = null;

document.addEventListener("htmx:beforeSwap", (event) => {
  const panel = event.target.closest?.("[data-proposal]");
  held = panel?.contains(document.activeElement) ? panel.id : null;
});

document.addEventListener("htmx:afterSettle", (event) => {
  const place = event.target.closest?.(".assistance-slot, [data-proposal]");
  if (!place) return;
  const menu = event.detail.requestConfig?.elt.closest("details.assistance-menu[open]");
  if (menu) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
  if (!held) return;
  const panel = document.getElementById(held) ?? place.querySelector("[data-proposal]");
  held = null;
  (panel?.querySelector("button") ?? panel)?.focus();
});
