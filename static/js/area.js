// A text field's mirror holds the same words behind it: it gives the field its height and underlines what a
// finding is about. It follows what is typed.
function marksOf(mirror) {
  if (!mirror.marks) mirror.marks = [...mirror.querySelectorAll("mark")].map((mark) => mark.cloneNode(true));
  return mirror.marks;
}
function follow(area) {
  const mirror = area.previousElementSibling;
  if (!mirror?.matches(".mirror")) return;
  const parts = [];
  let rest = area.value;
  for (const mark of marksOf(mirror)) {
    const place = rest.indexOf(mark.textContent);
    if (place < 0) continue;
    parts.push(rest.slice(0, place), mark.cloneNode(true));
    rest = rest.slice(place + mark.textContent.length);
  }
  mirror.replaceChildren(...parts, `${rest}\n`);
}
document.addEventListener("input", (event) => event.target.matches?.(".area textarea") && follow(event.target));
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.matches?.(".area.title textarea")) event.preventDefault(); // one line
});
