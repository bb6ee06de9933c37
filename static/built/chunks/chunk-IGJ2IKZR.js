// static/js/shared/requests.js
var RequestError = class extends Error {
  /** @param {"offline" | "timeout" | "signed-out" | "rejected" | "broken"} reason */
  constructor(reason) {
    super(reason), this.reason = reason;
  }
};
async function fetchAnswer(address, options) {
  let answer;
  try {
    answer = await fetch(address, { redirect: "manual", signal: AbortSignal.timeout(3e4), ...options });
  } catch (error) {
    throw new RequestError(error.name === "TimeoutError" ? "timeout" : "offline");
  }
  if (answer.type === "opaqueredirect" || [401, 403].includes(answer.status)) throw new RequestError("signed-out");
  if (answer.status >= 500) throw new RequestError("broken");
  if (!answer.ok) throw new RequestError("rejected");
  return answer;
}

export {
  fetchAnswer
};
