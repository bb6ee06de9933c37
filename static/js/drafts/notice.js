// What is said across the page, below the Save button: why text could not be saved, and what to do.
import { failureNotice } from "./autosave_state.js";
import { form, go } from "./form.js";
import { showStatus } from "./save_status.js";

const STATUS = {
  offline: "No connection: saved in this browser",
  timeout: "No answer: saved in this browser",
  "signed-out": "You are signed out: saved in this browser",
  rejected: "The server rejected the draft: saved in this browser",
  broken: "Server error: saved in this browser",
};
/** @type {any} */
let box = null;

function element(name, properties) {
  return Object.assign(document.createElement(name), properties);
}

export function showNotice(text, ...actions) {
  if (!box) {
    box = element("div", { className: "save-notice" });
    box.setAttribute("role", "alert");
    document.querySelector("header.top")?.after(box);
  }
  if (box.dataset.text === text) return; // said already: a screen reader need not hear it again
  box.dataset.text = text;
  box.replaceChildren(element("span", { textContent: text }), ...actions);
}

export function clearNotice() {
  box?.remove();
  box = null;
}

// Opens the sign-in page in a small window, which closes itself; this page hears of it.
export function signInLink() {
  const link = element("a", { className: "button small main", textContent: "Sign in", target: "studio-sign-in" });
  link.href = document.body.dataset.signIn;
  link.addEventListener("click", (event) => {
    if (window.open(link.href, "studio-sign-in", "popup,width=520,height=680")) event.preventDefault();
  });
  return link;
}

function saveAgain(textContent) {
  const button = element("button", { type: "button", className: "button small", textContent });
  button.addEventListener("click", () => form.requestSubmit(form.querySelector("[data-save]") ?? undefined));
  return button;
}

/**
 * @param {"offline" | "timeout" | "signed-out" | "rejected" | "broken"} reason
 * @param {{version: boolean}} wanted whether the user asked for a version
 */
export function showFailure(reason, { version }) {
  const notice = failureNotice(reason, { version });
  showStatus(STATUS[reason], notice);
  if (reason === "signed-out") showNotice(notice, signInLink());
  else if (version) showNotice(notice, saveAgain("Try again"));
}

/**
 * Asks which of one person's texts of two windows to go on with; the other can be taken back for 30 days.
 * @param {string} said
 * @param {[string, () => void][]} choices
 */
export function offerTexts(said, choices) {
  showStatus("You typed in two windows: saved in this browser");
  const buttons = choices.map(([textContent, act]) => {
    const button = element("button", { type: "button", className: "button small", textContent });
    button.addEventListener("click", act);
    return button;
  });
  showNotice(`${said} Choose which text to keep; the other can be taken back for 30 days.`, ...buttons);
}

// Text typed since a version failed is saved as a draft; whether it is the version that was meant, its author says.
export function offerVersion() {
  showNotice("Your draft is saved. The version you asked for is not.", saveAgain("Save version"));
}

// The errors of a version that could not be made, each beside its field.
export function showErrors({ errors = {}, problem = "" }) {
  for (const old of form.querySelectorAll("[data-save-error]")) old.remove();
  for (const input of form.querySelectorAll("[aria-invalid]")) input.removeAttribute("aria-invalid");
  const names = Object.keys(errors);
  if (!problem && !names.length) return form.querySelector(".form-errors")?.remove();
  for (const [name, text] of Object.entries(errors)) {
    const input = form.querySelector(`[name="${CSS.escape(name)}"]:not([type=hidden])`);
    if (!input) continue;
    input.setAttribute("aria-invalid", "true");
    const line = element("p", { className: "error", textContent: text });
    line.dataset.saveError = "";
    (input.closest(".area") ?? input).after(line);
  }
  showStatus("Draft saved; not saved as a version");
  showNotice(`Not saved as a version: ${problem} Your draft is saved.`);
  names.some((name) => go(name));
}

/** Asks before a version ends a review or an approval. */
export function confirmWithdrawal(question) {
  const dialog = element("dialog", { className: "stack tight" });
  const text = element("p", { textContent: question, id: "withdrawal-question" });
  dialog.setAttribute("aria-labelledby", text.id);
  const stay = element("button", { type: "button", className: "button", textContent: "Keep it as a draft" });
  const go = element("button", { type: "button", className: "button main", textContent: "Save version" });
  const line = element("div", { className: "line" });
  line.append(go, stay);
  dialog.append(text, element("p", { className: "quiet small", textContent: "Your draft is saved either way." }), line);
  document.body.append(dialog);
  return new Promise((done) => {
    go.addEventListener("click", () => dialog.close("save"));
    stay.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => {
      dialog.remove();
      done(dialog.returnValue === "save");
    });
    dialog.showModal();
    stay.focus();
  });
}
