// Requests of a draft's page to the server.
import { fetchAnswer } from "../shared/requests.js";
import { form, renewToken } from "./form.js";

export const version = () => form.elements.base_version.value;
export const draftNumber = () => form.elements.base_draft.value;
const headers = () => ({
  "X-CSRFToken": form.elements.csrfmiddlewaretoken.value,
  "X-Studio-Person": form.dataset.user,
});

/**
 * Posts the form, or without a body asks for the newest version and who is here.
 * @param {URLSearchParams | null} body
 */
export async function request(body) {
  if (body) renewToken();
  const method = body ? "POST" : "GET";
  return (await fetchAnswer(form.dataset.autosave, { method, body, headers: body ? headers() : {} })).json();
}

// Not kept: a browser that duplicates a tab copies what the tab keeps, and two windows would be one.
export const WINDOW = Math.random().toString(36).slice(2);

/**
 * Posts the draft. `elsewhere` is answered where another window of this user stored newer text than `number`.
 * @param {URLSearchParams} body
 */
export async function sendDraft(body, { number = draftNumber(), from = WINDOW } = {}) {
  body.set("base_draft", number);
  body.set("window", from);
  return request(body);
}

const MOST_AFTER_LEAVING = 60_000; // bytes that browsers send once the page is gone

export function sendWhileLeaving(body) {
  body.set("base_draft", draftNumber());
  body.set("window", WINDOW);
  if (body.toString().length > MOST_AFTER_LEAVING) return;
  fetch(form.dataset.autosave, { method: "POST", body, keepalive: true, headers: headers() });
}
