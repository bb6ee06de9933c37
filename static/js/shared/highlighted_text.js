// A text field's mirror holds the same words behind it: it gives the field its height and underlines what findings
// and remarks are about. It follows what is typed: a finding by its words, a remark by its place.
const mirrorOf = (area) => (area.previousElementSibling?.matches(".mirror") ? area.previousElementSibling : null);

function known(mirror, text) {
  mirror.found ??= JSON.parse(mirror.dataset.found ?? "[]");
  mirror.talk ??= [];
  mirror.says ??= text;
}

// Length of the beginning (or end) that two texts share.
function shared(one, other, end = false) {
  const most = Math.min(one.length, other.length);
  let length = 0;
  const at = (text, place) => text[end ? text.length - 1 - place : place];
  while (length < most && at(one, length) === at(other, length)) length += 1;
  return length;
}

// Where a remark's words are after one edit; where they were typed over, wherever they are said once.
function moved(one, before, after) {
  const head = shared(before, after);
  const tail = before.length - shared(before, after, true);
  const by = after.length - before.length;
  if (one.end <= head) return one;
  if (one.start >= tail) return { ...one, start: one.start + by, end: one.end + by };
  if (one.start <= head && one.end >= tail && one.end + by > one.start) return { ...one, end: one.end + by };
  const first = after.indexOf(one.words);
  if (first < 0 || first !== after.lastIndexOf(one.words)) return { ...one, start: 0, end: 0 };
  return { ...one, start: first, end: first + one.words.length };
}

function spansOf(mirror, text) {
  const spans = [];
  let end = 0;
  const found = mirror.found.map((one) => [text.indexOf(one.words), one]).filter(([start, one]) => one.words && start >= 0);
  for (const [start, one] of found.sort(([a], [b]) => a - b)) {
    if (start < end) continue;
    end = start + one.words.length;
    spans.push({ start, end, css: one.severity, title: one.message });
  }
  for (const one of mirror.talk) if (one.end > one.start) spans.push({ ...one, css: "talk" });
  return spans;
}

export function follow(area) {
  const mirror = mirrorOf(area);
  if (!mirror) return;
  const text = area.value;
  known(mirror, text);
  if (mirror.says !== text) {
    mirror.talk = mirror.talk.map((one) => moved(one, mirror.says, text));
    mirror.says = text;
  }
  const spans = spansOf(mirror, text);
  const borders = [...new Set([0, text.length, ...spans.flatMap((one) => [one.start, one.end])])].sort((a, b) => a - b);
  const parts = borders.slice(1).map((end, index) => {
    const start = borders[index];
    const over = spans.filter((one) => one.start <= start && end <= one.end);
    const piece = text.slice(start, end);
    if (!over.length) return piece;
    const made = document.createElement("mark");
    made.className = [...new Set(over.map((one) => one.css))].join(" ");
    made.title = over.map((one) => one.title).join("\n");
    made.textContent = piece;
    return made;
  });
  mirror.replaceChildren(...parts, "\n");
}

// Underline these words, `[{words, severity, message}]`, in place of what findings underlined.
export function mark(area, found) {
  const mirror = mirrorOf(area);
  if (!mirror) return;
  known(mirror, area.value);
  if (JSON.stringify(found) === JSON.stringify(mirror.found)) return;
  mirror.found = found;
  follow(area);
}

// Underline where remarks stand, `[{thread, start, end, words, title}]`, in place of those of before.
export function markTalk(area, talk) {
  const mirror = mirrorOf(area);
  if (!mirror) return;
  known(mirror, area.value);
  if (!talk.length && !mirror.talk.length) return;
  mirror.talk = talk;
  follow(area);
}

export function talkAt(area, place) {
  return (mirrorOf(area)?.talk ?? []).find((one) => one.start <= place && place <= one.end && one.end > one.start);
}

// Where a place of the text is drawn, in the window.
export function drawnAt(area, place) {
  const mirror = mirrorOf(area);
  const range = document.createRange();
  const walker = document.createTreeWalker(mirror, NodeFilter.SHOW_TEXT);
  let left = place;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (left <= node.length) {
      range.setStart(node, Math.max(0, left - 1));
      range.setEnd(node, left);
      break;
    }
    left -= node.length;
  }
  const boxes = range.getClientRects();
  return boxes[boxes.length - 1] ?? mirror.getBoundingClientRect();
}

document.addEventListener("input", (event) => event.target.matches?.(".area textarea") && follow(event.target));
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.matches?.(".area.title textarea")) event.preventDefault(); // one line
});
