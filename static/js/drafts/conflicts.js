// Both versions of a field that was changed twice. A field is resolved on the page, a row by the server.
import { field, form, formValues, serialize } from "./form.js";
import { replaceValue } from "./merge.js";
import { request } from "./server.js";

export const firstConflict = () => form.querySelector("[data-conflict]");

export function showFirstConflict() {
  const box = firstConflict();
  if (!box) return false;
  box.scrollIntoView({ block: "center" });
  box.focus({ preventScroll: true });
  return true;
}

// Words that lose, those of the page or of `copy`, can be taken back later.
export function keepDiscarded(copy = null) {
  const body = new URLSearchParams(copy ?? serialize(formValues()));
  body.set("keep_discarded", "1");
  return request(body);
}

// Whether the conflict could be resolved here.
export function resolve(button) {
  const box = button.closest("[data-conflict]");
  const input = box.dataset.input && field(box.dataset.input);
  if (button.name === "take") {
    const theirs = box.querySelector("[data-theirs]");
    if (!theirs || !input?.matches("textarea, input:not([type])")) return false;
    keepDiscarded().catch(() => {});
    replaceValue(input, theirs.value);
  }
  form.querySelector(`[data-conflict-link="${CSS.escape(box.dataset.conflict)}"]`)?.remove();
  box.remove();
  if (!firstConflict()) form.querySelector("[data-conflict-summary]").replaceChildren();
  if (!showFirstConflict()) input?.focus();
  return true;
}
