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

/**
 * Posts the draft. If another window of this user stored newer text, it is merged with what this window changed in
 * `base`, the text that the server last confirmed here.
 * @param {URLSearchParams} body
 * @param {{base: string, number?: string}} known
 */
export async function sendDraft(body, { base, number = draftNumber() }) {
  body.set("base_draft", number);
  const answer = await request(body);
  if (!answer.stale) return answer;
  body.set("base", base);
  return request(body);
}

const MOST_AFTER_LEAVING = 60_000; // bytes that browsers send once the page is gone

export function sendWhileLeaving(body) {
  body.set("base_draft", draftNumber());
  if (body.toString().length > MOST_AFTER_LEAVING) return;
  fetch(form.dataset.autosave, { method: "POST", body, keepalive: true, headers: headers() });
}
