// The sidebar: open or closed as chosen; without a choice it is open on wide screens.
import { remember } from "./cookies.js";

const wide = window.matchMedia("(width >= 1280px)");
const root = document.documentElement;

const isOpen = () => (root.dataset.rail ? root.dataset.rail === "open" : wide.matches);

function tell() {
  document.querySelector("[data-rail-toggle]")?.setAttribute("aria-expanded", String(isOpen()));
}

document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-rail-toggle]")) return;
  root.dataset.rail = isOpen() ? "closed" : "open";
  remember("rail", root.dataset.rail);
  tell();
});

wide.addEventListener("change", tell);
tell();
