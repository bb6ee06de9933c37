// `j` and `k` open the next or previous task beside the board; the focus goes to its card, so that Space and the arrows
// act on what one sees as selected.
let byKey = false;

document.addEventListener("htmx:beforeRequest", (event) => {
  byKey = event.detail.elt.matches("#detail [data-key]");
});
document.addEventListener("htmx:afterSettle", () => {
  if (!byKey) return;
  byKey = false;
  const card = document.querySelector("#board [data-open] .card");
  card?.focus({ preventScroll: true });
  card?.scrollIntoView({ block: "nearest" });
});
