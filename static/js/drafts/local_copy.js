// Words that the studio does not have yet are kept in this browser, and found when the page is opened again: those of
// each window by themselves.
import { form, later, words } from "./form.js";

const MONTH = 30 * 24 * 3600_000;
const all = `studio:words:${form?.dataset.user}:${location.pathname}:`; // nobody else who signs in here is shown them
sessionStorage["studio:window"] ??= Math.random().toString(36).slice(2);
const store = all + sessionStorage["studio:window"];
let gone = false;

export function remember() {
  if (gone) return;
  const data = words();
  data.delete("csrfmiddlewaretoken");
  try {
    localStorage.setItem(store, JSON.stringify({ at: Date.now(), words: [...data] }));
  } catch {} // full or switched off: the studio still has what was kept
}
// Not with every key: a long page is half a megabyte of words.
export const rememberSoon = later(250, remember);

export function forget({ forEver = false } = {}) {
  gone ||= forEver;
  rememberSoon.stop();
  localStorage.removeItem(store);
}

// What windows left here, the oldest first, each with how to forget it.
export function remembered() {
  const keys = Object.keys(localStorage).filter((key) => key.startsWith(all));
  return keys
    .map((key) => ({ ...JSON.parse(localStorage[key]), forget: () => localStorage.removeItem(key) }))
    .filter((left) => Date.now() - left.at < MONTH || left.forget())
    .sort((one, other) => one.at - other.at);
}
