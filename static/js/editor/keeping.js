// Nothing is lost: what is typed is kept at the studio within two seconds, and in this browser before. A version is
// made of it after a minute's rest, on leaving, and with the button. Who else is here is said; what they save is put in.
import { asText, form, later, onWriting, renewToken, words } from "./page.js";
import { follow } from "../area.js";
import { number, rowsOf } from "../rows.js";
import { settled } from "../unsaved.js";

const PAUSE = 1200; // ms after the last key
const LONGEST = 1900; // ms after the first of them
const REST = 60_000; // until a version is made
const REST_TOGETHER = 6_000; // the same while somebody else is here and waits to see it
const BEAT = 10_000;
const who = form?.dataset.who ?? "";
const store = `studio:words:${who}:${location.pathname}`; // nobody else who signs in here is shown them
const editable = form && !form.querySelector(":scope > fieldset[disabled]");
const place = document.querySelector("[data-saved]");
const here = document.querySelector("[data-here]");
let kept = editable ? asText(words()) : ""; // what the studio has
let dirty = editable && "dirty" in form.dataset; // words that are in no version
let frozen = !dirty; // nothing to make a version of
let busy = null;
let again = false;
let since = 0;
let told = "";
let savedAt = 0;
let others = [];
let gone = false;
let failing = false; // the last try did not reach the studio

const version = () => form.elements.base_version.value;
const token = () => form.elements.csrfmiddlewaretoken.value;

function say(text) {
  told = text;
  if (place) place.textContent = text;
}
function clock() {
  if (!savedAt || !told.startsWith("saved")) return;
  const seconds = Math.round((Date.now() - savedAt) / 1000);
  const ago = seconds < 2 ? "just now" : seconds < 60 ? `${seconds} s ago` : `${Math.round(seconds / 60)} min ago`;
  say(`saved ${ago} · v${version()}`);
}

function remember() {
  if (gone) return;
  const data = words();
  data.delete("csrfmiddlewaretoken");
  try {
    localStorage.setItem(store, JSON.stringify({ at: Date.now(), version: version(), words: [...data] }));
  } catch {} // full or switched off: the studio still has what was kept
}
// Not with every key: a long page is half a megabyte of words.
const rememberSoon = later(250, remember);
function forget() {
  rememberSoon.stop();
  localStorage.removeItem(store);
}

