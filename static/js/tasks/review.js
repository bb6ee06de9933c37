// The review checklist: Approve leads to the first question without a yes; with none left it approves.
import { show } from "./side_pane.js";

const form = document.querySelector("form[data-review]");
const points = () => [...form.querySelectorAll("fieldset.review-question")];

function words(point) {
  const not = point.querySelector('input[value="not"]').checked;
  const word = point.querySelector(".review-word");
  word.hidden = !not;
  if (!not) word.value = "";
  return word;
}

if (form) {
  for (const point of points()) words(point);
  form.addEventListener("change", (event) => {
    const point = event.target.type === "radio" && event.target.closest("fieldset.review-question");
    if (!point) return;
    const word = words(point);
    if (!word.hidden) word.focus();
  });
  document.querySelector("[data-review-start]")?.addEventListener("click", (event) => {
    event.preventDefault();
    if (form.closest("[data-tab-body]")) show("review");
    const open = points().find((point) => !point.querySelector('input[value="so"]').checked);
    if (!open) return form.requestSubmit(form.querySelector("[data-approve]"));
    form.closest("section").scrollIntoView({ block: "start" });
    open.querySelector('input[value="so"]').focus();
  });
  if (location.hash === "#review") form.closest("section").scrollIntoView({ block: "start" });
}
