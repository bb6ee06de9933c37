// Findings: stepping through them, one-click fixes, and dismissals that keep unsaved text.
import { field, form, formValues, go, serialize } from "../drafts/form.js";
import { findingAt, follow } from "../shared/highlighted_text.js";
import { blank, undoable } from "../shared/rows.js";
import { check, show } from "./live_checks.js";

const pane = document.querySelector("[data-pane]");
const problem = document.querySelector("[data-dismissal-problem]");

// Marks the place that a link leads to, and its finding, as the current ones.
function mark(link) {
  for (const one of pane.querySelectorAll("[data-current]")) delete one.dataset.current;
  link.dataset.current = "";
  link.closest("[data-finding]").dataset.current = "";
}

// A finding may have several places: each is a step.
function step(by) {
  const all = [...pane.querySelectorAll("[data-show]")];
  if (!all.length) return;
  const at = all.findIndex((one) => "current" in one.dataset);
  const link = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : (at + by + all.length) % all.length];
  mark(link);
  const place = (link.dataset.goto && field(link.dataset.goto)) ?? document.querySelector(link.getAttribute("href"));
  place?.closest("details")?.setAttribute("open", "");
  place?.scrollIntoView({ block: "center" });
  link.focus({ preventScroll: true });
  link.closest("[data-finding]").scrollIntoView({ block: "nearest" });
}

// With the cursor in underlined words, the list shows what they are about.
function showInList() {
  const area = document.activeElement;
  if (!area?.matches?.(".area > textarea")) return;
  const fingerprint = findingAt(area, area.selectionStart);
  const link = fingerprint && pane.querySelector(`[data-show="${CSS.escape(fingerprint)}"]`);
  if (!link || "current" in link.dataset) return;
  mark(link);
  const current = link.closest("[data-finding]");
  const side = current.closest(".side");
  if (side && side.scrollHeight > side.clientHeight) current.scrollIntoView({ block: "nearest" });
}

function put(name, value) {
  const input = field(name);
  if (!input || input.value === value) return;
  input.value = value;
  if (input.matches(".area > textarea")) follow(input);
  input.dispatchEvent(new Event("change", { bubbles: true }));
}

const listOf = (name) => form.querySelector(`[data-rows="${CSS.escape(name)}"]`);

function act(change) {
  if ("put" in change) return put(change.put, change.value);
  const list = listOf(change.remove ?? change.add);
  if (change.remove) {
    const key = form.querySelector(
      `[data-rows] > [data-row] > input[name="${CSS.escape(change.remove)}"][value="${CSS.escape(change.row)}"]`,
    );
    return key?.closest("[data-row]").remove();
  }
  const rows = list.querySelectorAll(":scope > [data-row]");
  const row = blank(list, rows[rows.length - 1]);
  for (const [name, value] of Object.entries(change.values)) {
    const input = row.querySelector(`[name$=".${name}"]`);
    if (input) input.value = value;
  }
}

function applyFix(button) {
  const changes = JSON.parse(button.dataset.fix);
  const list = changes.map((change) => change.remove ?? change.add).find(Boolean);
  undoable(list ? listOf(list) : form, () => changes.forEach(act));
  const place = changes[0].put ?? "";
  if (place) go(place);
  else if (list) listOf(list).scrollIntoView({ block: "center" });
  check();
}

// A dismissal applies to the page as it is, saved or not: the form is sent along, and its findings come back.
async function dismiss(own, button) {
  const body = new URLSearchParams(serialize(formValues()));
  const said = new FormData(own, button);
  for (const name of new Set(said.keys())) body.delete(name);
  for (const [name, value] of said) body.append(name, String(value));
  if (button) button.disabled = true;
  let result;
  try {
    const answer = await fetch(own.action, { method: "POST", body, redirect: "error" });
    if (!answer.ok) throw new Error(String(answer.status));
    result = await answer.json();
  } catch {
    result = { problem: "The server could not be reached. Your reason is still here; try again." };
  }
  if (button) button.disabled = false;
  problem.hidden = !result.problem;
  problem.textContent = result.problem ?? "";
  if (!result.findings || result.problem) return;
  const at = [...pane.querySelectorAll("[data-finding]")].indexOf(own.closest("[data-finding]"));
  document.activeElement?.blur();
  show(result);
  const undo = said.get("verdict") === "waive" && offerUndo(said.get("fingerprint"), at);
  focusFinding(at, undo);
}

// The way back stands where the card was, until the findings are shown anew.
function offerUndo(fingerprint, at) {
  const own = pane.querySelector(`.waived input[name="fingerprint"][value="${CSS.escape(fingerprint)}"]`)?.form;
  if (!own) return null;
  const line = document.createElement("div");
  line.className = "panel pad small line";
  line.append("Dismissed.", own.cloneNode(true));
  const all = pane.querySelectorAll("[data-finding]");
  if (all[at]) all[at].before(line);
  else (all[all.length - 1] ?? own.closest("details").previousElementSibling).after(line);
  return line.querySelector("button");
}

// Whoever works by keyboard goes on with the finding that came to this place.
function focusFinding(at, undo) {
  const all = pane.querySelectorAll("[data-finding]");
  const next = all[at] ?? all[all.length - 1];
  (next?.querySelector("summary, a, button") ?? (undo || pane.querySelector("[data-tab=findings]"))).focus();
}

if (pane && form) {
  document.addEventListener("selectionchange", showInList);
  pane.addEventListener("click", (event) => {
    const stepper = event.target.closest("[data-step]");
    if (stepper) return step(Number(stepper.dataset.step));
    const button = event.target.closest("[data-fix]");
    if (button) applyFix(button);
  });
  document.addEventListener(
    "submit",
    (event) => {
      if (!event.target.matches("[data-dismissal]")) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      dismiss(event.target, event.submitter);
    },
    true,
  );
}
