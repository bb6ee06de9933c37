// Text that the server does not have yet, stored in this browser: a copy for each window of the page.
import { form, formValues, later } from "./form.js";

const MONTH = 30 * 24 * 3600_000;
// Named after the user, so that nobody else who signs in here sees the text.
const PREFIX = `studio:words:${form?.dataset.user}:${location.pathname}:`;
sessionStorage["studio:window"] ??= Math.random().toString(36).slice(2);
const OWN = PREFIX + sessionStorage["studio:window"];
let forgotten = false; // for good
let base = ""; // the text that the server last confirmed, to merge with what another window stores

/** Whether the browser could store it. */
export function storeLocally() {
  if (forgotten) return false;
  const data = formValues();
  data.delete("csrfmiddlewaretoken");
  try {
    localStorage.setItem(OWN, JSON.stringify({ at: Date.now(), words: [...data], base }));
    return true;
  } catch {
    return false; // full or switched off: the server still has what was saved
  }
}
// Not with every key: a long page is half a megabyte of text.
export const storeLocallySoon = later(250, storeLocally);

export function setConfirmedText(text) {
  base = text;
}

export function forgetLocalCopy({ forGood = false } = {}) {
  forgotten ||= forGood;
  storeLocallySoon.stop();
  localStorage.removeItem(OWN);
}

// The copies of all windows, the oldest first, each with a way to forget it.
export function localCopies() {
  return Object.keys(localStorage)
    .filter((key) => key.startsWith(PREFIX))
    .map((key) => ({ ...JSON.parse(localStorage[key]), forget: () => localStorage.removeItem(key) }))
    .filter((copy) => Date.now() - copy.at < MONTH || copy.forget())
    .sort((one, other) => one.at - other.at);
}
