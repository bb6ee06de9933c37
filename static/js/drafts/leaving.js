// What happens to the draft when the page is submitted, discarded or left.
import { markSaved } from "../shared/unsaved.js";
import { hasUnsaved } from "./autosave_state.js";
import { firstConflict, showFirstConflict } from "./conflicts.js";
import { form } from "./form.js";
import { forgetLocalCopy, storeLocally } from "./local_copy.js";
import { clearNotice, showFailure } from "./notice.js";
import { showStatus } from "./save_status.js";
import { current, save, state } from "./saving.js";
import { request, sendWhileLeaving } from "./server.js";

export async function submitted(event) {
  if (event.defaultPrevented) return;
  if (event.target === form) return submitForm(event);
  const other = event.target;
  if (other.method === "post" && !other.hasAttribute("hx-post")) return saveBefore(other, event);
}

async function submitForm(event) {
  const button = event.submitter;
  if (button?.matches("[data-discard]")) return discard(event, button);
  if (button?.matches("[data-resolve], [data-undo-discard], [name=do]") || carriesFiles())
    return submitNatively(event, button);
  event.preventDefault();
  if (firstConflict()) {
    showFirstConflict();
    return showStatus("Resolve the conflict first");
  }
  showStatus("Saving…");
  await save({ saveVersion: true });
}

const carriesFiles = () => [...form.querySelectorAll("input[type=file]")].some((input) => input.files.length);

// The copy in this browser stays: the next page forgets it once the server has the text.
async function submitNatively(event, button) {
  storeLocally();
  state.closed = true;
  markSaved(form);
  if (!state.request) return;
  event.preventDefault(); // a request under way must not arrive after this
  await state.request;
  form.requestSubmit(button ?? undefined);
}

// The text is forgotten here once the server has forgotten it.
async function discard(event, button) {
  event.preventDefault();
  if (state.request) await state.request;
  try {
    await request(new URLSearchParams({ discard: "1" }));
  } catch (/** @type {any} */ error) {
    return showFailure(error.reason, { version: false });
  }
  forgetLocalCopy({ forGood: true });
  state.closed = true;
  clearNotice();
  location.assign(button.dataset.discard || location.pathname);
}

// Another form of the page, such as "Submit for review", is about the text that is on the page now.
async function saveBefore(other, event) {
  if (current() === state.stored || state.closed) return;
  event.preventDefault();
  if (state.request) await state.request;
  await save();
  if (state.request) await state.request;
  if (current() !== state.stored) return void showFirstConflict();
  state.closed = true;
  other.requestSubmit(event.submitter ?? undefined);
}

// Should the request arrive after the next page was drawn, that page finds the text in this browser.
export function left() {
  if (state.closed || !hasUnsaved(state, current())) return;
  storeLocally();
  sendWhileLeaving(new URLSearchParams(current()));
}

// The browser asks nothing when the page is left: this browser has the text.
export function beforeLeaving(event) {
  if (carriesFiles()) return;
  if (current() === state.stored || storeLocally()) event.preventDefault();
}
