// What is typed is on the server within two seconds, and in this browser before. Only the Save button makes a version.
import { onSignIn } from "../shared/signed_in.js";
import { isBehind } from "./autosave_state.js";
import { resolve } from "./conflicts.js";
import { form, onChange } from "./form.js";
import { beforeLeaving, left, submitted } from "./leaving.js";
import { localCopies, storeLocally } from "./local_copy.js";
import { restoreAll } from "./restore.js";
import { refreshAge } from "./save_status.js";
import { catchUp, current, editable, receivePresence, save, state, typed } from "./saving.js";
import { draftNumber, request, version } from "./server.js";

const HEARTBEAT = 10_000;

async function heartbeat() {
  if (state.closed) return;
  if (state.failing) return save();
  if (document.hidden) return;
  try {
    const answer = await request(null);
    receivePresence(answer);
    if (isBehind(state, { version: version(), draft: draftNumber() }, answer)) await catchUp(answer);
  } catch {} // the next save says that there is no connection
}

if (editable) {
  onChange(typed);
  form.addEventListener("click", (event) => {
    const button = event.target.closest("[data-resolve]");
    if (button && resolve(button)) {
      event.preventDefault();
      state.unversioned = true;
      state.touched = true;
      save();
    }
  });
  document.addEventListener("submit", submitted);
  window.addEventListener("online", () => save());
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) heartbeat();
    else if (state.unversioned && current() !== state.stored) storeLocally();
  });
  window.addEventListener("focus", () => state.failing && save());
  onSignIn(() => state.failing && save());
  document.addEventListener("studio:newer", () => save());
  form.addEventListener("studio:leaving", beforeLeaving);
  window.addEventListener("pagehide", left);
  window.addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    state.closed = false;
    heartbeat();
  });
  setInterval(() => refreshAge(state, version()), 1000);
  setInterval(heartbeat, HEARTBEAT);
  const copies = localCopies();
  if (copies.length) restoreAll(copies);
  else heartbeat();
}
