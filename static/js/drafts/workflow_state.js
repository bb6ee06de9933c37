// The task's state and the steps it allows, as they are now: an edit withdraws an approval.
import { form } from "./form.js";

let known = form?.dataset.state ?? "";

export async function refreshWorkflow({ state }) {
  if (!state || state === known) return;
  known = state;
  const answer = await fetch(location.pathname, { redirect: "error" }).catch(() => null);
  if (!answer?.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of document.querySelectorAll("[data-workflow]")) {
    const now = fresh.querySelector(`[data-workflow="${part.dataset.workflow}"]`);
    if (now && !part.contains(document.activeElement)) part.replaceChildren(...now.childNodes);
  }
  window.htmx?.process(document.body);
}
