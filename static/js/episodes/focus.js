// `j` and `k` open the next or previous task beside the board; the focus goes to its card, so that Space and the arrows
// act on what one sees as selected.
const byKey = new WeakSet(); // requests: the next may begin before the one before has settled

document.addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.elt.matches("#detail [data-key]")) byKey.add(event.detail.xhr);
});
document.addEventListener("htmx:afterSettle", (event) => {
  if (!byKey.delete(event.detail.xhr)) return;
  const card = document.querySelector("#board [data-open] .card");
  card?.focus({ preventScroll: true });
  card?.scrollIntoView({ block: "nearest" });
});
