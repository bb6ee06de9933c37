// Both versions of a field that two people changed. A text field is resolved on the page, anything else by the server.
import { form } from "./form.js";
import { replaceValue } from "./merge.js";

export const firstConflict = () => form.querySelector("[data-conflict]");

export function showFirstConflict() {
  const box = firstConflict();
  if (!box) return false;
  box.scrollIntoView({ block: "center" });
  box.focus({ preventScroll: true });
  return true;
}

// Whether the conflict could be resolved here.
export function resolve(button) {
  const box = button.closest("[data-conflict]");
  const input = box.dataset.input && form.querySelector(`[name="${CSS.escape(box.dataset.input)}"]`);
  if (button.name === "take") {
    const theirs = box.querySelector("[data-theirs]");
    if (!theirs || !input?.matches("textarea, input:not([type])")) return false;
    replaceValue(input, theirs.value);
  }
  form.querySelector(`[data-conflict-link="${CSS.escape(box.dataset.conflict)}"]`)?.remove();
  box.remove();
  if (!firstConflict()) form.querySelector("[data-conflict-summary]").replaceChildren();
  if (!showFirstConflict()) input?.focus?.();
  return true;
}
