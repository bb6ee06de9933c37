import { remember } from "./cookies.js";

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-rail-toggle]");
  if (!button) return;
  const open = document.documentElement.dataset.rail !== "open";
  document.documentElement.dataset.rail = open ? "open" : "";
  button.setAttribute("aria-expanded", String(open));
  remember("rail", open ? "open" : "");
});
