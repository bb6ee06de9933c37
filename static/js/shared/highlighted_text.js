// A text field's mirror holds the same text behind it: it gives the field its height and underlines what findings
// and comments are about. A finding is found by its passage, a comment by its position.
import { findingSpans, moveSpan, pieces } from "./text_spans.js";

const mirrorOf = (area) => (area.previousElementSibling?.matches(".mirror") ? area.previousElementSibling : null);

const states = new WeakMap();

function stateOf(mirror, text) {
  if (!states.has(mirror))
    states.set(mirror, { text, findings: JSON.parse(mirror.dataset.findings ?? "[]"), comments: [] });
  return states.get(mirror);
}

export function follow(area) {
  const mirror = mirrorOf(area);
  if (!mirror) return;
  const text = area.value;
  const state = stateOf(mirror, text);
  if (state.text !== text) {
    state.comments = state.comments.map((span) => moveSpan(span, state.text, text));
    state.text = text;
  }
  const comments = state.comments.filter((span) => span.end > span.start);
  const spans = [...findingSpans(state.findings, text), ...comments.map((span) => ({ ...span, className: "comment" }))];
  const parts = pieces(text, spans).map((piece) => {
    if (!piece.spans.length) return piece.text;
    const mark = document.createElement("mark");
    mark.className = [...new Set(piece.spans.map((span) => span.className))].join(" ");
    mark.title = piece.spans.map((span) => span.title).join("\n");
    mark.textContent = piece.text;
    return mark;
  });
  mirror.replaceChildren(...parts, "\n");
}

// Replaces the findings that are underlined, `[{passage, severity, message}]`.
export function markFindings(area, findings) {
  const mirror = mirrorOf(area);
  if (!mirror) return;
  const state = stateOf(mirror, area.value);
  if (JSON.stringify(findings) === JSON.stringify(state.findings)) return;
  state.findings = findings;
  follow(area);
}

// Replaces the comments that are underlined, `[{thread, start, end, words, title}]`.
export function markComments(area, comments) {
  const mirror = mirrorOf(area);
  if (!mirror) return;
  const state = stateOf(mirror, area.value);
  if (!comments.length && !state.comments.length) return;
  state.comments = comments;
  follow(area);
}

// The fingerprint of the finding whose passage the position is in.
export function findingAt(area, position) {
  const mirror = mirrorOf(area);
  const spans = mirror ? findingSpans(stateOf(mirror, area.value).findings, area.value) : [];
  return spans.find((span) => span.start <= position && position <= span.end)?.fingerprint;
}

export function commentAt(area, position) {
  const mirror = mirrorOf(area);
  const comments = mirror ? stateOf(mirror, area.value).comments : [];
  return comments.find((span) => span.start <= position && position <= span.end && span.end > span.start);
}

// The client rectangle of a position in the text.
export function rectangleAt(area, position) {
  const mirror = mirrorOf(area);
  const range = document.createRange();
  const walker = document.createTreeWalker(mirror, NodeFilter.SHOW_TEXT);
  let left = position;
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
