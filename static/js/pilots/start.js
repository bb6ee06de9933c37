// The start form shows how many sessions the selection needs and what they can cost at most.
const form = document.querySelector("#pilot-form");
const line = document.querySelector("#cost-sum");

function sum() {
  const persona = form.elements.persona?.value ?? "";
  const groups = [...form.querySelectorAll("[data-persona]")];
  const shown = groups.filter((group) => !persona || group.dataset.persona === persona);
  for (const group of groups) group.hidden = !shown.includes(group);
  const boxes = shown.flatMap((group) => [...group.querySelectorAll("input[type=checkbox]")]);
  const chosen = boxes.filter((box) => box.checked).length;
  const runs = Math.max(1, Number(form.elements.runs.value) || 1);
  const tasks = chosen || boxes.length || Number(form.querySelector("#task-choice").dataset.count);
  const limit = Number(form.elements.cost.value) || 0;
  const ticked = [...form.querySelectorAll("[name=agent]:checked")];
  const others = ["user_model", "judge"].map((name) => form.elements[name].selectedOptions[0]?.text ?? "");
  const names = [...ticked.map((box) => box.closest("label").textContent.trim()), ...others];
  const scripted = names.every((text) => text.endsWith("scripted"));
  const whom = ticked.length > 1 ? "agents" : "agent";
  const limited = limit ? `, at most $${(ticked.length * tasks * runs * limit).toFixed(2)} for the ${whom}` : "";
  const most = scripted ? ", at no cost" : limited;
  const sameModel = ticked.some((box) => box.value === form.elements.judge.value);
  document.querySelector("#same-model").hidden = !sameModel;
  const mode = form.querySelector("[name=mode]:checked")?.value ?? "episode";
  const base = document.querySelector("#base-choice");
  if (base) base.hidden = mode !== "changed";
  if (mode !== "episode") {
    line.textContent = form.querySelector(`[name=mode][value=${mode}] + span`)?.lastElementChild?.textContent ?? "";
    return;
  }
  const sessions = ticked.length * tasks * runs;
  const agents = ticked.length > 1 ? `${counted(ticked.length, "agent")} × ` : "";
  const earlier = chosen ? `, and what ${sessions === 1 ? "it depends" : "they depend"} on` : "";
  line.textContent = `${agents}${counted(tasks, "task")} × ${counted(runs, "run")} = ${counted(sessions, "session")}${earlier}${most}.`;
}

function counted(number, thing) {
  return `${number} ${thing}${number === 1 ? "" : "s"}`;
}

form?.addEventListener("input", sum);
form?.addEventListener("htmx:afterSettle", sum);
if (form && line) sum();
