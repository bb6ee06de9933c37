import {
  markSaved
} from "./chunk-2THEAPOY.js";
import {
  follow,
  renumber,
  rowsOf
} from "./chunk-6YM6RD3V.js";
import {
  PAUSE_BEFORE_SAVE,
  clearNotice,
  confirmSave,
  confirmWithdrawal,
  createState,
  delayOfForcedSave,
  form,
  formValues,
  hasUnsaved,
  isBehind,
  later,
  offerVersion,
  onChange,
  pendingVersion,
  queueSave,
  refreshAge,
  renewToken,
  serialize,
  showErrors,
  showFailure,
  showSaved,
  showStatus,
  versionFailed
} from "./chunk-4KTFFKSQ.js";
import {
  onSignIn
} from "./chunk-JPS3M5OM.js";
import {
  fetchAnswer
} from "./chunk-IGJ2IKZR.js";

// static/js/drafts/changes.js
function unchangedFields(before, now) {
  let values = (form2, name) => form2.getAll(name).join("\0");
  return (name) => values(before, name) === values(now, name);
}

// static/js/drafts/merge.js
var OWN = ["csrfmiddlewaretoken", "unresolved", "unresolved_text", "note", "base_version", "base_draft"], parsed = (html) => new DOMParser().parseFromString(html, "text/html");
function replaceValue(input, value, fresh) {
  if (input.value === value) return;
  input.matches("select") && ![...input.options].some((one) => one.value === value) && fresh && input.replaceChildren(...fresh.cloneNode(!0).childNodes);
  let caret = input === document.activeElement ? input.selectionStart : null;
  input.value = value, caret != null && input.setSelectionRange(caret, caret), input.matches(".area > textarea") && follow(input), input.dispatchEvent(new CustomEvent("studio:replaced", { bubbles: !0 }));
}
function merge(html, sent) {
  let fresh = parsed(html).querySelector(`form#${form.id}`), now = new URLSearchParams(serialize(formValues())), untouched = unchangedFields(sent, now);
  for (let list of fresh.querySelectorAll("[data-rows]")) mergeRows(list, untouched);
  for (let input of fresh.querySelectorAll("textarea[name], input[name], select[name]")) {
    if (OWN.includes(input.name) || input.type === "file" || !untouched(input.name)) continue;
    let same = `[name="${CSS.escape(input.name)}"]`;
    if (["checkbox", "radio"].includes(input.type)) {
      let own2 = form.querySelector(`${same}[value="${CSS.escape(input.value)}"]`);
      own2 && (own2.checked = input.checked);
      continue;
    }
    let own = input.type === "hidden" && form.querySelectorAll(same).length > 1 ? null : form.querySelector(same);
    own && replaceValue(own, input.value, input);
  }
  window.htmx?.process(form), showConflicts(fresh);
}
function mergeRows(list, untouched) {
  let own = form.querySelector(`[data-rows="${CSS.escape(list.dataset.rows)}"]`);
  if (!own || !untouched(list.dataset.rows)) return;
  let keyOf = (row) => row.querySelector(":scope > input[type=hidden]")?.value, there = new Map(rowsOf(own).map((row) => [keyOf(row), row])), wanted = rowsOf(list).map((row) => there.get(keyOf(row)) ?? document.importNode(row, !0)), touched = (row) => [...row.querySelectorAll("[name]")].some((input) => !untouched(input.name)), blank = (row) => keyOf(row).startsWith("new") && !row.querySelector("textarea")?.value;
  for (let row of there.values()) !wanted.includes(row) && !blank(row) && !touched(row) && row.remove();
  let before = null;
  for (let row of wanted)
    (before ? before.nextElementSibling : own.firstElementChild) !== row && (before ? before.after(row) : own.prepend(row)), before = row;
  renumber(own, !0);
}
function showConflicts(fresh) {
  for (let old of form.querySelectorAll("[data-conflict]")) old.remove();
  let summary = form.querySelector("[data-conflict-summary]"), apart = [...fresh.querySelectorAll("[data-conflict]")].filter((one) => !one.closest("[data-conflict-summary]"));
  summary.innerHTML = fresh.querySelector("[data-conflict-summary]").innerHTML;
  for (let box of apart) {
    let at = form.querySelector(`[name="${CSS.escape(box.dataset.at)}"]`);
    at ? (at.closest(".area") ?? at).after(document.importNode(box, !0)) : summary.querySelector("[data-conflicts]").append(document.importNode(box, !0));
  }
}

