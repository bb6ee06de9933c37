// Findings while typing: the page is checked as it is now, and what findings are about is underlined. Findings beside a
// field do not move: they fade when fixed, and new ones appear in the side pane.
import { form, formValues, later, onChange, serialize } from "../drafts/form.js";
import { markFindings } from "../shared/highlighted_text.js";

const SOONEST = 3000;
const LATEST = 60000;

let last = "";
let pause = SOONEST;
let timer = 0;
/** @type {AbortController | null} */
let running = null;

async function check() {
  const text = serialize(formValues());
  if (text === last) return;
  running?.abort();
  const own = new AbortController();
  running = own;
  let said;
  try {
    const answer = await fetch(form.dataset.check, {
      method: "POST",
      body: new URLSearchParams(text),
      signal: own.signal,
      redirect: "error",
    });
    if (!answer.ok) return;
    said = await answer.json();
  } catch {
    return; // offline, which autosave reports, or replaced by a newer check
  }
  last = text;
  show(said);
}

// Shows the result of a check: the side pane's lists, the underlined text, the outline's counts.
export function show(said) {
  for (const name of ["findings", "evidence"]) {
    const place = document.querySelector(`[data-live="${name}"]`);
    if (place && !place.contains(document.activeElement)) {
      place.innerHTML = said[name];
      window.htmx?.process(place);
    }
  }
  awaitOpinion();
  const count = document.querySelector("[data-pane] [data-count]");
  if (count) count.textContent = said.count;
  const stepper = document.querySelector("[data-stepper]");
  if (stepper) stepper.hidden = !said.count;
  for (const link of document.querySelectorAll(".outline [data-part]")) {
    outline(link, said.sections[link.dataset.part]);
    link.querySelector("[data-part-count]").textContent = said.parts[link.dataset.part] ?? "";
  }
  // What the page was drawn with may be fixed in the draft already: only what is fixed while it is open fades.
  const isFirst = !document.documentElement.dataset.checked;
  for (const one of form.querySelectorAll(".finding.slim[data-fingerprint]")) {
    const fixed = !said.fingerprints.includes(one.dataset.fingerprint);
    if (fixed && isFirst) one.remove();
    else one.classList.toggle("fixed", fixed);
  }
  const marks = new Map();
  for (const one of said.marks) marks.set(one.input, [...(marks.get(one.input) ?? []), one]);
  for (const area of form.querySelectorAll(".area > textarea")) markFindings(area, marks.get(area.name) ?? []);
  document.documentElement.dataset.checked = String(Number(document.documentElement.dataset.checked ?? 0) + 1);
}

// While a model is asked for a second opinion, the page looks again, less and less often.
function awaitOpinion() {
  clearTimeout(timer);
  if (!document.querySelector("[data-opinion-pending]")) {
    pause = SOONEST;
    return;
  }
  timer = setTimeout(() => {
    if (document.hidden) return awaitOpinion();
    last = "";
    check();
  }, pause);
  pause = Math.min(pause * 1.5, LATEST);
}

function outline(link, found) {
  const place = link.querySelector("[data-finding-count]");
  place.hidden = !found;
  place.className = `push finding-count ${found?.severity ?? ""}`;
  place.textContent = found?.count ?? "";
  place.title = found ? `${found.count} finding${found.count > 1 ? "s" : ""}` : "";
}

if (form && !form.querySelector("fieldset[disabled]")) {
  const soon = later(350, check);
  onChange(soon);
  // One-click fixes, and what was left out of a long page, come with the first check.
  const early = "[data-live] [data-finding], [data-live][data-deferred], [data-opinion-pending]";
  if (document.querySelector(early)) check();
  document.addEventListener("studio:autosaved", soon);
}

export { check };
