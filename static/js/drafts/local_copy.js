// Text that the server does not have yet, stored in this browser: a copy for each window of the page.
import { form, formValues, later } from "./form.js";
import { WINDOW } from "./server.js";

const MONTH = 30 * 24 * 3600_000;
// Named after the user, so that nobody else who signs in here sees the text.
const PREFIX = `studio:words:${form?.dataset.user}:${location.pathname}:`;
const OWN = PREFIX + WINDOW;
let forgotten = false; // for good

/** Whether the browser could store it. */
export function storeLocally() {
  if (forgotten) return false;
  const data = formValues();
  data.delete("csrfmiddlewaretoken");
  try {
    localStorage.setItem(OWN, JSON.stringify({ at: Date.now(), words: [...data] }));
    return true;
  } catch {
    return false; // full or switched off: the server still has what was saved
  }
}
// Not with every key: a long page is half a megabyte of text.
export const storeLocallySoon = later(250, storeLocally);

export function forgetLocalCopy({ forGood = false } = {}) {
  forgotten ||= forGood;
  storeLocallySoon.stop();
  localStorage.removeItem(OWN);
}

// The copies of all windows, the oldest first, each with a way to forget it.
export function localCopies() {
  return Object.keys(localStorage)
    .filter((key) => key.startsWith(PREFIX))
    .map((key) => ({
      ...JSON.parse(localStorage[key]),
      from: key.slice(PREFIX.length),
      forget: () => localStorage.removeItem(key),
    }))
    .filter((copy) => Date.now() - copy.at < MONTH || copy.forget())
    .sort((one, other) => one.at - other.at);
}
