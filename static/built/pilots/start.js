// static/js/pilots/start.js
var form = document.querySelector("#pilot-form"), line = document.querySelector("#cost-sum");
function sum() {
  let persona = form.elements.persona?.value ?? "", groups = [...form.querySelectorAll("[data-persona]")], shown = groups.filter((group) => !persona || group.dataset.persona === persona);
  for (let group of groups) group.hidden = !shown.includes(group);
  let boxes = shown.flatMap((group) => [...group.querySelectorAll("input[type=checkbox]")]), chosen = boxes.filter((box) => box.checked).length, runs = Math.max(1, Number(form.elements.runs.value) || 1), tasks = chosen || boxes.length || Number(form.querySelector("#task-choice").dataset.count), limit = Number(form.elements.cost.value) || 0, most = ["agent", "user_model", "judge"].map((name) => form.elements[name].selectedOptions[0]?.text ?? "").every((text) => text.endsWith("scripted")) ? ", at no cost" : limit ? `, at most $${(tasks * runs * limit).toFixed(2)} for the agent` : "", sameModel = form.elements.agent.value === form.elements.judge.value;
  document.querySelector("#same-model").hidden = !sameModel;
  let mode = form.querySelector("[name=mode]:checked")?.value ?? "episode", base = document.querySelector("#base-choice");
  if (base && (base.hidden = mode !== "changed"), mode !== "episode") {
    line.textContent = form.querySelector(`[name=mode][value=${mode}] + span`)?.lastElementChild?.textContent ?? "";
    return;
  }
  line.textContent = `${tasks} task${tasks === 1 ? "" : "s"} × ${runs} run${runs === 1 ? "" : "s"} = ${tasks * runs} sessions${chosen ? ", and what they depend on" : ""}${most}.`;
}
form?.addEventListener("input", sum);
form?.addEventListener("htmx:afterSettle", sum);
form && line && sum();
