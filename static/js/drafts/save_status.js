// The line at the top of the page that says whether what was typed is saved.
import { savedStatus } from "./autosave_state.js";

const place = document.querySelector("[data-save-status]");

let timed = ""; // the text names the age of the last save; this follows it
let isTimed = false;

export function showStatus(text, title = text) {
  isTimed = false;
  if (!place) return;
  place.textContent = text;
  place.title = title;
}

export function showSaved(state, version, more = "") {
  showStatus(savedStatus(state, version, Date.now()) + more);
  timed = more;
  isTimed = true;
}

export function refreshAge(state, version) {
  if (isTimed) showSaved(state, version, timed);
}
