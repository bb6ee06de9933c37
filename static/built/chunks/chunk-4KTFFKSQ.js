import {
  read
} from "./chunk-JPS3M5OM.js";

// static/js/drafts/form.js
var form = document.querySelector("form[data-autosave]"), field = (name, root = form) => root?.querySelector(`[name="${CSS.escape(name)}"]`), keyOf = (row) => row.querySelector(":scope > input[type=hidden]").value, lineOf = (row) => row.querySelector(":scope .area > textarea");
function formValues() {
  let data = new FormData(form);
  for (let [name, value] of [...data]) value instanceof File && data.delete(name);
  return data;
}
var serialize = (data) => new URLSearchParams([...data]).toString();
function later(wait, act) {
  let timer, start = () => {
    clearTimeout(timer), timer = setTimeout(act, wait);
  };
  return start.stop = () => clearTimeout(timer), start;
}
function onChange(act) {
  if (!form) return;
  let own = (event) => event.target.name !== "note" && event.target.type !== "file" && act(event);
  form.addEventListener("input", own), form.addEventListener("change", own), form.addEventListener("studio:changed", (event) => !event.detail?.quiet && act(event));
}
function go(name, fallback) {
  let target = (name && field(name)) ?? (fallback && document.querySelector(fallback));
  return target ? (target.closest("details")?.setAttribute("open", ""), target.scrollIntoView({ block: "center" }), target.matches("input, textarea, select") && target.focus({ preventScroll: !0 }), !0) : !1;
}
function renewToken() {
  let token = read("csrftoken");
  if (!(!token || token === form?.elements.csrfmiddlewaretoken?.value)) {
    for (let input of document.querySelectorAll("[name=csrfmiddlewaretoken]")) input.value = token;
    document.body.setAttribute("hx-headers", JSON.stringify({ "X-CSRFToken": token }));
  }
}

// static/js/drafts/autosave_state.js
function createState({ stored = "", unversioned = !1 } = {}) {
  return {
    stored,
    touched: !1,
    unversioned,
    request: null,
    queued: "",
    firstChangeAt: 0,
    savedAt: 0,
    others: [],
    failing: !1,
    wanted: "",
    closed: !1
  };
}
var PAUSE_BEFORE_SAVE = 1200;
function delayOfForcedSave(state, now) {
  let elapsed = now - state.firstChangeAt;
  return elapsed > 700 ? Math.max(0, 1900 - elapsed) : null;
}
function queueSave(state, { version }) {
  state.queued = version || state.queued === "version" ? "version" : "draft";
}
function versionFailed(state, sent, reason) {
  state.wanted = reason === "rejected" ? "" : sent;
}
function pendingVersion(state, current) {
  return state.wanted ? state.wanted === current ? "repeat" : "offer" : "";
}
function confirmSave(state, { stored, current, versioned }) {
  state.stored = stored, state.touched = current !== stored, versioned && current === stored && (state.unversioned = !1);
}
function hasUnsaved(state, current) {
  return state.touched && current !== state.stored;
}
function isBehind(state, known, answer) {
  return state.request || state.closed ? !1 : String(answer.version) !== known.version || String(answer.draft) !== known.draft;
}
function age(savedAt, now) {
  let seconds = Math.round((now - savedAt) / 1e3);
  return seconds < 2 ? "just now" : seconds < 60 ? `${seconds} s ago` : `${Math.round(seconds / 60)} min ago`;
}
function savedStatus(state, version, now) {
  let ago = age(state.savedAt, now);
  return state.unversioned ? `Draft saved ${ago} · not in a version yet` : `Saved as version ${version} · ${ago}`;
}
function failureNotice(reason, { version }) {
  let safe = "Your text is safe in this browser", lead = version ? "Not saved as a version: " : "", sent = version ? ", and the version is saved" : " and is sent", sentence = {
    offline: `there is no connection. ${safe}${sent} when the connection is back.`,
    timeout: `the server did not answer. ${safe}${sent} when it answers again.`,
    "signed-out": `you are signed out. ${safe}${sent} as soon as you sign in.`,
    rejected: `the server could not accept this text; it may be too long. ${safe}.`,
    broken: `something went wrong on our side. ${safe}${sent} as soon as it works again.`
  }[reason];
  return lead ? lead + sentence : sentence[0].toUpperCase() + sentence.slice(1);
}

