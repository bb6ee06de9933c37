// Finds words in a long record: all places are marked, Enter goes to the next, Shift and Enter to the one before.
const box = () => document.querySelector("[data-find]");
let places = [];
let at = -1;

function textNodes(holder) {
  const walker = document.createTreeWalker(holder, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode()) nodes.push(walker.currentNode);
  return nodes;
}

function rangesOf(wanted) {
  const ranges = [];
  for (const holder of document.querySelectorAll("[data-passages]"))
    for (const node of textNodes(holder)) {
      const text = node.data.toLowerCase();
      for (let from = text.indexOf(wanted); from >= 0; from = text.indexOf(wanted, from + wanted.length)) {
        const range = new Range();
        range.setStart(node, from);
        range.setEnd(node, Math.min(node.length, from + wanted.length));
        ranges.push(range);
      }
    }
  return ranges;
}

function paint() {
  if (!CSS.highlights) return;
  CSS.highlights.set("found", new Highlight(...places));
  CSS.highlights.set("current", new Highlight(...(places[at] ? [places[at]] : [])));
}

function tell() {
  const typed = box().querySelector("input").value.trim();
  box().querySelector("[role=status]").textContent = places.length
    ? `${at + 1} of ${places.length}`
    : typed.length > 1
      ? "not found"
      : "";
}

function go(to) {
  if (places.length) {
    at = (to + places.length) % places.length;
    const fold = places[at].startContainer.parentElement.closest("details");
    if (fold) fold.open = true;
    const { top } = places[at].getBoundingClientRect();
    if (top < 90 || top > innerHeight - 160) scrollBy({ top: top - innerHeight / 3 });
  }
  paint();
  tell();
}

function find(event) {
  const wanted = event.target.value.trim().toLowerCase();
  places = wanted.length > 1 ? rangesOf(wanted) : [];
  at = -1;
  go(0);
}

function listen() {
  places = [];
  at = -1;
  paint();
  const found = box();
  if (!found?.hidden) return;
  found.hidden = false;
  const input = found.querySelector("input");
  input.addEventListener("input", find);
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    event.stopPropagation();
    go(at + (event.shiftKey ? -1 : 1));
  });
}
document.addEventListener("studio:packet", listen);
listen();