// static/js/drafts/conflicts.js
var firstConflict = () => form.querySelector("[data-conflict]");
function showFirstConflict() {
  let box = firstConflict();
  return box ? (box.scrollIntoView({ block: "center" }), box.focus({ preventScroll: !0 }), !0) : !1;
}
var fieldsOf = (box) => [...form.querySelectorAll(`[name="${CSS.escape(box.dataset.input)}"]`)];
function resolve(button) {
  let box = button.closest("[data-conflict]"), inputs = box.dataset.input ? fieldsOf(box) : [], [input] = inputs;
  if (button.name === "take") {
    let theirs = box.querySelector("[data-theirs]"), isText = input?.matches("textarea, input:not([type])");
    if (!theirs || !(isText || "window" in box.dataset && input)) return !1;
    if (input.matches("[type=checkbox], [type=radio]"))
      for (let one of inputs) one.checked = theirs.value.split(`
`).includes(one.value);
    else replaceValue(input, theirs.value);
  }
  return form.querySelector(`[data-conflict-link="${CSS.escape(box.dataset.conflict)}"]`)?.remove(), box.remove(), firstConflict() || form.querySelector("[data-conflict-summary]").replaceChildren(), showFirstConflict() || input?.focus?.(), !0;
}
function withOtherWindows(params) {
  for (let box of form.querySelectorAll("[data-conflict][data-window]"))
    params.delete(box.dataset.input), params.append(box.dataset.input, box.querySelector("[data-theirs]").value);
  return params.toString();
}

// static/js/drafts/local_copy.js
var MONTH = 720 * 36e5, PREFIX = `studio:words:${form?.dataset.user}:${location.pathname}:`;
sessionStorage["studio:window"] ??= Math.random().toString(36).slice(2);
var OWN2 = PREFIX + sessionStorage["studio:window"], forgotten = !1, base = "";
function storeLocally() {
  if (forgotten) return !1;
  let data = formValues();
  data.delete("csrfmiddlewaretoken");
  try {
    return localStorage.setItem(OWN2, JSON.stringify({ at: Date.now(), words: [...data], base })), !0;
  } catch {
    return !1;
  }
}
var storeLocallySoon = later(250, storeLocally);
function setConfirmedText(text) {
  base = text;
}
function forgetLocalCopy({ forGood = !1 } = {}) {
  forgotten ||= forGood, storeLocallySoon.stop(), localStorage.removeItem(OWN2);
}
function localCopies() {
  return Object.keys(localStorage).filter((key) => key.startsWith(PREFIX)).map((key) => ({ ...JSON.parse(localStorage[key]), forget: () => localStorage.removeItem(key) })).filter((copy) => Date.now() - copy.at < MONTH || copy.forget()).sort((one, other) => one.at - other.at);
}

// static/js/drafts/presence.js
var place = document.querySelector("[data-presence]");
function showOthers(names) {
  let text = names.length ? `${names.join(", ")} ${names.length > 1 ? "are" : "is"} here` : "";
  place && place.textContent !== text && (place.textContent = text);
}

// static/js/drafts/server.js
var version = () => form.elements.base_version.value, draftNumber = () => form.elements.base_draft.value, headers = () => ({
  "X-CSRFToken": form.elements.csrfmiddlewaretoken.value,
  "X-Studio-Person": form.dataset.user
});
async function request(body) {
  body && renewToken();
  let method = body ? "POST" : "GET";
  return (await fetchAnswer(form.dataset.autosave, { method, body, headers: body ? headers() : {} })).json();
}
async function sendDraft(body, { base: base2, number = draftNumber() }) {
  body.set("base_draft", number);
  let answer = await request(body);
  return answer.stale ? (body.set("base", base2), request(body)) : answer;
}
var MOST_AFTER_LEAVING = 6e4;
function sendWhileLeaving(body) {
  body.set("base_draft", draftNumber()), !(body.toString().length > MOST_AFTER_LEAVING) && fetch(form.dataset.autosave, { method: "POST", body, keepalive: !0, headers: headers() });
}

// static/js/drafts/workflow_state.js
var known = form?.dataset.state ?? "";
async function refreshWorkflow({ state: state2 }) {
  !state2 || state2 === known || (known = state2, await refreshParts() && window.htmx?.process(document.body));
}
async function refreshParts() {
  let answer = await fetch(location.pathname, { redirect: "error" }).catch(() => null);
  if (!answer?.ok) return null;
  let fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (let part of document.querySelectorAll("[data-workflow]")) {
    let now = fresh.querySelector(`[data-workflow="${part.dataset.workflow}"]`);
    now && !part.contains(document.activeElement) && part.replaceChildren(...now.childNodes);
  }
  return fresh;
}
async function refreshAfterVersion() {
  let fresh = await refreshParts();
  for (let anchor of fresh ? document.querySelectorAll("#task .anchor[id^=f-]") : []) {
    let now = fresh?.getElementById(anchor.id);
    if (now) {
      for (let old of findingsAfter(anchor)) old.remove();
      anchor.after(...findingsAfter(now).map((one) => document.importNode(one, !0)));
    }
  }
  window.htmx?.process(document.body);
}
function findingsAfter(anchor) {
  let found = [];
  for (let next = anchor.nextElementSibling; next?.matches(".finding"); next = next.nextElementSibling)
    found.push(next);
  return found;
}

