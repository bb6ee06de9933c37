// Both versions of a field that was changed twice. A field is resolved on the page, a row by the server.
import { form, formValues, serialize } from "./form.js";
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

// The words on the page, which lose, can be taken back later.
function keepDiscarded() {
  const body = new URLSearchParams(serialize(formValues()));
  body.set("keep_discarded", "1");
  request(body).catch(() => {});
}

const fieldsOf = (box) => [...form.querySelectorAll(`[name="${CSS.escape(box.dataset.input)}"]`)];

// Whether the conflict could be resolved here.
export function resolve(button) {
  const box = button.closest("[data-conflict]");
  const inputs = box.dataset.input ? fieldsOf(box) : [];
  const [input] = inputs;
  if (button.name === "take") {
    const theirs = box.querySelector("[data-theirs]");
    const isText = input?.matches("textarea, input:not([type])");
    if (!theirs || !(isText || ("window" in box.dataset && input))) return false;
    if (!("window" in box.dataset)) keepDiscarded();
    if (input.matches("[type=checkbox], [type=radio]"))
      for (const one of inputs) one.checked = theirs.value.split("\n").includes(one.value);
    else replaceValue(input, theirs.value);
  }
  form.querySelector(`[data-conflict-link="${CSS.escape(box.dataset.conflict)}"]`)?.remove();
  box.remove();
  if (!firstConflict()) form.querySelector("[data-conflict-summary]").replaceChildren();
  if (!showFirstConflict()) input?.focus?.();
  return true;
}

// The text as the server stores it: of a field that two windows changed, the other window's until it is resolved.
export function withOtherWindows(params) {
  for (const box of form.querySelectorAll("[data-conflict][data-window]")) {
    params.delete(box.dataset.input);
    params.append(box.dataset.input, box.querySelector("[data-theirs]").value);
  }
  return params.toString();
}
