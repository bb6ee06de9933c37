// static/js/shared/text_spans.js
function sharedPrefix(one, other) {
  let length = 0;
  for (; length < one.length && length < other.length && one[length] === other[length]; ) length += 1;
  return length;
}
function sharedSuffix(one, other) {
  let length = 0;
  for (; length < one.length && length < other.length && one.at(-1 - length) === other.at(-1 - length); ) length += 1;
  return length;
}
function moveSpan(span, before, after) {
  let head = sharedPrefix(before, after), tail = before.length - sharedSuffix(before, after), by = after.length - before.length;
  if (span.end <= head) return span;
  if (span.start >= tail) return { ...span, start: span.start + by, end: span.end + by };
  if (span.start <= head && span.end >= tail && span.end + by > span.start) return { ...span, end: span.end + by };
  let first = after.indexOf(span.words);
  return first < 0 || first !== after.lastIndexOf(span.words) ? { ...span, start: 0, end: 0 } : { ...span, start: first, end: first + span.words.length };
}
function findingSpans(findings, text) {
  let spans = [], end = 0, located = findings.map((finding) => ({ finding, start: text.indexOf(finding.passage) })).filter(({ finding, start }) => finding.passage && start >= 0).sort((one, other) => one.start - other.start);
  for (let { finding, start } of located) {
    if (start < end) continue;
    end = start + finding.passage.length;
    let { severity, message, fingerprint } = finding;
    spans.push({ start, end, className: severity, title: message, fingerprint });
  }
  return spans;
}
function pieces(text, spans) {
  let borders = [.../* @__PURE__ */ new Set([0, text.length, ...spans.flatMap((span) => [span.start, span.end])])].sort(
    (a, b) => a - b
  );
  return borders.slice(1).map((end, index) => {
    let start = borders[index];
    return { text: text.slice(start, end), spans: spans.filter((span) => span.start <= start && end <= span.end) };
  });
}
var codePoints = (text) => [...text].length, utf16Offset = (text, count) => [...text].slice(0, count).join("").length;

// static/js/shared/highlighted_text.js
var mirrorOf = (area) => area.previousElementSibling?.matches(".mirror") ? area.previousElementSibling : null, states = /* @__PURE__ */ new WeakMap();
function stateOf(mirror, text) {
  return states.has(mirror) || states.set(mirror, { text, findings: JSON.parse(mirror.dataset.findings ?? "[]"), comments: [] }), states.get(mirror);
}
function follow(area) {
  let mirror = mirrorOf(area);
  if (!mirror) return;
  let text = area.value, state = stateOf(mirror, text);
  state.text !== text && (state.comments = state.comments.map((span) => moveSpan(span, state.text, text)), state.text = text);
  let comments = state.comments.filter((span) => span.end > span.start), spans = [...findingSpans(state.findings, text), ...comments.map((span) => ({ ...span, className: "comment" }))], parts = pieces(text, spans).map((piece) => {
    if (!piece.spans.length) return piece.text;
    let mark = document.createElement("mark");
    return mark.className = [...new Set(piece.spans.map((span) => span.className))].join(" "), mark.title = piece.spans.map((span) => span.title).join(`
`), mark.textContent = piece.text, mark;
  });
  mirror.replaceChildren(...parts, `
`);
}
function markFindings(area, findings) {
  let mirror = mirrorOf(area);
  if (!mirror) return;
  let state = stateOf(mirror, area.value);
  JSON.stringify(findings) !== JSON.stringify(state.findings) && (state.findings = findings, follow(area));
}
function markComments(area, comments) {
  let mirror = mirrorOf(area);
  if (!mirror) return;
  let state = stateOf(mirror, area.value);
  !comments.length && !state.comments.length || (state.comments = comments, follow(area));
}
function findingAt(area, position) {
  let mirror = mirrorOf(area);
  return (mirror ? findingSpans(stateOf(mirror, area.value).findings, area.value) : []).find((span) => span.start <= position && position <= span.end)?.fingerprint;
}
function commentAt(area, position) {
  let mirror = mirrorOf(area);
  return (mirror ? stateOf(mirror, area.value).comments : []).find((span) => span.start <= position && position <= span.end && span.end > span.start);
}
function rectangleAt(area, position) {
  let mirror = mirrorOf(area), range = document.createRange(), walker = document.createTreeWalker(mirror, NodeFilter.SHOW_TEXT), left = position;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (left <= node.length) {
      range.setStart(node, Math.max(0, left - 1)), range.setEnd(node, left);
      break;
    }
    left -= node.length;
  }
  let boxes = range.getClientRects();
  return boxes[boxes.length - 1] ?? mirror.getBoundingClientRect();
}
document.addEventListener("input", (event) => event.target.matches?.(".area textarea") && follow(event.target));
document.addEventListener("keydown", (event) => {
  event.key === "Enter" && event.target.matches?.(".area.title textarea") && event.preventDefault();
});

