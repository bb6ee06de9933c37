// Ticks of the sections that one has read, kept in this browser until a section says something else.
const root = document.querySelector("[data-reading]");
const key = `read:${root.dataset.reading}`;
const boxes = [...root.querySelectorAll("[data-tick]")];
const ticked = new Set(JSON.parse(localStorage.getItem(key) ?? "[]"));

for (const box of boxes) {
  box.checked = ticked.has(box.dataset.tick);
  box.closest("label").hidden = false;
}
root.addEventListener("change", () => {
  const read = boxes.filter((box) => box.checked).map((box) => box.dataset.tick);
  localStorage.setItem(key, JSON.stringify(read));
});
