// Text that earlier windows of this page left in this browser is saved to the draft when the page is opened.
import { showFailure, showSaved, showStatus } from "./save_status.js";
import { current, receive, save, scheduleVersion, state } from "./saving.js";
import { request, version } from "./server.js";

async function restore(copy) {
  const before = current();
  const body = new URLSearchParams(copy.words);
  body.set("render", "1");
  try {
    const answer = await request(body);
    state.unversioned = true;
    receive(answer, before);
    copy.forget();
    state.savedAt = Date.now();
    if (answer.froze) showSaved(state, version());
    else showStatus(`Unsaved changes restored · v${version()}`);
    if (state.unversioned) scheduleVersion();
  } catch {
    state.failing = true;
    showFailure();
  }
}

// Each of several copies is rebased on a version made of the one before; where versions are only made with the button,
// the newest copy wins.
export async function restoreAll(copies) {
  for (const copy of copies) {
    const last = copy === copies.at(-1);
    if (!last && !state.autoVersions) {
      copy.forget();
      continue;
    }
    await restore(copy);
    if (!last && state.unversioned) await save({ freeze: true });
  }
}