// static/js/drafts/saving.js
var editable = !!form && !form.querySelector(":scope > fieldset[disabled]");
function current() {
  let data = formValues();
  for (let name of ["csrfmiddlewaretoken", "base_draft"]) data.delete(name);
  return serialize(data);
}
var state = createState({
  stored: editable ? current() : "",
  unversioned: editable && "dirty" in form.dataset
});
setConfirmedText(state.stored);
var saveAfterPause = later(PAUSE_BEFORE_SAVE, () => save()), channel = editable && "BroadcastChannel" in window ? new BroadcastChannel(`studio:${form.dataset.autosave}`) : null;
channel && (channel.onmessage = () => catchUp());
function receive(answer, sent) {
  answer.page && merge(answer.page, new URLSearchParams(sent));
  let upToDate = !!answer.page || current() === sent;
  form.elements.base_version.value = answer.version, form.elements.base_draft.value = answer.draft;
  let params = new URLSearchParams(upToDate ? current() : sent);
  params.set("base_version", answer.version);
  let stored = withOtherWindows(params);
  confirmSave(state, { stored, current: current(), versioned: !!answer.versioned }), setConfirmedText(state.stored), receivePresence(answer);
}
function confirmCurrent() {
  state.stored = current(), setConfirmedText(state.stored);
}
function receivePresence(answer) {
  answer.others && (state.others = answer.others, showOthers(state.others)), refreshWorkflow(answer);
}
async function save({ saveVersion = !1 } = {}) {
  if (!state.closed)
    return saveAfterPause.stop(), state.request ? (queueSave(state, { version: saveVersion }), state.request) : (state.firstChangeAt = 0, state.request = saveNow(saveVersion).finally(() => {
      state.request = null;
      let { queued } = state;
      if (state.queued = "", queued) return save({ saveVersion: queued === "version" });
    }), state.request);
}
async function saveNow(asked, withdraw = !1) {
  let sent = current(), pending = asked ? "" : pendingVersion(state, sent), saveVersion = asked || pending === "repeat", body = new URLSearchParams(sent);
  saveVersion && (body.set("save_version", "1"), showStatus("Saving…"), storeLocally()), withdraw && body.set("withdraw", "1");
  let answer;
  try {
    answer = await sendDraft(body, { base: state.stored });
  } catch (error) {
    return state.closed ? void 0 : (state.failing = !0, saveVersion && versionFailed(state, sent, error.reason), storeLocally(), showFailure(error.reason, { version: saveVersion }));
  }
  state.failing = !1, state.wanted = "", state.savedAt = Date.now();
  let isNew = String(answer.draft) !== draftNumber();
  if (receive(answer, sent), keepLocalCopyUntilStored(), clearNotice(), isNew && channel?.postMessage(answer.draft), document.dispatchEvent(new Event("studio:autosaved")), report(answer, saveVersion), pending === "offer" && !answer.versioned && offerVersion(), answer.question) {
    if (await confirmWithdrawal(answer.question)) return saveNow(!0, !0);
    showStatus("Draft saved · not in a version");
  }
  saveVersion && answer.versioned && await saved(answer);
}
function report(answer, saveVersion) {
  answer.problem && saveVersion ? showErrors(answer) : answer.problem ? showStatus(`Draft saved; it cannot be a version yet: ${answer.problem}`) : saveVersion && firstConflict() ? (showStatus("Resolve the conflict first"), showFirstConflict()) : firstConflict() ? showStatus("Draft saved; resolve the conflict") : showSaved(state, version(), answer.merged ? ", merged with changes saved since" : "");
}
async function saved(answer) {
  if (showErrors({}), form.querySelector("[data-restored]")?.remove(), form.elements.note && (form.elements.note.value = ""), current() === withoutNote(state.stored) && confirmCurrent(), keepLocalCopyUntilStored(), answer.address && current() === state.stored)
    return state.closed = !0, location.assign(answer.address);
  await refreshAfterVersion();
}
function withoutNote(text) {
  let params = new URLSearchParams(text);
  return params.has("note") && params.set("note", ""), params.toString();
}
function keepLocalCopyUntilStored() {
  if (current() !== state.stored) return storeLocally();
  markSaved(form), forgetLocalCopy();
}
async function catchUp(answer = null) {
  if (!(state.request || state.closed || document.hidden)) {
    if (state.touched || current() !== state.stored || firstConflict()) return save();
    try {
      if (answer && !isBehind(state, { version: version(), draft: draftNumber() }, answer)) return;
      let sent = current(), body = new URLSearchParams(sent);
      body.set("peek", "1");
      let fresh = await request(body);
      if (state.request || state.touched || current() !== sent) return save();
      state.unversioned = !fresh.versioned, receive(fresh, sent), confirmCurrent(), fresh.versioned ? showStatus(`v${version()}`) : showStatus("Draft saved in another window · not in a version yet"), document.dispatchEvent(new Event("studio:autosaved"));
    } catch {
    }
  }
}
function typed() {
  state.unversioned = !0, state.touched = !0, storeLocallySoon();
  let now = Date.now();
  state.firstChangeAt ||= now;
  let delay = delayOfForcedSave(state, now);
  delay !== null && setTimeout(() => state.firstChangeAt && save(), delay), saveAfterPause();
}

