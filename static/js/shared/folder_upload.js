// A browser sends the files of a folder without their paths; those go in a field of their own.
document.addEventListener("change", (event) => {
  const input = event.target;
  if (!input.matches?.("input[type=file][webkitdirectory]")) return;
  const paths = input.form?.querySelector("[data-paths]");
  if (!paths) return;
  paths.value = JSON.stringify([...input.files].map((file) => file.webkitRelativePath || file.name));
  const count = input.form.querySelector("[data-count]");
  if (count) count.textContent = input.files.length === 1 ? "1 file" : `${input.files.length} files`;
});