async function send(body, options = {}) {
  const answer = await fetch(form.dataset.keep, {
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
      kept = text;
      failing = false;
      savedAt = Date.now();
      if (said.page) take(said.page, new URLSearchParams(text));
      form.elements.base_version.value = said.version;
      if (said.froze) frozen = true;
      if (asText(words()) === text) settled(form);
      forget();
      if (asText(words()) !== text && !said.page) remember();
      if (said.problem) say(`kept, not in a version yet: ${said.problem}`);
      else {
        say("saved");
        clock();
      }
      present(said.others);
      if (!frozen) rest();
      document.dispatchEvent(new Event("studio:kept"));
    })
    .catch((error) => {
      if (gone) return;
      failing = true;
      remember();
      say(
        error.message === "signed out"
          ? "You are signed out. Your words are kept in this browser; sign in in another tab and they are sent."
          : "No connection. Your words are kept in this browser and sent when it is back.",
      );
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
  resting = setTimeout(() => !frozen && keep({ freeze: true }), others.length ? REST_TOGETHER : REST);
}

function present(names) {
  if (!names) return;
  const came = names.length && !others.length;
  others = names;
  if (here) {
    const text = names.length ? `${names.join(", ")} ${names.length > 1 ? "are" : "is"} here` : "";
    if (here.textContent !== text) here.textContent = text;
  }
  if (came && !frozen) rest();
}

// The page again, with what others changed. What was typed here since it was asked for stays.
function take(html, sent) {
  const fresh = new DOMParser().parseFromString(html, "text/html").querySelector("form#task");
  const now = new URLSearchParams(asText(words()));
  const untouched = (name) => now.getAll(name).join("\0") === sent.getAll(name).join("\0");
  for (const list of fresh.querySelectorAll("[data-rows]")) rows(list, untouched);
  for (const input of fresh.querySelectorAll("textarea[name], input[name], select[name]")) {
    if (["csrfmiddlewaretoken", "undecided", "note"].includes(input.name) || input.type === "file" || !untouched(input.name)) continue;
    const same = `[name="${CSS.escape(input.name)}"]`;
    if (["checkbox", "radio"].includes(input.type)) {
      const own = form.querySelector(`${same}[value="${CSS.escape(input.value)}"]`);
      if (own) own.checked = input.checked;
      continue;
    }
    const own = input.type === "hidden" && form.querySelectorAll(same).length > 1 ? null : form.querySelector(same);
    if (!own || own.value === input.value) continue;
    const caret = own === document.activeElement ? own.selectionStart : null;
    own.value = input.value;
    if (caret != null) own.setSelectionRange(caret, caret);
    if (own.matches(".area > textarea")) follow(own);
  }
  window.htmx?.process(form);
  form.querySelector("[data-choices-place]").innerHTML = fresh.querySelector("[data-choices-place]").innerHTML;
  kept = "";
}

function rows(list, untouched) {
  const own = form.querySelector(`[data-rows="${CSS.escape(list.dataset.rows)}"]`);
  if (!own || !untouched(list.dataset.rows)) return;
  const keyOf = (row) => row.querySelector(":scope > input[type=hidden]")?.value;
  const there = new Map(rowsOf(own).map((row) => [keyOf(row), row]));
  const wanted = rowsOf(list).map((row) => there.get(keyOf(row)) ?? document.importNode(row, true));
  const blank = [...there.values()].filter((row) => !wanted.includes(row) && keyOf(row).startsWith("new") && !row.querySelector("textarea")?.value);
  for (const row of there.values()) if (!wanted.includes(row) && !blank.includes(row)) row.remove();
  let before = null;
  for (const row of wanted) {
    const next = before ? before.nextElementSibling : own.firstElementChild;
    if (next !== row) before ? before.after(row) : own.prepend(row);
    before = row;
  }
  number(own, true);
}

function choose(button) {
  const box = button.closest("[data-choice]");
  if (button.name === "take") {
    const input = form.querySelector(`[name="${CSS.escape(box.dataset.input)}"]`);
    const text = box.querySelectorAll(".text")[1].textContent;
    if (!input?.matches("textarea")) return false; // the page is asked
    input.value = text;
    follow(input);
  }
  const all = box.parentElement;
  box.remove();
  if (!all.querySelector("[data-choice]")) all.remove();
  keep();
  return true;
}

async function beat() {
  if (document.hidden || gone) return;
  if (failing) return keep();
  try {
    const said = await send(null);
    present(said.others);
    if (String(said.version) !== version() && !busy) keep();
  } catch {}
}

if (editable) {
  onWriting(() => {
    frozen = false;
    rememberSoon();
    clearTimeout(resting);
    if (!since) since = Date.now();
    if (Date.now() - since > LONGEST - PAUSE) setTimeout(() => since && keep(), Math.max(0, LONGEST - (Date.now() - since)));
    pause();
  });
  form.addEventListener("click", (event) => {
    const button = event.target.closest("[data-choose]");
    if (button && choose(button)) event.preventDefault();
    if (event.target.closest("[data-discard]")) {
      forget();
      gone = true;
    }
  });
  document.addEventListener("submit", async (event) => {
    const other = event.target;
    if (other === form) {
      gone = true;
      forget();
      if (!busy) return;
      event.preventDefault(); // what is under way must not come after the save
      const pressed = event.submitter;
      await busy;
      return form.requestSubmit(pressed ?? undefined);
    }
    if (other.method !== "post" || other.hasAttribute("hx-post") || (frozen && asText(words()) === kept) || gone) return;
    event.preventDefault(); // a step of the task's way speaks of what stands on the page
    const button = event.submitter;
    if (busy) await busy;
    await keep({ freeze: true });
    if (busy) await busy;
    if (!frozen) return;
    gone = true;
    other.requestSubmit(button ?? undefined);
  });
  window.addEventListener("online", () => keep());
  document.addEventListener("visibilitychange", () => document.hidden && !frozen && asText(words()) !== kept && remember());
  document.addEventListener("studio:newer", () => keep());
  window.addEventListener("pagehide", () => {
    if (gone || frozen) return;
    if (asText(words()) !== kept) remember();
    const body = new URLSearchParams(asText(words()));
    body.set("freeze", "1");
    if (body.toString().length > 60_000) return; // more than a browser sends after the page is gone
    if (navigator.onLine && !failing) forget();
    fetch(form.dataset.keep, { method: "POST", body, keepalive: true, headers: { "X-CSRFToken": token(), "X-Studio-Person": who } });
  });
  setInterval(clock, 1000);
  setInterval(beat, BEAT);

  const left = JSON.parse(localStorage.getItem(store) ?? "null");
  if (left && Date.now() - left.at < 30 * 24 * 3600_000) {
    // The browser has words that never reached the studio: they are put in as another's would be.
    const body = new URLSearchParams(left.words);
    body.set("render", "1");
    send(body)
      .then((said) => {
        if (said.page) take(said.page, new URLSearchParams(asText(words())));
        form.elements.base_version.value = said.version;
        forget();
        frozen = false;
        say("Your words from before are back");
        present(said.others);
        keep();
      })
      .catch(() => {
        failing = true;
        say("No connection. Your words are kept in this browser and sent when it is back.");
      });
  } else beat();
}
