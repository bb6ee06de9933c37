// The form of the page that is edited, its fields and its values.
import { read } from "../shared/cookies.js";

export const form = document.querySelector("form[data-autosave]");

export const field = (name, root = form) => root?.querySelector(`[name="${CSS.escape(name)}"]`);

// A row's key, and the text field of its line.
export const keyOf = (row) => row.querySelector(":scope > input[type=hidden]").value;
export const lineOf = (row) => row.querySelector(":scope .area > textarea");

// The form's values without files, which are only sent with the Save button.
export function formValues() {
  const data = new FormData(form);
  for (const [name, value] of [...data]) if (value instanceof File) data.delete(name);
  return data;
}

export const serialize = (data) => new URLSearchParams([...data]).toString();

export function later(wait, act) {
  let timer;
  const start = () => {
    clearTimeout(timer);
    timer = setTimeout(act, wait);
  };
  start.stop = () => clearTimeout(timer);
  return start;
}

// Calls `act` after every change of a value or of the order of rows.
export function onChange(act) {
  if (!form) return;
  const own = (event) => event.target.name !== "note" && event.target.type !== "file" && act(event);
  form.addEventListener("input", own);
  form.addEventListener("change", own);
  form.addEventListener("studio:changed", (event) => !event.detail?.quiet && act(event));
}

export function go(name, fallback) {
  const target = (name && field(name)) ?? (fallback && document.querySelector(fallback));
  if (!target) return false;
  target.closest("details")?.setAttribute("open", "");
  target.dispatchEvent(new CustomEvent("studio:reach", { bubbles: true })); // rows that hide it show it
  target.scrollIntoView({ block: "center" });
  if (target.matches("input, textarea, select")) target.focus({ preventScroll: true });
  return true;
}

// Signing in again in another tab changes the token; with its old one the page would be rejected for good.
export function renewToken() {
  const token = read("csrftoken");
  if (!token || token === form?.elements.csrfmiddlewaretoken?.value) return;
  for (const input of document.querySelectorAll("[name=csrfmiddlewaretoken]")) input.value = token;
  document.body.setAttribute("hx-headers", JSON.stringify({ "X-CSRFToken": token }));
}
