// static/js/shared/submit_once.js
document.addEventListener("submit", (event) => {
  let form = event.target;
  form.matches("[data-once]") && (form.dataset.sent && event.preventDefault(), form.dataset.sent = "1");
});
window.addEventListener("pageshow", () => {
  for (let form of document.querySelectorAll("[data-sent]")) delete form.dataset.sent;
});
