// When an answer to htmx fails, say so; what was typed stays where it is.
function tell(text) {
  const box = document.querySelector("#messages");
  if (!box) return;
  const line = document.createElement("div");
  line.className = "message error";
  line.textContent = text;
  box.append(line);
}
document.addEventListener("htmx:sendError", () =>
  tell("The studio cannot be reached. What you typed is still here: try again in a moment."),
);
document.addEventListener("htmx:responseError", (event) =>
  tell(
    `That did not work (${event.detail.xhr.status}). What you typed is still here: load the page again to see what is stored.`,
  ),
);
