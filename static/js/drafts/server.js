// Requests of a draft's page to the server.
import { form } from "./form.js";

export class SignedOutError extends Error {}
export class RejectedError extends Error {}

export const version = () => form.elements.base_version.value;
const headers = () => ({
  "X-CSRFToken": form.elements.csrfmiddlewaretoken.value,
  "X-Studio-Person": form.dataset.user,
});

/**
 * Posts the form, or without a body asks for the newest version and who is here.
 * @param {URLSearchParams | null} body
 */
export async function request(body) {
  const answer = await fetch(form.dataset.autosave, {
    method: body ? "POST" : "GET",
    body,
    redirect: "manual",
    headers: body ? headers() : {},
  });
  if (answer.type === "opaqueredirect" || [401, 403].includes(answer.status)) throw new SignedOutError();
  if (!answer.ok) throw new RejectedError(String(answer.status));
  return answer.json();
}

const MOST_AFTER_LEAVING = 60_000; // bytes that browsers send once the page is gone

export function sendWhileLeaving(body) {
  if (body.toString().length > MOST_AFTER_LEAVING) return;
  fetch(form.dataset.autosave, { method: "POST", body, keepalive: true, headers: headers() });
}
