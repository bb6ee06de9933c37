// Both versions of a place, of which one stays. Where a text field has its words, that happens here; else the studio is
// asked for the page.
import { form } from "./form.js";
import { put } from "./merge.js";

export const undecided = () => form.querySelector("[data-conflict]");

// Brings the first that waits for an answer into view.
export function lead() {
  const box = undecided();
  if (!box) return false;
  box.scrollIntoView({ block: "center" });
  box.focus({ preventScroll: true });
  return true;
}

export function choose(button) {
  const box = button.closest("[data-conflict]");
  const input = box.dataset.input && form.querySelector(`[name="${CSS.escape(box.dataset.input)}"]`);
  if (button.name === "take") {
    const theirs = box.querySelector("[data-theirs]");
    if (!theirs || !input?.matches("textarea, input:not([type])")) return false;
    put(input, theirs.value);
  }
  form.querySelector(`[data-conflict-link="${CSS.escape(box.dataset.conflict)}"]`)?.remove();
  box.remove();
  if (!undecided()) form.querySelector("[data-conflict-summary]").replaceChildren();
  if (!lead()) input?.focus?.();
  return true;
}
