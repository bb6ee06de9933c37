// The review checklist: Approve leads to the first question without a yes; with none left it approves.
import { show } from "./side_pane.js";

const form = document.querySelector("form[data-review]");
const questions = () => [...form.querySelectorAll("fieldset.review-question")];

function words(question) {
  const not = question.querySelector('input[value="no"]').checked;
  const word = question.querySelector(".review-note");
  word.hidden = !not;
  if (!not) word.value = "";
  return word;
}

if (form) {
  for (const question of questions()) words(question);
  form.addEventListener("change", (event) => {
    const question = event.target.type === "radio" && event.target.closest("fieldset.review-question");
    if (!question) return;
    const word = words(question);
    if (!word.hidden) word.focus();
  });
  document.querySelector("[data-review-start]")?.addEventListener("click", (event) => {
    event.preventDefault();
    if (form.closest("[data-tab-body]")) show("review");
    const open = questions().find((question) => !question.querySelector('input[value="yes"]').checked);
    if (!open) return form.requestSubmit(form.querySelector("[data-approve]"));
    form.closest("section").scrollIntoView({ block: "start" });
    open.querySelector('input[value="yes"]').focus();
  });
  if (location.hash === "#review") form.closest("section").scrollIntoView({ block: "start" });
}
