// Judging by keyboard: marks text as evidence, steps through sentences, stores what was typed, measures the time.
const form = document.querySelector("#judgment");
const field = form.querySelector("#evidence");
const comment = form.querySelector("#comment");
const told = form.querySelector("[data-status]");
const holders = [...form.querySelectorAll("[data-passages]")];
const flat = (text) => text.split(/\s+/).filter(Boolean).join(" ");
const startedAt = performance.now();

const marked = [];
function paint(name, ranges) {
  if (!CSS.highlights) return;
  CSS.highlights.set(name, new Highlight(...ranges));
}

function sentences() {
  const found = [];
  for (const holder of holders) {
    const node = holder.firstChild;
    if (holder.childNodes.length !== 1 || node.nodeType !== Node.TEXT_NODE) continue;
    for (const match of node.data.matchAll(/[^\n.!?]+(?:[.!?]+(?=\s|$)|[.!?])*/g)) {
      if (!match[0].trim()) continue;
      const range = new Range();
      range.setStart(node, match.index + match[0].search(/\S/));
      range.setEnd(node, match.index + match[0].length);
      found.push(range);
    }
  }
  return found;
}

let all;
let at = -1;
function step(by) {
  all ??= sentences();
  if (!all.length) return;
  at = Math.min(all.length - 1, Math.max(0, at + by));
  const range = all[at];
  const fold = range.startContainer.parentElement.closest("details");
  if (fold) fold.open = true;
  paint("sentence", [range]);
  const box = range.getBoundingClientRect();
  if (box.top < 80 || box.bottom > innerHeight - 120) scrollBy({ top: box.top - innerHeight / 3 });
  told.textContent = flat(range.toString());
}

function chosen() {
  const selection = getSelection();
  if (selection?.rangeCount && !selection.isCollapsed) {
    const range = selection.getRangeAt(0);
    const inside = (node) => holders.find((holder) => holder.contains(node));
    const holder = inside(range.startContainer);
    return holder && holder === inside(range.endContainer) ? range.cloneRange() : null;
  }
  return at >= 0 ? all[at] : null;
}

function mark() {
  const range = chosen();
  const words = range && flat(range.toString());
  if (!words) {
    told.textContent = "Select text inside one piece of evidence first.";
    return;
  }
  const lines = field.value.split("\n").map(flat).filter(Boolean);
  if (!lines.includes(words)) field.value = [...lines, words].join("\n");
  marked.push(range);
  paint("evidence", marked);
  getSelection()?.removeAllRanges();
  storeTyped();
  told.textContent = `Marked: ${words}`;
}

// What was typed survives leaving the page until the judgment is sent.
const place = `judging-${form.dataset.packet}`;
function storeTyped() {
  sessionStorage.setItem(place, JSON.stringify([field.value, comment.value]));
}
const stored = JSON.parse(sessionStorage.getItem(place) ?? "null");
if (stored && !field.value && !comment.value) [field.value, comment.value] = stored;
form.addEventListener("input", storeTyped);

for (const button of form.querySelectorAll("[data-mark], [data-step]")) {
  button.hidden = false;
  button.addEventListener("mousedown", (event) => event.preventDefault());
  button.addEventListener("click", () => (button.dataset.step ? step(Number(button.dataset.step)) : mark()));
}
let sent = false;
form.addEventListener("submit", (event) => {
  if (sent) return event.preventDefault();
  sent = true;
  form.elements.milliseconds.value = Math.round(performance.now() - startedAt);
  sessionStorage.removeItem(place);
});
addEventListener("pageshow", () => (sent = false));
