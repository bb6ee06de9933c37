// What happens to the draft when the page is submitted, discarded or left.
import { hasUnsaved } from "./autosave_state.js";
import { firstConflict, showFirstConflict } from "./conflicts.js";
import { form } from "./form.js";
import { forgetLocalCopy, storeLocally } from "./local_copy.js";
import { showStatus } from "./save_status.js";
import { current, save, state } from "./saving.js";
import { sendWhileLeaving } from "./server.js";

// Nothing is saved from here on. The local copy goes before the request is sent.
export function closeDraft() {
  forgetLocalCopy({ forGood: true });
  state.closed = true;
}

export async function submitted(event) {
  if (event.target === form) return submitDraft(event);
  const other = event.target;
  if (other.method === "post" && !other.hasAttribute("hx-post")) return saveBefore(other, event);
}

// The Save button, or another button of the form itself.
async function submitDraft(event) {
  const button = event.submitter;
  const resolving = button?.matches("[data-resolve], [name=do]") ?? false;
  if (!resolving && !button?.matches("[data-discard]") && firstConflict()) {
    event.preventDefault();
    showFirstConflict();
    return showStatus("Resolve the conflict first");
  }
  closeDraft();
  if (!state.request) return;
  event.preventDefault(); // a request under way must not arrive after the save
  await state.request;
  form.requestSubmit(button ?? undefined);
}

// Another form of the page, such as "Submit for review", is about the text that is on the page now.
async function saveBefore(other, event) {
  if ((!state.unversioned && current() === state.stored) || state.closed) return;
  event.preventDefault();
  if (state.request) await state.request;
  await save({ freeze: state.autoVersions });
  if (state.request) await state.request;
  if (state.autoVersions ? state.unversioned : current() !== state.stored) return void showFirstConflict();
  state.closed = true;
  other.requestSubmit(event.submitter ?? undefined);
}

// Should the request arrive after the next page was drawn, that page finds the text in this browser.
export function left() {
  if (state.closed || !hasUnsaved(state, current())) return;
  storeLocally();
  const body = new URLSearchParams(current());
  if (state.autoVersions) body.set("freeze", "1");
  sendWhileLeaving(body);
}
