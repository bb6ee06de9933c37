// Reports requests of htmx that fail; what was typed stays where it is.
function showError(text) {
  const box = document.querySelector("#messages");
  if (!box) return;
  const line = document.createElement("div");
  line.className = "message error";
  line.textContent = text;
  box.append(line);
}
document.addEventListener("htmx:sendError", () =>
  showError("The server could not be reached. What you typed is still here; try again in a moment."),
);
document.addEventListener("htmx:responseError", (event) =>
  showError(
    `Something went wrong (${event.detail.xhr.status}). What you typed is still here; reload the page to see what was saved.`,
  ),
);
