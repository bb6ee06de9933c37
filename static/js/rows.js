// Rows of a list in a form: add, move (Alt with an arrow), remove.
// <div data-rows="intents"> <div data-row> … </div> <template data-row-blank> … </template> </div>
// Names contain __n__ in the template; the order of the rows on the page is the order that is saved.
let made = 0;

function number(list) {
  list.querySelectorAll(":scope > [data-row]").forEach((row, index) => {
    const place = row.querySelector("[data-row-number]");
    if (place) place.textContent = index + 1;
  });
  list.dispatchEvent(new CustomEvent("studio:changed", { bubbles: true }));
}

function add(list, after) {
  const html = list.querySelector(":scope > template[data-row-blank]").innerHTML;
  const holder = document.createElement("template");
  holder.innerHTML = html.replaceAll("__n__", `new${Date.now()}${made++}`);
  const row = holder.content.firstElementChild;
  const rows = list.querySelectorAll(":scope > [data-row]");
  const last = after ?? rows[rows.length - 1];
  if (last) last.after(row);
  else list.prepend(row);
  number(list);
  row.querySelector("textarea, input:not([type=hidden]), select")?.focus();
}

function move(row, by) {
  const other = by < 0 ? row.previousElementSibling : row.nextElementSibling;
  if (!other?.matches("[data-row]")) return;
  const focused = document.activeElement;
  if (by < 0) other.before(row);
  else other.after(row);
  number(row.parentElement);
  if (row.contains(focused)) focused.focus();
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-row-add], [data-row-up], [data-row-down], [data-row-remove]");
  if (!button) return;
  event.preventDefault();
  if ("rowAdd" in button.dataset) return add(document.querySelector(`[data-rows="${button.dataset.rowAdd}"]`));
  const row = button.closest("[data-row]");
  if ("rowUp" in button.dataset) return move(row, -1);
  if ("rowDown" in button.dataset) return move(row, 1);
  const list = row.parentElement;
  const next = row.nextElementSibling?.matches("[data-row]") ? row.nextElementSibling : row.previousElementSibling;
  row.remove();
  number(list);
  next?.querySelector("textarea, input:not([type=hidden])")?.focus();
});

document.addEventListener("keydown", (event) => {
  const row = event.target.closest?.("[data-row]");
  if (!row || !event.altKey || !["ArrowUp", "ArrowDown"].includes(event.key)) return;
  event.preventDefault();
  move(row, event.key === "ArrowUp" ? -1 : 1);
});
