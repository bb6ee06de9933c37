// A <select data-reveals> shows only the fields its choice needs: elements with data-when="value other" in the same
// row. A long list has them once, in <template data-row-part="…" data-when="value">; a row gets a copy when needed.
export function put(row, name, after) {
  const part = row.parentElement.querySelector(`:scope > template[data-row-part="${name}"]`);
  const brought = document.createElement("template");
  brought.innerHTML = part.innerHTML.replaceAll("__n__", row.querySelector("input[type=hidden]").value);
  after.after(brought.content);
}
function bring(select) {
  const row = select.closest("[data-row]");
  const name = select.dataset.reveals;
  const part = row?.parentElement.querySelector(`:scope > template[data-row-part="${name}"]`);
  if (part?.dataset.when !== select.value || row.querySelector(`[data-when-of="${name}"]`)) return;
  put(row, name, select.closest(".meta"));
  all(row);
}
function reveal(select) {
  const scope = select.closest("[data-row], [data-reveal-scope], form");
  for (const part of scope.querySelectorAll(`[data-when-of="${select.dataset.reveals}"]`))
    part.hidden = !part.dataset.when.split(" ").includes(select.value);
}
function all(root) {
  for (const select of root.querySelectorAll("select[data-reveals]")) reveal(select);
}
document.addEventListener("change", (event) => {
  if (!event.target.matches?.("select[data-reveals]")) return;
  bring(event.target);
  reveal(event.target);
});
document.addEventListener("studio:changed", (event) => all(event.target));
document.addEventListener("htmx:afterSwap", (event) => all(event.target));
all(document);
