// Stretches of a text, `{start, end}` in UTF-16 units, that findings and comments are about.

/** @typedef {{start: number, end: number, words: string}} Span */
/** @typedef {{passage: string, severity: string, message: string, fingerprint?: string}} FindingMark */

/** The length of the prefix that two texts share. */
export function sharedPrefix(/** @type {string} */ one, /** @type {string} */ other) {
  let length = 0;
  while (length < one.length && length < other.length && one[length] === other[length]) length += 1;
  return length;
}

/** The length of the suffix that two texts share. */
export function sharedSuffix(/** @type {string} */ one, /** @type {string} */ other) {
  let length = 0;
  while (length < one.length && length < other.length && one.at(-1 - length) === other.at(-1 - length)) length += 1;
  return length;
}

/**
 * Where a span is after one edit. If the edit replaced part of it, it moves to where its words occur, if that is
 * unambiguous, and is empty (0 to 0) otherwise.
 * @template {Span} T
 * @param {T} span
 * @param {string} before
 * @param {string} after
 * @returns {T}
 */
export function moveSpan(span, before, after) {
  const head = sharedPrefix(before, after);
  const tail = before.length - sharedSuffix(before, after);
  const by = after.length - before.length;
  if (span.end <= head) return span;
  if (span.start >= tail) return { ...span, start: span.start + by, end: span.end + by };
  if (span.start <= head && span.end >= tail && span.end + by > span.start) return { ...span, end: span.end + by };
  const first = after.indexOf(span.words);
  if (first < 0 || first !== after.lastIndexOf(span.words)) return { ...span, start: 0, end: 0 };
  return { ...span, start: first, end: first + span.words.length };
}

/**
 * The first occurrence of each finding's words; of overlapping ones the first.
 * @param {FindingMark[]} findings
 * @param {string} text
 */
export function findingSpans(findings, text) {
  const spans = [];
  let end = 0;
  const located = findings
    .map((finding) => ({ finding, start: text.indexOf(finding.passage) }))
    .filter(({ finding, start }) => finding.passage && start >= 0)
    .sort((one, other) => one.start - other.start);
  for (const { finding, start } of located) {
    if (start < end) continue;
    end = start + finding.passage.length;
    const { severity, message, fingerprint } = finding;
    spans.push({ start, end, className: severity, title: message, fingerprint });
  }
  return spans;
}

/**
 * The text cut wherever a span starts or ends, each piece with the spans that cover it.
 * @template {{start: number, end: number}} T
 * @param {string} text
 * @param {T[]} spans
 */
export function pieces(text, spans) {
  const borders = [...new Set([0, text.length, ...spans.flatMap((span) => [span.start, span.end])])].sort(
    (a, b) => a - b,
  );
  return borders.slice(1).map((end, index) => {
    const start = borders[index];
    return { text: text.slice(start, end), spans: spans.filter((span) => span.start <= start && end <= span.end) };
  });
}

/** The server counts code points where the browser counts UTF-16 units. */
export const codePoints = (/** @type {string} */ text) => [...text].length;
export const utf16Offset = (/** @type {string} */ text, /** @type {number} */ count) =>
  [...text].slice(0, count).join("").length;
