// What autosave knows, and when it acts. Nothing here touches the page, the clock or the network.

const PAUSE = 1200; // ms after the last key
const LONGEST = 1900; // ms after the first of them
const REST = 60_000; // until a version is made
const REST_TOGETHER = 6_000; // the same while another author is here and waits to see it

/**
 * @typedef {object} AutosaveState
 * @property {boolean} autoVersions versions are made without the Save button as well
 * @property {string} stored the form as the server has it
 * @property {boolean} unversioned the form holds text that is in no version
 * @property {Promise<void> | null} request the save under way
 * @property {"" | "draft" | "version"} queued what is to be saved after that
 * @property {number} firstChangeAt when the first unsaved key was pressed, 0 if there is none
 * @property {number} savedAt when the server last confirmed a save, 0 if it never has
 * @property {string[]} others who else has this page open
 * @property {boolean} failing the last request did not succeed
 * @property {boolean} closed the page is being submitted or discarded: nothing is saved any more
 */

/** @returns {AutosaveState} */
export function createState({ autoVersions = false, stored = "", unversioned = false } = {}) {
  return {
    autoVersions,
    stored,
    unversioned,
    request: null,
    queued: "",
    firstChangeAt: 0,
    savedAt: 0,
    others: [],
    failing: false,
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

/** Milliseconds of rest until a version is made. */
export function delayOfVersion(/** @type {AutosaveState} */ state) {
  return state.others.length ? REST_TOGETHER : REST;
}

/**
 * The state after asking for a save while another is under way: the first request decides what is saved next.
 * @param {AutosaveState} state
 * @param {{version: boolean}} wanted
 */
export function queueSave(state, { version }) {
  state.queued ||= version ? "version" : "draft";
}

/**
 * Takes the server's answer into the state.
 * @param {AutosaveState} state
 * @param {object} answer
 * @param {string} answer.sent the form as it was sent
 * @param {string} answer.current the form as it is now, after what others changed was merged in
 * @param {boolean} answer.upToDate whether the form holds nothing that is newer than the answer
 * @param {boolean} answer.versioned whether the server made a version of what was sent
 */
export function confirmSave(state, { sent, current, upToDate, versioned }) {
  state.stored = upToDate ? current : sent;
  if (versioned && upToDate) state.unversioned = false;
}

/**
 * Whether closing the page now would lose text, or leave it out of any version.
 * @param {AutosaveState} state
 * @param {string} current
 */
export function hasUnsaved(state, current) {
  return current !== state.stored || (state.autoVersions && state.unversioned);
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
  return state.autoVersions ? `Draft saved ${ago} · v${version}` : `Draft saved ${ago} · not in a version yet`;
}
