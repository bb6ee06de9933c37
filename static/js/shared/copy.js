// A button with data-copy copies the text before it; where the browser forbids that, it selects the text.
for (const button of document.querySelectorAll("[data-copy]")) button.hidden = false;
document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("[data-copy]");
  if (!button) return;
  const shown = button.previousElementSibling;
  try {
    await navigator.clipboard.writeText(shown.textContent);
    button.textContent = "Copied";
  } catch {
    window.getSelection()?.selectAllChildren(shown);
    button.textContent = "Selected: press Ctrl+C";
  }
});
