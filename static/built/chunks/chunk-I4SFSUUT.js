// static/js/shared/conditional_fields.js
function put(row, name, after) {
  let part = row.parentElement.querySelector(`:scope > template[data-row-part="${name}"]`), brought = document.createElement("template");
  brought.innerHTML = part.innerHTML.replaceAll("__n__", row.querySelector("input[type=hidden]").value), after.after(brought.content);
}
function bring(select) {
  let row = select.closest("[data-row]"), name = select.dataset.reveals;
  row?.parentElement.querySelector(`:scope > template[data-row-part="${name}"]`)?.dataset.when !== select.value || row.querySelector(`[data-when-of="${name}"]`) || (put(row, name, select.closest(".meta")), all(row));
}
function reveal(select) {
  let scope = select.closest("[data-row], [data-reveal-scope], form");
  for (let part of scope.querySelectorAll(`[data-when-of="${select.dataset.reveals}"]`))
    part.hidden = !part.dataset.when.split(" ").includes(select.value);
}
function all(root) {
  for (let select of root.querySelectorAll("select[data-reveals]")) reveal(select);
}
document.addEventListener("change", (event) => {
  event.target.matches?.("select[data-reveals]") && (bring(event.target), reveal(event.target));
});
document.addEventListener("studio:changed", (event) => all(event.target));
document.addEventListener("htmx:afterSwap", (event) => all(event.target));
all(document);

export {
  put
};
