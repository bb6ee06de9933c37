// A form with data-guard says that it has unsaved changes, and the browser asks before they are lost.
const changed = new WeakSet();
let leaving = false;

function markUnsaved(form) {
  const status = document.querySelector("[data-save-status]");
  if (status && !changed.has(form)) status.textContent = "Unsaved";
  changed.add(form);
}
// Leaving the page loses nothing of what the form holds.
export function markSaved(form) {
  changed.delete(form);
}
for (const kind of ["input", "change"])
  document.addEventListener(kind, (event) => {
    const form = event.target.form ?? event.target.closest?.("form");
    if (form?.matches("[data-guard]")) markUnsaved(form);
  });
document.addEventListener("studio:changed", (event) => {
  if (event.detail?.quiet) return;
  const form = event.target.closest("form[data-guard]");
  if (form) markUnsaved(form);
});
document.addEventListener("submit", (event) => {
  if (event.target.matches("[data-guard]:not([data-autosave])")) leaving = true; // another form would lose the changes: the browser asks
});
window.addEventListener("beforeunload", (event) => {
  if (leaving) return;
  const unsaved = [...document.querySelectorAll("form[data-guard]")].filter((form) => changed.has(form));
  // A form whose text is safe elsewhere says so.
  if (unsaved.some((form) => form.dispatchEvent(new CustomEvent("studio:leaving", { cancelable: true }))))
    event.preventDefault();
});
document.addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.key !== "s") return;
  const form = document.querySelector("form[data-guard]");
  if (!form) return;
  event.preventDefault();
  form.requestSubmit(form.querySelector("[data-save]") ?? undefined);
});
