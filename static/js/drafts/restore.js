// Text that earlier windows of this page left in this browser is saved to the draft when the page is opened.
import { firstConflict } from "./conflicts.js";
import { storeLocally } from "./local_copy.js";
import { showFailure } from "./notice.js";
import { showSaved, showStatus } from "./save_status.js";
import { current, receive, state } from "./saving.js";
import { sendDraft, version } from "./server.js";

async function restore(copy) {
  const before = current();
  const body = new URLSearchParams(copy.words);
  body.set("render", "1");
  try {
    const answer = await sendDraft(body, { base: copy.base ?? "", number: body.get("base_draft") ?? "0" });
    state.unversioned = true;
    receive(answer, before);
    copy.forget();
    if (current() !== state.stored) storeLocally();
    state.savedAt = Date.now();
    if (answer.versioned) showSaved(state, version());
    else showStatus(`Unsaved changes restored · v${version()}`);
    return true;
  } catch (/** @type {any} */ error) {
    state.failing = true;
    showFailure(error.reason ?? "broken", { version: false });
    return false;
  }
}

// Each copy is merged with the one before; after a conflict the others wait until it is resolved.
export async function restoreAll(copies) {
  for (const copy of copies) if (!(await restore(copy)) || firstConflict()) return;
}
