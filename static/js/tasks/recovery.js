// An earlier session is chosen by number and title: its id, which the files know it by, is written for nobody to read.
import { form } from "../drafts/form.js";

const sessions = () => [...(document.querySelector("#recovery-places")?.options ?? [])].filter((one) => "session" in one.dataset);

function choose(row) {
  const kind = row.querySelector("[data-recovery-kind]");
  const ref = row.querySelector('[name$=".ref"]');
  const shown = row.querySelector("[data-session-choice]");
  row.querySelector("[data-session-name]")?.remove();
  ref.hidden = kind.value === "session" && sessions().length > 0;
  if (!ref.hidden) return shown?.remove();
  const select = shown ?? document.createElement("select");
  if (!shown) {
    select.dataset.sessionChoice = "";
    select.setAttribute("aria-label", "Which session");
    ref.after(select);
  }
  const known = sessions().map((one) => new Option(one.label || one.textContent, one.value));
  if (!known.some((one) => one.value === ref.value)) known.unshift(new Option(ref.value || "which session", ref.value));
  select.replaceChildren(...known);
  select.value = ref.value;
}

const all = (root) => root.querySelectorAll("[data-recovery-kind]").forEach((kind) => choose(kind.closest("[data-row]")));

if (form) {
  form.addEventListener("change", (event) => {
    if (event.target.matches("[data-recovery-kind]")) choose(event.target.closest("[data-row]"));
    if (!event.target.matches("[data-session-choice]")) return;
    const ref = event.target.parentElement.querySelector('[name$=".ref"]');
    ref.value = event.target.value;
  });
  form.addEventListener("studio:changed", (event) => all(event.target));
  form.addEventListener("studio:put", (event) => event.target.name.endsWith(".ref") && choose(event.target.closest("[data-row]")));
  all(form);
}
