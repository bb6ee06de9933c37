// Text that earlier windows of this page left in this browser is saved to the draft when the page is opened.
import { firstConflict, keepDiscarded } from "./conflicts.js";
import { localCopies, storeLocally } from "./local_copy.js";
import { clearNotice, offerTexts, showFailure } from "./notice.js";
import { showSaved, showStatus } from "./save_status.js";
import { current, receive, state } from "./saving.js";
import { sendDraft, version } from "./server.js";

async function restore(copy, keepMine = false) {
  const before = current();
  const body = new URLSearchParams(copy.words);
  body.set("render", "1");
  if (keepMine) body.set("keep_mine", "1");
  try {
    const answer = await sendDraft(body, { number: body.get("base_draft") ?? "0", from: copy.from });
    if (answer.elsewhere) return chooseText(copy);
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

function chooseText(copy) {
  const answered = (act) => async () => {
    clearNotice();
    await act();
    restoreAll(localCopies());
  };
  offerTexts("You typed something else in another window of this page, and it has not been sent yet.", [
    ["Use it", answered(() => restore(copy, true))],
    ["Keep what is shown", answered(() => keepDiscarded(copy.words).then(copy.forget, () => {}))],
  ]);
  return false;
}

// One after another: after a conflict or a question the others wait.
export async function restoreAll(copies) {
  for (const copy of copies) if (!(await restore(copy)) || firstConflict()) return;
}
