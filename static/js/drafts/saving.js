// Saves the draft: to the server, and into this browser for as long as the server does not have it.
import { markSaved } from "../shared/unsaved.js";
import {
  confirmSave,
  createState,
  delayOfForcedSave,
  isBehind,
  PAUSE_BEFORE_SAVE,
  pendingVersion,
  queueSave,
  versionFailed,
} from "./autosave_state.js";
import { firstConflict, keepDiscarded, showFirstConflict } from "./conflicts.js";
import { form, formValues, later, serialize } from "./form.js";
import { forgetLocalCopy, storeLocally, storeLocallySoon } from "./local_copy.js";
import { merge } from "./merge.js";
import { clearNotice, confirmWithdrawal, offerTexts, offerVersion, showErrors, showFailure } from "./notice.js";
import { showOthers } from "./presence.js";
import { showSaved, showStatus } from "./save_status.js";
import { draftNumber, request, sendDraft, version } from "./server.js";
import { refreshAfterVersion, refreshWorkflow } from "./workflow_state.js";

export const editable = Boolean(form) && !form.querySelector(":scope > fieldset[disabled]");

export function current() {
  const data = formValues();
  for (const name of ["csrfmiddlewaretoken", "base_draft"]) data.delete(name);
  return serialize(data);
}
export const state = createState({
  stored: editable ? current() : "",
  unversioned: editable && "dirty" in form.dataset,
});

const saveAfterPause = later(PAUSE_BEFORE_SAVE, () => save());
const channel =
  editable && "BroadcastChannel" in window ? new BroadcastChannel(`studio:${form.dataset.autosave}`) : null;
if (channel) channel.onmessage = () => catchUp();

// Takes in an answer to the text that was sent: what others changed is merged, and what the server has is known.
export function receive(answer, sent) {
  if (answer.page) merge(answer.page, new URLSearchParams(sent));
  const upToDate = Boolean(answer.page) || current() === sent;
  form.elements.base_version.value = answer.version;
  form.elements.base_draft.value = answer.draft;
  const params = new URLSearchParams(upToDate ? current() : sent);
  params.set("base_version", answer.version);
  confirmSave(state, { stored: params.toString(), current: current(), versioned: Boolean(answer.versioned) });
  receivePresence(answer);
}

export function receivePresence(answer) {
  if (answer.others) {
    state.others = answer.others;
    showOthers(state.others);
  }
  refreshWorkflow(answer);
}

export async function save({ saveVersion = false } = {}) {
  if (state.closed) return;
  saveAfterPause.stop();
  if (state.request) {
    queueSave(state, { version: saveVersion });
    return state.request;
  }
  state.firstChangeAt = 0;
  state.request = saveNow(saveVersion).finally(() => {
    state.request = null;
    const { queued } = state;
    state.queued = "";
    if (queued) return save({ saveVersion: queued === "version" });
  });
  return state.request;
}

let keepMine = false; // over what another window stored

async function saveNow(asked, withdraw = false) {
  const sent = current();
  const pending = asked ? "" : pendingVersion(state, sent);
  const saveVersion = asked || pending === "repeat";
  const body = new URLSearchParams(sent);
  if (saveVersion) {
    body.set("save_version", "1");
    showStatus("Saving…");
    storeLocally(); // until the server confirms this very text
  }
  if (withdraw) body.set("withdraw", "1");
  if (keepMine) body.set("keep_mine", "1");
  let answer;
  try {
    answer = await sendDraft(body);
  } catch (/** @type {any} */ error) {
    if (state.closed) return;
    state.failing = true;
    if (saveVersion) versionFailed(state, sent, error.reason);
    storeLocally();
    return showFailure(error.reason, { version: saveVersion });
  }
  state.failing = false;
  if (answer.elsewhere) {
    if (saveVersion) state.wanted = sent;
    return chooseText();
  }
  state.wanted = "";
  keepMine = false;
  state.savedAt = Date.now();
  const isNew = String(answer.draft) !== draftNumber();
  receive(answer, sent);
  keepLocalCopyUntilStored();
  clearNotice();
  if (isNew) channel?.postMessage(answer.draft);
  document.dispatchEvent(new Event("studio:autosaved"));
  report(answer, saveVersion);
  if (pending === "offer" && !answer.versioned) offerVersion();
  if (answer.question) {
    if (await confirmWithdrawal(answer.question)) return saveNow(true, true);
    showStatus("Draft saved · not in a version");
  }
  if (saveVersion && answer.versioned) await saved(answer);
}

function chooseText() {
  storeLocally();
  const keep = () => {
    keepMine = true;
    clearNotice();
    save();
  };
  offerTexts("You typed here and in another window of this page at once.", [
    ["Keep the text of this window", keep],
    ["Use the text of the other", takeOther],
  ]);
}

async function takeOther() {
  try {
    await keepDiscarded();
  } catch (/** @type {any} */ error) {
    return showFailure(error.reason, { version: false });
  }
  forgetLocalCopy({ forGood: true });
  state.closed = true;
  location.reload();
}

function report(answer, saveVersion) {
  if (answer.problem && saveVersion) showErrors(answer);
  else if (answer.problem) showStatus(`Draft saved; it cannot be a version yet: ${answer.problem}`);
  else if (saveVersion && firstConflict()) {
    showStatus("Resolve the conflict first");
    showFirstConflict();
  } else if (firstConflict()) showStatus("Draft saved; resolve the conflict");
  else showSaved(state, version(), answer.merged ? ", merged with changes saved since" : "");
}

// A version was made: what the page says of versions is brought up to date.
async function saved(answer) {
  showErrors({});
  form.querySelector("[data-restored]")?.remove();
  if (form.elements.note) form.elements.note.value = "";
  if (current() === withoutNote(state.stored)) state.stored = current();
  keepLocalCopyUntilStored();
  if (answer.address && current() === state.stored) {
    state.closed = true;
    return location.assign(answer.address);
  }
  await refreshAfterVersion();
}

function withoutNote(text) {
  const params = new URLSearchParams(text);
  if (params.has("note")) params.set("note", "");
  return params.toString();
}

function keepLocalCopyUntilStored() {
  if (current() !== state.stored) return storeLocally();
  markSaved(form);
  forgetLocalCopy();
}

// Another person made a version, or another window stored text: an untouched page shows it, and writes nothing.
export async function catchUp(answer = null) {
  if (state.request || state.closed || document.hidden) return;
  if (state.touched || current() !== state.stored || firstConflict()) return save();
  try {
    if (answer && !isBehind(state, { version: version(), draft: draftNumber() }, answer)) return;
    const sent = current();
    const body = new URLSearchParams(sent);
    body.set("peek", "1");
    const fresh = await request(body);
    if (state.request || state.touched || current() !== sent) return save();
    state.unversioned = !fresh.versioned;
    receive(fresh, sent);
    state.stored = current();
    if (fresh.versioned) showStatus(`v${version()}`);
    else showStatus("Draft saved in another window · not in a version yet");
    document.dispatchEvent(new Event("studio:autosaved"));
  } catch {} // the next save says what is wrong
}

export function typed() {
  state.unversioned = true;
  state.touched = true;
  storeLocallySoon();
  const now = Date.now();
  state.firstChangeAt ||= now;
  const delay = delayOfForcedSave(state, now);
  if (delay !== null) setTimeout(() => state.firstChangeAt && save(), delay);
  saveAfterPause();
}
