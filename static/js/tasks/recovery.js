// An earlier task is chosen by number and title; the field itself holds the id that the files know it by.
import { form } from "../drafts/form.js";

const tasks = () =>
  [...(document.querySelector("#recovery-places")?.options ?? [])].filter((one) => "task" in one.dataset);

function choose(row) {
  const kind = row.querySelector("[data-recovery-kind]");
  const ref = row.querySelector('[name$=".ref"]');
  const shown = row.querySelector("[data-task-choice]");
  row.querySelector("[data-task-name]")?.remove();
  ref.hidden = kind.value === "session" && tasks().length > 0;
  if (!ref.hidden) return shown?.remove();
  const select = shown ?? document.createElement("select");
  if (!shown) {
    select.dataset.taskChoice = "";
    select.setAttribute("aria-label", "Which task");
    ref.after(select);
  }
  const known = tasks().map((one) => new Option(one.label || one.textContent, one.value));
  if (!known.some((one) => one.value === ref.value)) known.unshift(new Option(ref.value || "which task", ref.value));
  select.replaceChildren(...known);
  select.value = ref.value;
}

function all(root) {
  for (const kind of root.querySelectorAll("[data-recovery-kind]")) choose(kind.closest("[data-row]"));
}

if (form) {
  form.addEventListener("change", (event) => {
    if (event.target.matches("[data-recovery-kind]")) choose(event.target.closest("[data-row]"));
    if (!event.target.matches("[data-task-choice]")) return;
    const ref = event.target.parentElement.querySelector('[name$=".ref"]');
    ref.value = event.target.value;
  });
  form.addEventListener("studio:changed", (event) => all(event.target));
  form.addEventListener(
    "studio:replaced",
    (event) => event.target.name.endsWith(".ref") && choose(event.target.closest("[data-row]")),
  );
  all(form);
}
