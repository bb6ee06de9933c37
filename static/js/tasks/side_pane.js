// The side pane: one of its tabs at a time; the guide follows the field in focus.
import { go } from "../drafts/form.js";

const pane = document.querySelector("[data-pane]");
const isBelow = () => matchMedia("(max-width: 900px)").matches;

export function show(name) {
  for (const tab of pane.querySelectorAll("[data-tab]")) {
    if (tab.dataset.tab === name) tab.setAttribute("aria-current", "true");
    else tab.removeAttribute("aria-current");
  }
  for (const body of pane.querySelectorAll("[data-tab-body]")) body.hidden = body.dataset.tabBody !== name;
  if (name && name !== "review") sessionStorage.setItem("studio:pane", name);
}

function guide(part) {
  for (const one of pane.querySelectorAll("[data-guide-of]")) {
    one.open = one.dataset.guideOf === part;
  }
}

if (pane) {
  pane.classList.add("tabbed");
  // In a review its checklist is shown first, whatever was open at the last task.
  const kept = pane.querySelector("[data-tab=review]") ? "review" : sessionStorage.getItem("studio:pane");
  // Where the pane is not beside the text but below it, findings stand in the text, and the pane waits for a tap.
  const below = kept !== "review" && isBelow();
  show(below ? "" : pane.querySelector(`[data-tab="${CSS.escape(kept ?? "")}"]`) ? kept : "findings");
  pane.addEventListener("click", (event) => {
    const tab = event.target.closest("[data-tab]");
    if (!tab) return;
    event.preventDefault();
    show(tab.dataset.tab);
  });
  document.addEventListener("focusin", (event) => {
    const part = event.target.closest?.("#task section[data-guide]")?.dataset.guide;
    if (part) guide(part);
  });
}

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-open-tab]");
  if (opener) {
    event.preventDefault();
    opener.closest("details").open = false;
    show(opener.dataset.openTab);
    const tab = pane.querySelector(`[data-tab="${opener.dataset.openTab}"]`);
    tab.scrollIntoView({ block: isBelow() ? "start" : "nearest" });
    tab.focus();
  }
  const link = event.target.closest("[data-goto]");
  if (link && go(link.dataset.goto)) event.preventDefault();
});

// A folded part opens for whoever goes to it.
const unfold = (hash) => hash && document.querySelector(`${hash} > [data-unfolds]`)?.setAttribute("open", "");
document.addEventListener("click", (event) => unfold(event.target.closest(".outline a[data-part]")?.hash));
if (/^#\w+$/.test(location.hash)) unfold(location.hash);
