// Reading a session: n goes to the next turn that changed an intent, f to the next item that is not met; both start anew
// after the last.
for (const button of document.querySelectorAll("[data-next]")) {
  const stops = [...document.querySelectorAll(`[data-stop="${button.dataset.next}"]`)];
  let at = -1;
  button.hidden = stops.length === 0;
  button.addEventListener("click", () => {
    at = (at + 1) % stops.length;
    stops[at].focus({ preventScroll: true });
    stops[at].scrollIntoView({ block: "center" });
  });
}
