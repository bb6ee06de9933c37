// Requests by fetch, and why one failed, told alike on every page.

const PATIENCE = 30_000; // ms until a request counts as lost

export class RequestError extends Error {
  /** @param {"offline" | "timeout" | "signed-out" | "rejected" | "broken"} reason */
  constructor(reason) {
    super(reason);
    this.reason = reason;
  }
}

/**
 * The server's answer; throws a RequestError for anything else than a success.
 * @param {string} address
 * @param {RequestInit} options
 */
export async function fetchAnswer(address, options) {
  let answer;
  try {
    answer = await fetch(address, { redirect: "manual", signal: AbortSignal.timeout(PATIENCE), ...options });
  } catch (/** @type {any} */ error) {
    throw new RequestError(error.name === "TimeoutError" ? "timeout" : "offline");
  }
  if (answer.type === "opaqueredirect" || [401, 403].includes(answer.status)) throw new RequestError("signed-out");
  if (answer.status >= 500) throw new RequestError("broken");
  if (!answer.ok) throw new RequestError("rejected");
  return answer;
}
