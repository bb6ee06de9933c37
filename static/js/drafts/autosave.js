// What is typed is on the server within two seconds, and in this browser before. A task gets a version after a minute's
// rest, on leaving, and with the Save button; other pages with the button alone.
import { resolve } from "./conflicts.js";
import { form, onChange } from "./form.js";
import { closeDraft, left, submitted } from "./leaving.js";
import { localCopies, storeLocally } from "./local_copy.js";
import { restoreAll } from "./restore.js";
import { refreshAge } from "./save_status.js";
import { current, editable, receivePresence, save, state, typed } from "./saving.js";
import { request, version } from "./server.js";

const HEARTBEAT = 10_000;

async function heartbeat() {
  if (document.hidden || state.closed) return;
  if (state.failing) return save();
  try {
    const answer = await request(null);
    receivePresence(answer);
    if (String(answer.version) !== version() && !state.request) save();
  } catch {} // the next save says that there is no connection
}

if (editable) {
  onChange(typed);
  form.addEventListener("click", (event) => {
    const button = event.target.closest("[data-resolve]");
    if (button && resolve(button)) {
      event.preventDefault();
      state.unversioned = true;
      save();
    }
    if (event.target.closest("[data-discard]")) closeDraft();
  });
  document.addEventListener("submit", submitted);
  window.addEventListener("online", () => save());
  document.addEventListener("visibilitychange", () => {
    if (document.hidden && state.unversioned && current() !== state.stored) storeLocally();
  });
  document.addEventListener("studio:newer", () => save());
  window.addEventListener("pagehide", left);
  setInterval(() => refreshAge(state, version()), 1000);
  setInterval(heartbeat, HEARTBEAT);
  const copies = localCopies();
  if (copies.length) restoreAll(copies);
  else heartbeat();
}
