// Nothing is lost: what is typed is kept at the studio within two seconds, and in this browser before. Of a task a version
// is made after a minute's rest, on leaving, and with the button; of other pages with the button alone. Who else is here
// is said; what they save is put in.

import { settled } from "../shared/unsaved.js";
import { choose, lead, undecided } from "./conflicts.js";
import { asText, form, later, onWriting, renewToken, words } from "./form.js";
import { forget, remember, remembered, rememberSoon } from "./local_copy.js";
import { take } from "./merge.js";
import { standing } from "./workflow_state.js";

const PAUSE = 1200; // ms after the last key
const LONGEST = 1900; // ms after the first of them
const REST = 60_000; // until a version is made
const REST_TOGETHER = 6_000; // the same while somebody else is here and waits to see it
const BEAT = 10_000;
const OFFLINE = "No connection: kept in this browser";
const REFUSED = "Not kept at the studio: kept in this browser";
const SIGNED_OUT = "You are signed out: kept in this browser";
const MORE = {
  [OFFLINE]: "Your words are kept in this browser and sent when the connection is back.",
  [REFUSED]:
    "The studio answered that it cannot take this, perhaps because it is too long. Your words are kept in this browser.",
  [SIGNED_OUT]: "Your words are kept in this browser; sign in in another tab and they are sent.",
};
const who = form?.dataset.user ?? "";
const editable = form && !form.querySelector(":scope > fieldset[disabled]");
const byItself = form && "autoVersions" in form.dataset; // versions are made without the button as well
const place = document.querySelector("[data-save-status]");
const here = document.querySelector("[data-presence]");
let kept = editable ? asText(words()) : ""; // what the studio has
let dirty = editable && "dirty" in form.dataset; // words that are in no version
/** @type {Promise<void> | null} */
let busy = null;
/** @type {string | false} */
let again = false;
let since = 0;
let told = "";
let savedAt = 0;
let others = [];
let gone = false;
let failing = false; // the last try did not reach the studio

const version = () => form.elements.base_version.value;
const token = () => form.elements.csrfmiddlewaretoken.value;
const unsent = () => asText(words()) !== kept;

function say(text) {
  told = text;
  if (!place) return;
  place.textContent = text;
  place.title = MORE[text] ?? text;
}
function clock() {
  if (!savedAt || !/^(saved|kept (just|\d))/.test(told)) return;
  const seconds = Math.round((Date.now() - savedAt) / 1000);
  const ago = seconds < 2 ? "just now" : seconds < 60 ? `${seconds} s ago` : `${Math.round(seconds / 60)} min ago`;
  say(byItself || !dirty ? `saved ${ago} · v${version()}` : `kept ${ago} · in no version yet`);
}

async function send(body, options = {}) {
  const answer = await fetch(form.dataset.autosave, {
    method: body ? "POST" : "GET",
    body,
    redirect: "manual",
    headers: body ? { "X-CSRFToken": token(), "X-Studio-Person": who } : {},
    ...options,
  });
  if (answer.type === "opaqueredirect" || answer.status === 401 || answer.status === 403) throw new Error("signed out");
  if (!answer.ok) throw new Error(`${answer.status}`);
  return answer.json();
}

// What the studio said to the words of a page: what others changed is put in, and what it has is known.
function receive(said, text) {
  if (said.page) take(said.page, new URLSearchParams(text));
  const quiet = asText(words()) === text; // nothing was put in, and nothing typed meanwhile
  form.elements.base_version.value = said.version;
  kept = quiet || said.page ? asText(words()) : text;
  if (said.froze && (quiet || said.page)) dirty = false;
  present(said.others);
  standing(said);
}

async function keep({ freeze = false } = {}) {
  if (gone) return;
  pause.stop();
  if (busy) {
    again = again || (freeze ? "freeze" : "keep");
    return busy;
  }
  since = 0;
  if (failing) renewToken();
  const text = asText(words());
  const body = new URLSearchParams(text);
  if (freeze) body.set("freeze", "1");
  busy = send(body)
    .then((said) => {
      failing = false;
      savedAt = Date.now();
      receive(said, text);
      if (unsent()) remember();
      else {
        settled(form);
        forget();
      }
      if (said.problem) say(`kept, not in a version yet: ${said.problem}`);
      else if (undecided()) say("kept; choose which words stay");
      else {
        say("saved");
        clock();
      }
      if (dirty) rest();
      document.dispatchEvent(new Event("studio:autosaved"));
    })
    .catch((error) => {
      if (gone) return;
      failing = true;
      remember();
      say(error.message === "signed out" ? SIGNED_OUT : /^\d+$/.test(error.message) ? REFUSED : OFFLINE);
    })
    .finally(() => {
      busy = null;
      if (!again) return;
      const how = again;
      again = false;
      keep({ freeze: how === "freeze" });
    });
  return busy;
}