// static/js/drafts/leaving.js
async function submitted(event) {
  if (event.defaultPrevented) return;
  if (event.target === form) return submitForm(event);
  let other = event.target;
  if (other.method === "post" && !other.hasAttribute("hx-post")) return saveBefore(other, event);
}
async function submitForm(event) {
  let button = event.submitter;
  if (button?.matches("[data-discard]")) return discard(event, button);
  if (button?.matches("[data-resolve], [name=do]") || carriesFiles()) return submitNatively(event, button);
  if (event.preventDefault(), firstConflict())
    return showFirstConflict(), showStatus("Resolve the conflict first");
  showStatus("Saving…"), await save({ saveVersion: !0 });
}
var carriesFiles = () => [...form.querySelectorAll("input[type=file]")].some((input) => input.files.length);
async function submitNatively(event, button) {
  storeLocally(), state.closed = !0, markSaved(form), state.request && (event.preventDefault(), await state.request, form.requestSubmit(button ?? void 0));
}
async function discard(event, button) {
  event.preventDefault(), state.request && await state.request;
  try {
    await request(new URLSearchParams({ discard: "1" }));
  } catch (error) {
    return showFailure(error.reason, { version: !1 });
  }
  forgetLocalCopy({ forGood: !0 }), state.closed = !0, clearNotice(), location.assign(button.dataset.discard || location.pathname);
}
async function saveBefore(other, event) {
  if (!(current() === state.stored || state.closed)) {
    if (event.preventDefault(), state.request && await state.request, await save(), state.request && await state.request, current() !== state.stored) return void showFirstConflict();
    state.closed = !0, other.requestSubmit(event.submitter ?? void 0);
  }
}
function left() {
  state.closed || !hasUnsaved(state, current()) || (storeLocally(), sendWhileLeaving(new URLSearchParams(current())));
}
function beforeLeaving(event) {
  carriesFiles() || (current() === state.stored || storeLocally()) && event.preventDefault();
}

// static/js/drafts/restore.js
async function restore(copy) {
  let before = current(), body = new URLSearchParams(copy.words);
  body.set("render", "1");
  try {
    let answer = await sendDraft(body, { base: copy.base ?? "", number: body.get("base_draft") ?? "0" });
    return state.unversioned = !0, receive(answer, before), copy.forget(), current() !== state.stored && storeLocally(), state.savedAt = Date.now(), answer.versioned ? showSaved(state, version()) : showStatus(`Unsaved changes restored · v${version()}`), !0;
  } catch (error) {
    return state.failing = !0, showFailure(error.reason ?? "broken", { version: !1 }), !1;
  }
}
async function restoreAll(copies) {
  for (let copy of copies) if (!await restore(copy) || firstConflict()) return;
}

// static/js/drafts/autosave.js
var HEARTBEAT = 1e4;
async function heartbeat() {
  if (!state.closed) {
    if (state.failing) return save();
    if (!document.hidden)
      try {
        let answer = await request(null);
        receivePresence(answer), isBehind(state, { version: version(), draft: draftNumber() }, answer) && await catchUp(answer);
      } catch {
      }
  }
}
if (editable) {
  onChange(typed), form.addEventListener("click", (event) => {
    let button = event.target.closest("[data-resolve]");
    button && resolve(button) && (event.preventDefault(), state.unversioned = !0, state.touched = !0, save());
  }), document.addEventListener("submit", submitted), window.addEventListener("online", () => save()), document.addEventListener("visibilitychange", () => {
    document.hidden ? state.unversioned && current() !== state.stored && storeLocally() : heartbeat();
  }), window.addEventListener("focus", () => state.failing && save()), onSignIn(() => state.failing && save()), document.addEventListener("studio:newer", () => save()), form.addEventListener("studio:leaving", beforeLeaving), window.addEventListener("pagehide", left), window.addEventListener("pageshow", (event) => {
    event.persisted && (state.closed = !1, heartbeat());
  }), setInterval(() => refreshAge(state, version()), 1e3), setInterval(heartbeat, HEARTBEAT);
  let copies = localCopies();
  copies.length ? restoreAll(copies) : heartbeat();
}
