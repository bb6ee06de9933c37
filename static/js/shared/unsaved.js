// A form with data-guard says that it has unsaved words, and the browser asks before they are left.
const changed = new WeakSet();
let leaving = false;

function say(form) {
  const place = document.querySelector("[data-save-status]");
  if (place && !changed.has(form)) place.textContent = "not saved yet";
  changed.add(form);
}
// What the form holds is kept: nothing is lost with the page.
export function settled(form) {
  changed.delete(form);
}
for (const kind of ["input", "change"])
  document.addEventListener(kind, (event) => {
    const form = event.target.form ?? event.target.closest?.("form");
    if (form?.matches("[data-guard]")) say(form);
  });
document.addEventListener("studio:changed", (event) => {
  if (event.detail?.quiet) return;
  const form = event.target.closest("form[data-guard]");
  if (form) say(form);
});
document.addEventListener("submit", (event) => {
  if (event.target.matches("[data-guard]")) leaving = true; // another form would lose the words: the browser asks
});
window.addEventListener("beforeunload", (event) => {
  if (leaving) return;
  if ([...document.querySelectorAll("form[data-guard]")].some((form) => changed.has(form))) event.preventDefault();
});
document.addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.key !== "s") return;
  const form = document.querySelector("form[data-guard]");
  if (!form) return;
  event.preventDefault();
  form.requestSubmit(form.querySelector("[data-save]") ?? undefined);
});