const pause = later(PAUSE, () => keep());
let resting;
function rest() {
  clearTimeout(resting);
  if (byItself) resting = setTimeout(() => dirty && keep({ freeze: true }), others.length ? REST_TOGETHER : REST);
}

function present(names) {
  if (!names) return;
  const came = names.length && !others.length;
  others = names;
  if (here) {
    const text = names.length ? `${names.join(", ")} ${names.length > 1 ? "are" : "is"} here` : "";
    if (here.textContent !== text) here.textContent = text;
  }
  if (came && dirty) rest();
}

async function beat() {
  if (document.hidden || gone) return;
  if (failing) return keep();
  try {
    const said = await send(null);
    present(said.others);
    standing(said);
    if (String(said.version) !== version() && !busy) keep();
  } catch {}
}

// The button, and the steps of a task's way: they speak of what stands on the page.
async function submitted(event) {
  const other = event.target;
  const button = event.submitter;
  const choosing = button?.matches("[data-resolve], [name=do]") ?? false;
  if (other === form && !choosing && !button?.matches("[data-discard]") && lead()) {
    event.preventDefault();
    return say("Choose first which words stay");
  }
  if (other === form) {
    gone = true;
    forget({ forEver: true });
    if (!busy) return;
    event.preventDefault(); // what is under way must not come after the save
    await busy;
    return form.requestSubmit(button ?? undefined);
  }
  if (other.method !== "post" || other.hasAttribute("hx-post") || (!dirty && !unsent()) || gone) return;
  event.preventDefault();
  if (busy) await busy;
  await keep({ freeze: byItself });
  if (busy) await busy;
  if (byItself ? dirty : unsent()) return void lead();
  gone = true;
  other.requestSubmit(button ?? undefined);
}

// It is sent as the page goes; should it come too late for the page that is opened next, that finds it in the browser.
function leave() {
  if (gone || !(unsent() || (byItself && dirty))) return;
  remember();
  const body = new URLSearchParams(asText(words()));
  if (byItself) body.set("freeze", "1");
  if (body.toString().length > 60_000) return; // more than a browser sends after the page is gone
  fetch(form.dataset.autosave, {
    method: "POST",
    body,
    keepalive: true,
    headers: { "X-CSRFToken": token(), "X-Studio-Person": who },
  });
}

async function bringBack(left) {
  const text = asText(words());
  const body = new URLSearchParams(left.words);
  body.set("render", "1");
  try {
    const said = await send(body);
    dirty = true;
    receive(said, text);
    left.forget();
    savedAt = Date.now();
    say(said.froze ? "saved" : `Your words from before are back · v${version()}`);
    clock();
    if (dirty) rest();
  } catch {
    failing = true;
    say(OFFLINE);
  }
}

// Of several windows each is put on top of a version made of the one before; where none is made, the newest stays.
async function bringBackAll(left) {
  for (const one of left) {
    const last = one === left.at(-1);
    if (!last && !byItself) one.forget();
    else await bringBack(one);
    if (!last && byItself && dirty) await keep({ freeze: true });
  }
}

if (editable) {
  onWriting(() => {
    dirty = true;
    rememberSoon();
    clearTimeout(resting);
    if (!since) since = Date.now();
    if (Date.now() - since > LONGEST - PAUSE)
      setTimeout(() => since && keep(), Math.max(0, LONGEST - (Date.now() - since)));
    pause();
  });
  form.addEventListener("click", (event) => {
    const button = event.target.closest("[data-resolve]");
    if (button && choose(button)) {
      event.preventDefault();
      dirty = true;
      keep();
    }
    if (event.target.closest("[data-discard]")) {
      forget({ forEver: true });
      gone = true;
    }
  });
  document.addEventListener("submit", submitted);
  window.addEventListener("online", () => keep());
  document.addEventListener("visibilitychange", () => document.hidden && dirty && unsent() && remember());
  document.addEventListener("studio:newer", () => keep());
  window.addEventListener("pagehide", leave);
  setInterval(clock, 1000);
  setInterval(beat, BEAT);
  const left = remembered();
  if (left.length) bringBackAll(left);
  else beat();
}
