// Where a task stands on its way, and what may be done with it, as it is now: an edit ends an approval.
import { form } from "./form.js";

let known = form?.dataset.state ?? "";

export async function standing(said) {
  if (!said.state || said.state === known) return;
  known = said.state;
  const answer = await fetch(location.pathname, { redirect: "error" }).catch(() => null);
  if (!answer?.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const place of document.querySelectorAll("[data-workflow]")) {
    const now = fresh.querySelector(`[data-workflow="${place.dataset.workflow}"]`);
    if (now && !place.contains(document.activeElement)) place.replaceChildren(...now.childNodes);
  }
  window.htmx?.process(document.body);
}
