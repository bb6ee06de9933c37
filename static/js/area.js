// A text field's mirror holds the same words behind it: it gives the field its height and underlines what a
// finding is about. It follows what is typed.
function marksOf(mirror) {
  if (!mirror.marks) mirror.marks = [...mirror.querySelectorAll("mark")].map((mark) => mark.cloneNode(true));
  return mirror.marks;
}
export function follow(area) {
  const mirror = area.previousElementSibling;
  if (!mirror?.matches(".mirror")) return;
  const spans = [];
  for (const mark of marksOf(mirror)) {
    const place = area.value.indexOf(mark.textContent);
    if (place >= 0) spans.push([place, mark]);
  }
  spans.sort((one, other) => one[0] - other[0]);
  const parts = [];
  let end = 0;
  for (const [place, mark] of spans) {
    if (place < end) continue;
    parts.push(area.value.slice(end, place), mark.cloneNode(true));
    end = place + mark.textContent.length;
  }
  mirror.replaceChildren(...parts, `${area.value.slice(end)}\n`);
}
// Underline these words, `[{words, severity, message}]`, in place of what was underlined.
export function mark(area, found) {
  const mirror = area.previousElementSibling;
  if (!mirror?.matches(".mirror") || (!found.length && !marksOf(mirror).length)) return;
  mirror.marks = found.map((one) => {
    const made = document.createElement("mark");
    made.className = one.severity;
    made.title = one.message;
    made.textContent = one.words;
    return made;
  });
  follow(area);
}
document.addEventListener("input", (event) => event.target.matches?.(".area textarea") && follow(event.target));
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.matches?.(".area.title textarea")) event.preventDefault(); // one line
});
