// Saves the draft: to the server, and into this browser for as long as the server does not have it.
import { markSaved } from "../shared/unsaved.js";
import {
  confirmSave,
  createState,
  delayOfForcedSave,
  delayOfVersion,
  PAUSE_BEFORE_SAVE,
  queueSave,
} from "./autosave_state.js";
import { firstConflict } from "./conflicts.js";
import { form, formValues, later, renewToken, serialize } from "./form.js";
import { forgetLocalCopy, storeLocally, storeLocallySoon } from "./local_copy.js";
import { merge } from "./merge.js";
import { showOthers } from "./presence.js";
import { showFailure, showSaved, showStatus } from "./save_status.js";
import { request, version } from "./server.js";
import { refreshWorkflow } from "./workflow_state.js";

export const editable = Boolean(form) && !form.querySelector(":scope > fieldset[disabled]");
export const current = () => serialize(formValues());
export const state = createState({
  autoVersions: editable && "autoVersions" in form.dataset,
  stored: editable ? current() : "",
  unversioned: editable && "dirty" in form.dataset,
});

const saveAfterPause = later(PAUSE_BEFORE_SAVE, () => save());
let versionTimer;

// Takes in an answer to the text that was sent: what others changed is merged, and what the server has is known.
export function receive(answer, sent) {
  if (answer.page) merge(answer.page, new URLSearchParams(sent));
  const upToDate = Boolean(answer.page) || current() === sent;
  form.elements.base_version.value = answer.version;
  confirmSave(state, { sent, current: current(), upToDate, versioned: Boolean(answer.froze) });
  receivePresence(answer);
}

export function receivePresence(answer) {
  if (answer.others) {
    const joined = answer.others.length && !state.others.length;
    state.others = answer.others;
    showOthers(state.others);
    if (joined && state.unversioned) scheduleVersion();
  }
  refreshWorkflow(answer);
}

export async function save({ freeze = false } = {}) {
  if (state.closed) return;
  saveAfterPause.stop();
  if (state.request) {
    queueSave(state, { version: freeze });
    return state.request;
  }
  state.firstChangeAt = 0;
  if (state.failing) renewToken();
  state.request = saveNow(freeze).finally(() => {
    state.request = null;
    const { queued } = state;
    state.queued = "";
    if (queued) save({ freeze: queued === "version" });
  });
  return state.request;
}

async function saveNow(freeze) {
  const sent = current();
  const body = new URLSearchParams(sent);
  if (freeze) body.set("freeze", "1");
  try {
    const answer = await request(body);
    state.failing = false;
    state.savedAt = Date.now();
    receive(answer, sent);
    keepLocalCopyUntilStored();
    if (answer.problem) showStatus(`Draft saved, not in a version yet: ${answer.problem}`);
    else if (firstConflict()) showStatus("Draft saved; resolve the conflict");
    else showSaved(state, version());
    if (state.unversioned) scheduleVersion();
    document.dispatchEvent(new Event("studio:autosaved"));
  } catch (error) {
    if (state.closed) return;
    state.failing = true;
    storeLocally();
    showFailure(error);
  }
}

function keepLocalCopyUntilStored() {
  if (current() !== state.stored) return storeLocally();
  markSaved(form);
  forgetLocalCopy();
}

export function scheduleVersion() {
  clearTimeout(versionTimer);
  if (!state.autoVersions) return;
  versionTimer = setTimeout(() => state.unversioned && save({ freeze: true }), delayOfVersion(state));
}

export function typed() {
  state.unversioned = true;
  storeLocallySoon();
  clearTimeout(versionTimer);
  const now = Date.now();
  state.firstChangeAt ||= now;
  const delay = delayOfForcedSave(state, now);
  if (delay !== null) setTimeout(() => state.firstChangeAt && save(), delay);
  saveAfterPause();
}
