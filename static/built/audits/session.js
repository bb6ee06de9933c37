import {
  fetchAnswer
} from "../chunks/chunk-IGJ2IKZR.js";

// static/js/audits/session.js
var chosen = (question) => question.querySelector("input:checked"), form, questions, status, saved, count, at, history;
function show() {
  for (let question of questions) question.classList.toggle("current", question === questions[at]);
  count.textContent = `${questions.filter(chosen).length} of ${questions.length} answered`;
}
function move(to) {
  at = Math.min(questions.length - 1, Math.max(0, to)), show(), questions[at].focus({ preventScroll: !0 }), questions[at].scrollIntoView({ block: "nearest" });
}
function choose(value) {
  let question = questions[at], input = [...question.querySelectorAll("input")].find((one) => one.value === value);
  if (!input) {
    status.textContent = "This question has other answers.";
    return;
  }
  history.push([question, chosen(question)]), input.checked = !0, autosave();
  let open = questions.findIndex((one, index) => index > at && !chosen(one));
  move(open < 0 ? at + 1 : open);
}
var timer, saving = Promise.resolve();
function autosave() {
  clearTimeout(timer), timer = setTimeout(save, 400);
}
function save() {
  clearTimeout(timer), timer = null;
  let body = new URLSearchParams([...new FormData(form)].map(([name, value]) => [name, String(value)]));
  saving = saving.then(async () => {
    try {
      await fetchAnswer(form.dataset.autosave, {
        method: "POST",
        body,
        headers: { "X-Studio-Script": "1" },
        keepalive: !0
      }), saved.textContent = "Saved";
    } catch {
      saved.textContent = "Not saved yet";
    }
  });
}
function undo(event) {
  let last = history.pop();
  if (!last) return;
  event.preventDefault();
  let [question, before] = last;
  for (let input of question.querySelectorAll("input")) input.checked = input === before;
  autosave(), move(questions.indexOf(question));
}
function follow(event) {
  let question = event.target.closest?.("[data-question]");
  question && (at = questions.indexOf(question), show(), autosave());
}
function start() {
  clearTimeout(timer), timer = null, form = document.querySelector("#judgment"), questions = [...form.querySelectorAll("[data-question]")], status = form.querySelector("[data-status]"), saved = document.querySelector("[data-autosaved]"), saved.textContent = "", count = form.querySelector("[data-count]"), history = [], at = Math.max(
    0,
    questions.findIndex((question) => !chosen(question))
  );
  for (let button of form.querySelectorAll("[data-choice], [data-move]"))
    button.hidden = !1, button.addEventListener("mousedown", (event) => event.preventDefault()), button.addEventListener(
      "click",
      () => button.dataset.choice ? choose(button.dataset.choice) : move(at + Number(button.dataset.move))
    );
  form.querySelector("[data-undo]").addEventListener("click", undo), form.addEventListener("change", follow), form.addEventListener("input", (event) => event.target.matches("textarea, select") && autosave()), show();
}
document.addEventListener("visibilitychange", () => document.hidden && timer && save());
document.addEventListener("studio:packet", start);
start();
