import { remember } from "./cookies.js";

const WORDS = { "": "Theme: system", light: "Theme: light", dark: "Theme: dark" };
const ORDER = ["", "light", "dark"];

function show(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  for (const button of document.querySelectorAll("[data-theme-toggle]")) {
    button.title = WORDS[theme];
    const name = button.querySelector(".name");
    if (name) name.textContent = WORDS[theme];
  }
}

document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-theme-toggle]")) return;
  const now = document.documentElement.dataset.theme ?? "";
  const next = ORDER[(ORDER.indexOf(now) + 1) % ORDER.length];
  remember("theme", next);
  show(next);
});
