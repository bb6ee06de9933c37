// A choice that shows only the fields it needs: <select data-reveals> and, in the same row,
// elements with data-when="value other".
function reveal(select) {
  const scope = select.closest("[data-row], [data-reveal-scope], form");
  for (const part of scope.querySelectorAll(`[data-when-of="${select.dataset.reveals}"]`))
    part.hidden = !part.dataset.when.split(" ").includes(select.value);
}
function all(root) {
  for (const select of root.querySelectorAll("select[data-reveals]")) reveal(select);
}
document.addEventListener("change", (event) => {
  if (event.target.matches?.("select[data-reveals]")) reveal(event.target);
});
document.addEventListener("studio:changed", (event) => all(event.target));
document.addEventListener("htmx:afterSwap", (event) => all(event.target));
all(document);