// static/js/drafts/save_status.js
var place = document.querySelector("[data-save-status]"), timed = "", isTimed = !1;
function showStatus(text, title = text) {
  isTimed = !1, place && (place.textContent = text, place.title = title);
}
function showSaved(state, version, more = "") {
  showStatus(savedStatus(state, version, Date.now()) + more), timed = more, isTimed = !0;
}
function refreshAge(state, version) {
  isTimed && showSaved(state, version, timed);
}

// static/js/drafts/notice.js
var STATUS = {
  offline: "No connection: saved in this browser",
  timeout: "No answer: saved in this browser",
  "signed-out": "You are signed out: saved in this browser",
  rejected: "The server rejected the draft: saved in this browser",
  broken: "Server error: saved in this browser"
}, box = null;
function element(name, properties) {
  return Object.assign(document.createElement(name), properties);
}
function showNotice(text, ...actions) {
  box || (box = element("div", { className: "save-notice" }), box.setAttribute("role", "alert"), document.querySelector("header.top")?.after(box)), box.dataset.text !== text && (box.dataset.text = text, box.replaceChildren(element("span", { textContent: text }), ...actions));
}
function clearNotice() {
  box?.remove(), box = null;
}
function signInLink() {
  let link = element("a", { className: "button small main", textContent: "Sign in", target: "studio-sign-in" });
  return link.href = document.body.dataset.signIn, link.addEventListener("click", (event) => {
    window.open(link.href, "studio-sign-in", "popup,width=520,height=680") && event.preventDefault();
  }), link;
}
function saveAgain(textContent) {
  let button = element("button", { type: "button", className: "button small", textContent });
  return button.addEventListener("click", () => form.requestSubmit(form.querySelector("[data-save]") ?? void 0)), button;
}
function showFailure(reason, { version }) {
  let notice = failureNotice(reason, { version });
  showStatus(STATUS[reason], notice), reason === "signed-out" ? showNotice(notice, signInLink()) : version && showNotice(notice, saveAgain("Try again"));
}
function offerVersion() {
  showNotice("Your draft is saved. The version you asked for is not.", saveAgain("Save version"));
}
function showErrors({ errors = {}, problem = "" }) {
  for (let old of form.querySelectorAll("[data-save-error]")) old.remove();
  for (let input of form.querySelectorAll("[aria-invalid]")) input.removeAttribute("aria-invalid");
  let names = Object.keys(errors);
  if (!problem && !names.length) return form.querySelector(".form-errors")?.remove();
  for (let [name, text] of Object.entries(errors)) {
    let input = form.querySelector(`[name="${CSS.escape(name)}"]:not([type=hidden])`);
    if (!input) continue;
    input.setAttribute("aria-invalid", "true");
    let line = element("p", { className: "error", textContent: text });
    line.dataset.saveError = "", (input.closest(".area") ?? input).after(line);
  }
  showStatus("Draft saved; not saved as a version"), showNotice(`Not saved as a version: ${problem} Your draft is saved.`), names.some((name) => go(name));
}
function confirmWithdrawal(question) {
  let dialog = element("dialog", { className: "stack tight" }), text = element("p", { textContent: question, id: "withdrawal-question" });
  dialog.setAttribute("aria-labelledby", text.id);
  let stay = element("button", { type: "button", className: "button", textContent: "Keep it as a draft" }), go2 = element("button", { type: "button", className: "button main", textContent: "Save version" }), line = element("div", { className: "line" });
  return line.append(go2, stay), dialog.append(text, element("p", { className: "quiet small", textContent: "Your draft is saved either way." }), line), document.body.append(dialog), new Promise((done) => {
    go2.addEventListener("click", () => dialog.close("save")), stay.addEventListener("click", () => dialog.close()), dialog.addEventListener("close", () => {
      dialog.remove(), done(dialog.returnValue === "save");
    }), dialog.showModal(), stay.focus();
  });
}

export {
  form,
  field,
  keyOf,
  lineOf,
  formValues,
  serialize,
  later,
  onChange,
  go,
  renewToken,
  createState,
  PAUSE_BEFORE_SAVE,
  delayOfForcedSave,
  queueSave,
  versionFailed,
  pendingVersion,
  confirmSave,
  hasUnsaved,
  isBehind,
  showStatus,
  showSaved,
  refreshAge,
  showNotice,
  clearNotice,
  signInLink,
  showFailure,
  offerVersion,
  showErrors,
  confirmWithdrawal
};
