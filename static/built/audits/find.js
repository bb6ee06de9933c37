// static/js/audits/find.js
var box = () => document.querySelector("[data-find]"), places = [], at = -1;
function textNodes(holder) {
  let walker = document.createTreeWalker(holder, NodeFilter.SHOW_TEXT), nodes = [];
  for (; walker.nextNode(); ) nodes.push(walker.currentNode);
  return nodes;
}
function rangesOf(wanted) {
  let ranges = [];
  for (let holder of document.querySelectorAll("[data-passages]"))
    for (let node of textNodes(holder)) {
      let text = node.data.toLowerCase();
      for (let from = text.indexOf(wanted); from >= 0; from = text.indexOf(wanted, from + wanted.length)) {
        let range = new Range();
        range.setStart(node, from), range.setEnd(node, Math.min(node.length, from + wanted.length)), ranges.push(range);
      }
    }
  return ranges;
}
function paint() {
  CSS.highlights && (CSS.highlights.set("found", new Highlight(...places)), CSS.highlights.set("current", new Highlight(...places[at] ? [places[at]] : [])));
}
function tell() {
  let typed = box().querySelector("input").value.trim();
  box().querySelector("[role=status]").textContent = places.length ? `${at + 1} of ${places.length}` : typed.length > 1 ? "not found" : "";
}
function go(to) {
  if (places.length) {
    at = (to + places.length) % places.length;
    let fold = places[at].startContainer.parentElement.closest("details");
    fold && (fold.open = !0);
    let { top } = places[at].getBoundingClientRect();
    (top < 90 || top > innerHeight - 160) && scrollBy({ top: top - innerHeight / 3 });
  }
  paint(), tell();
}
function find(event) {
  let wanted = event.target.value.trim().toLowerCase();
  places = wanted.length > 1 ? rangesOf(wanted) : [], at = -1, go(0);
}
function listen() {
  places = [], at = -1, paint();
  let found = box();
  if (!found?.hidden) return;
  found.hidden = !1;
  let input = found.querySelector("input");
  input.addEventListener("input", find), input.addEventListener("keydown", (event) => {
    event.key === "Enter" && (event.preventDefault(), event.stopPropagation(), go(at + (event.shiftKey ? -1 : 1)));
  });
}
document.addEventListener("studio:packet", listen);
listen();
