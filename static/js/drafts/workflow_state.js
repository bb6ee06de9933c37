// What the page says of the task's state and versions, brought up to date: an edit withdraws an approval.
import { form } from "./form.js";

let known = form?.dataset.state ?? "";

export async function refreshWorkflow({ state }) {
  if (!state || state === known) return;
  known = state;
  if (await refreshParts()) window.htmx?.process(document.body);
}

async function refreshParts() {
  const answer = await fetch(location.pathname, { redirect: "error" }).catch(() => null);
  if (!answer?.ok) return null;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of document.querySelectorAll("[data-workflow]")) {
    const now = fresh.querySelector(`[data-workflow="${part.dataset.workflow}"]`);
    if (now && !part.contains(document.activeElement)) part.replaceChildren(...now.childNodes);
  }
  return fresh;
}

// Findings beside the fields are those of the newest version; rows keep their numbers in a save.
export async function refreshAfterVersion() {
  const fresh = await refreshParts();
  for (const anchor of fresh ? document.querySelectorAll("#task .anchor[id^=f-]") : []) {
    const now = fresh?.getElementById(anchor.id);
    if (!now) continue;
    for (const old of findingsAfter(anchor)) old.remove();
    anchor.after(...findingsAfter(now).map((one) => document.importNode(one, true)));
  }
  window.htmx?.process(document.body);
}

function findingsAfter(anchor) {
  const found = [];
  for (let next = anchor.nextElementSibling; next?.matches(".finding"); next = next.nextElementSibling)
    found.push(next);
  return found;
}
