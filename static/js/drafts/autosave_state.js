// What autosave knows, and when it acts. Nothing here touches the page, the clock or the network.

const PAUSE = 1200; // ms after the last key
const LONGEST = 1900; // ms after the first of them

/**
 * @typedef {object} AutosaveState
 * @property {string} stored the form as the server has it
 * @property {boolean} touched the user changed something that the server has not confirmed
 * @property {boolean} unversioned the form holds text that is in no version
 * @property {Promise<void> | null} request the save under way
 * @property {"" | "draft" | "version"} queued what is to be saved after that
 * @property {number} firstChangeAt when the first unsaved key was pressed, 0 if there is none
 * @property {number} savedAt when the server last confirmed a save, 0 if it never has
 * @property {string[]} others who else has this page open
 * @property {boolean} failing the last request did not succeed
 * @property {string} wanted the text of a version that was asked for and could not be made, "" if there is none
 * @property {boolean} closed the page is being submitted or discarded: nothing is saved any more
 */

/** @returns {AutosaveState} */
export function createState({ stored = "", unversioned = false } = {}) {
  return {
    stored,
    touched: false,
    unversioned,
    request: null,
    queued: "",
    firstChangeAt: 0,
    savedAt: 0,
    others: [],
    failing: false,
    wanted: "",
    closed: false,
  };
}

export const PAUSE_BEFORE_SAVE = PAUSE;

/**
 * Milliseconds until a save that further keys do not postpone; null while a pause in typing may still come in time.
 * @param {AutosaveState} state
 * @param {number} now
 */
export function delayOfForcedSave(state, now) {
  const elapsed = now - state.firstChangeAt;
  return elapsed > LONGEST - PAUSE ? Math.max(0, LONGEST - elapsed) : null;
}

/**
 * The state after asking for a save while another is under way.
 * @param {AutosaveState} state
 * @param {{version: boolean}} wanted
 */
export function queueSave(state, { version }) {
  state.queued = version || state.queued === "version" ? "version" : "draft";
}

/**
 * Remembers that a version could not be made, unless trying again is pointless.
 * @param {AutosaveState} state
 * @param {string} sent
 * @param {"offline" | "timeout" | "signed-out" | "rejected" | "broken"} reason
 */
export function versionFailed(state, sent, reason) {
  state.wanted = reason === "rejected" ? "" : sent;
}

/**
 * What the next save makes: the version asked for before, if the text is still the same; if it went on, that is offered.
 * @param {AutosaveState} state
 * @param {string} current
 * @returns {"" | "repeat" | "offer"}
 */
export function pendingVersion(state, current) {
  if (!state.wanted) return "";
  return state.wanted === current ? "repeat" : "offer";
}

/**
 * Takes the server's answer into the state.
 * @param {AutosaveState} state
 * @param {object} answer
 * @param {string} answer.stored the form as the server has it now
 * @param {string} answer.current the form as it is now, after what others changed was merged in
 * @param {boolean} answer.versioned whether the server's text is the newest version
 */
export function confirmSave(state, { stored, current, versioned }) {
  state.stored = stored;
  state.touched = current !== stored;
  if (versioned && current === stored) state.unversioned = false;
}

/**
 * Whether closing the page now would lose text that the user typed. Scripts may change an untouched form; that is no text.
 * @param {AutosaveState} state
 * @param {string} current
 */
export function hasUnsaved(state, current) {
  return state.touched && current !== state.stored;
}

/**
 * Whether the page has to catch up with text stored elsewhere, by another person or in another window.
 * @param {AutosaveState} state
 * @param {{version: string, draft: string}} known
 * @param {{version: number, draft: number}} answer
 */
export function isBehind(state, known, answer) {
  if (state.request || state.closed) return false;
  return String(answer.version) !== known.version || String(answer.draft) !== known.draft;
}

/** The age of the last save in words. */
export function age(/** @type {number} */ savedAt, /** @type {number} */ now) {
  const seconds = Math.round((now - savedAt) / 1000);
  if (seconds < 2) return "just now";
  return seconds < 60 ? `${seconds} s ago` : `${Math.round(seconds / 60)} min ago`;
}

/**
 * The status of a successful save.
 * @param {AutosaveState} state
 * @param {string} version the number of the version that the draft is based on
 * @param {number} now
 */
export function savedStatus(state, version, now) {
  const ago = age(state.savedAt, now);
  if (!state.unversioned) return `Saved as version ${version} · ${ago}`;
  return `Draft saved ${ago} · not in a version yet`;
}

/**
 * What is said beside the Save button when a version could not be saved, or when the user is signed out.
 * @param {"offline" | "timeout" | "signed-out" | "rejected" | "broken"} reason
 * @param {{version: boolean}} wanted whether the user asked for a version
 */
export function failureNotice(reason, { version }) {
  const safe = "Your text is safe in this browser";
  const lead = version ? "Not saved as a version: " : "";
  const sent = version ? ", and the version is saved" : " and is sent";
  const sentence = {
    offline: `there is no connection. ${safe}${sent} when the connection is back.`,
    timeout: `the server did not answer. ${safe}${sent} when it answers again.`,
    "signed-out": `you are signed out. ${safe}${sent} as soon as you sign in.`,
    rejected: `the server could not accept this text; it may be too long. ${safe}.`,
    broken: `something went wrong on our side. ${safe}${sent} as soon as it works again.`,
  }[reason];
  return lead ? lead + sentence : sentence[0].toUpperCase() + sentence.slice(1);
}
