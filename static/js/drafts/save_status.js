// The line at the top of the page that says whether what was typed is saved.
import { savedStatus } from "./autosave_state.js";
import { RejectedError, SignedOutError } from "./server.js";

const place = document.querySelector("[data-save-status]");
const OFFLINE = {
  text: "No connection: saved in this browser",
  title: "Your changes are saved in this browser and will be sent when the connection is back.",
};
const REJECTED = {
  text: "The server rejected the draft: saved in this browser",
  title: "The server could not accept these changes; the text may be too long. They are saved in this browser.",
};
const SIGNED_OUT = {
  text: "You are signed out: saved in this browser",
  title: "Your changes are saved in this browser. Sign in in another tab to send them.",
};

let timed = false; // the text names the age of the last save

export function showStatus(text, title = text) {
  timed = false;
  if (!place) return;
  place.textContent = text;
  place.title = title;
}

export function showSaved(state, version) {
  showStatus(savedStatus(state, version, Date.now()));
  timed = true;
}

export function refreshAge(state, version) {
  if (timed) showSaved(state, version);
}

export function showFailure(error) {
  const { text, title } =
    error instanceof SignedOutError ? SIGNED_OUT : error instanceof RejectedError ? REJECTED : OFFLINE;
  showStatus(text, title);
}
