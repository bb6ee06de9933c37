// Words that the studio does not have yet are kept in this browser, and found when the page is opened again.
import { form, later, words } from "./page.js";

const MONTH = 30 * 24 * 3600_000;
const store = `studio:words:${form?.dataset.who}:${location.pathname}`; // nobody else who signs in here is shown them
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

export function remembered() {
  const left = JSON.parse(localStorage.getItem(store) ?? "null");
  return left && Date.now() - left.at < MONTH ? left.words : null;
}