// static/js/shared/rows.js
var WORDS = "textarea, select, input:not([type=hidden], [type=checkbox], [type=radio], [type=file])", rowsMade = 0, undoStack = [], redoStack = [], typedSince = !1, rowsOf = (list) => [...list.querySelectorAll(":scope > [data-row]")], firstInput = (row) => row?.querySelector("textarea, input:not([type=hidden]), select");
function renumber(list, quiet = !1) {
  rowsOf(list).forEach((row, index) => {
    let place2 = row.querySelector("[data-row-number]");
    place2 && place2.textContent !== String(index + 1) && (place2.textContent = index + 1);
  }), list.dispatchEvent(new CustomEvent("studio:changed", { bubbles: !0, detail: { quiet } }));
}
function place(list, rows) {
  let there = rowsOf(list);
  for (let row of there) rows.includes(row) || row.remove();
  let before = null;
  for (let row of rows)
    (before ? before.nextElementSibling : list.firstElementChild) !== row && (before ? before.after(row) : list.prepend(row)), before = row;
}
function undoable(list, act) {
  let state = () => ({
    rows: rowsOf(list),
    inner: new Map([...list.querySelectorAll("[data-rows]")].map((inside) => [inside, rowsOf(inside)])),
    words: new Map([...list.querySelectorAll(WORDS)].map((input) => [input, input.value])),
    links: new Map(
      [...(list.closest("form") ?? list).querySelectorAll(".links input")].map((one) => [
        one,
        [one.checked, one.value]
      ])
    ),
    focus: document.activeElement,
    caret: document.activeElement?.selectionStart
  }), before = state();
  act(), undoStack.push({ list, before, after: state() }), redoStack.length = 0, typedSince = !1, renumber(list);
}
function restore({ list, ...both }, which) {
  let { rows, inner, words, links, focus, caret } = both[which];
  place(list, rows);
  for (let [inside, own] of inner) place(inside, own);
  for (let [input, value] of words)
    input.value !== value && (input.value = value, input.matches("textarea") ? follow(input) : input.dispatchEvent(new Event("change", { bubbles: !0 })));
  for (let [one, [checked, value]] of links) Object.assign(one, { checked, value });
  renumber(list), focus?.isConnected && focus !== document.body && (focus.focus(), caret != null && focus.setSelectionRange && focus.setSelectionRange(caret, caret));
}
function undo() {
  let last = undoStack.pop();
  last && (restore(last, "before"), redoStack.push(last), typedSince = !1);
}
function redo() {
  let next = redoStack.pop();
  next && (restore(next, "after"), undoStack.push(next), typedSince = !1);
}
function blank(list, after) {
  let template = list.dataset.blank && document.getElementById(list.dataset.blank) || list.querySelector(":scope > template[data-row-blank]"), holder = document.createElement("template"), key = `new${Date.now()}${rowsMade++}${Math.random().toString(36).slice(2, 6)}`, html = template.innerHTML.replaceAll("__list__", () => list.dataset.rows);
  holder.innerHTML = html.replaceAll(template.dataset.rowBlank || "__n__", key);
  let row = holder.content.firstElementChild;
  return after ? after.after(row) : list.prepend(row), row;
}
function add(list) {
  let rows = rowsOf(list);
  undoable(list, () => firstInput(blank(list, rows[rows.length - 1]))?.focus());
}
function move(row, by) {
  let other = by < 0 ? row.previousElementSibling : row.nextElementSibling;
  if (!other?.matches("[data-row]")) return;
  let focused = document.activeElement;
  undoable(row.parentElement, () => {
    by < 0 ? other.before(row) : other.after(row), row.contains(focused) && focused?.focus();
  });
}
document.addEventListener("click", (event) => {
  let button = event.target.closest("[data-row-add], [data-row-up], [data-row-down], [data-row-remove]");
  if (!button) return;
  if (event.preventDefault(), "rowAdd" in button.dataset)
    return add(document.querySelector(`[data-rows="${CSS.escape(button.dataset.rowAdd)}"]`));
  let row = button.closest("[data-row]");
  if ("rowUp" in button.dataset) return move(row, -1);
  if ("rowDown" in button.dataset) return move(row, 1);
  let list = row.parentElement, next = row.nextElementSibling?.matches("[data-row]") ? row.nextElementSibling : row.previousElementSibling;
  undoable(list, () => {
    row.remove(), next?.matches("[data-row]") && firstInput(next)?.focus();
  });
});
document.addEventListener("input", (event) => {
  event.target.closest?.("form [data-rows], form[data-guard]") && (typedSince = !0);
});
document.addEventListener("keydown", (event) => {
  let undoing = (event.ctrlKey || event.metaKey) && !event.altKey ? event.key.toLowerCase() : "";
  if (["z", "y"].includes(undoing) && event.target.closest?.("form[data-guard], body") && (undoStack.length || redoStack.length)) {
    let again = undoing === "y" || event.shiftKey, act = again ? redo : undo;
    if (!typedSince)
      return event.preventDefault(), act();
    if (again) return;
    let native = !1, heard = () => native = !0;
    document.addEventListener("input", heard, { once: !0 }), setTimeout(() => {
      document.removeEventListener("input", heard), native || act();
    }, 0);
    return;
  }
  let row = event.target.closest?.("[data-row]");
  !row || !event.altKey || !["ArrowUp", "ArrowDown"].includes(event.key) || (event.preventDefault(), move(row, event.key === "ArrowUp" ? -1 : 1));
});
var RowTools = class extends HTMLElement {
  connectedCallback() {
    this.firstElementChild || this.append(document.getElementById("row-tools").content.cloneNode(!0));
  }
};
customElements.define("row-tools", RowTools);

export {
  codePoints,
  utf16Offset,
  follow,
  markFindings,
  markComments,
  findingAt,
  commentAt,
  rectangleAt,
  rowsOf,
  renumber,
  undoable,
  blank
};
