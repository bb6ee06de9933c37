// static/js/shared/unsaved.js
var changed = /* @__PURE__ */ new WeakSet(), leaving = !1;
function markUnsaved(form) {
  let status = document.querySelector("[data-save-status]");
  status && !changed.has(form) && (status.textContent = "Unsaved"), changed.add(form);
}
function markSaved(form) {
  changed.delete(form);
}
for (let kind of ["input", "change"])
  document.addEventListener(kind, (event) => {
    let form = event.target.form ?? event.target.closest?.("form");
    form?.matches("[data-guard]") && markUnsaved(form);
  });
document.addEventListener("studio:changed", (event) => {
  if (event.detail?.quiet) return;
  let form = event.target.closest("form[data-guard]");
  form && markUnsaved(form);
});
document.addEventListener("submit", (event) => {
  event.target.matches("[data-guard]:not([data-autosave])") && (leaving = !0);
});
window.addEventListener("beforeunload", (event) => {
  if (leaving) return;
  [...document.querySelectorAll("form[data-guard]")].filter((form) => changed.has(form)).some((form) => form.dispatchEvent(new CustomEvent("studio:leaving", { cancelable: !0 }))) && event.preventDefault();
});
document.addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.key !== "s") return;
  let form = document.querySelector("form[data-guard]");
  form && (event.preventDefault(), form.requestSubmit(form.querySelector("[data-save]") ?? void 0));
});

export {
  markSaved
};
