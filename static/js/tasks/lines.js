// Intents and items are written like lines of a text: what splitting, joining and pasting make of their texts.

const BULLET = /^\s*(?:[-*•–]|\d{1,3}[.)])\s+/;

/**
 * The lines of a pasted text, without bullets, numbers and empty lines.
 * @param {string} text
 */
export function pastedLines(text) {
  return text
    .split(/\r?\n/)
    .map((line) => line.replace(BULLET, "").trim())
    .filter(Boolean);
}

/**
 * The two lines that Enter makes of one; what is selected goes. Null if both would be empty.
 * @param {string} text
 * @param {number} start
 * @param {number} end
 */
export function splitLine(text, start, end) {
  const [head, tail] = [text.slice(0, start).trimEnd(), text.slice(end).trimStart()];
  return head || tail.trim() ? { head, tail } : null;
}

/**
 * The line that Backspace makes of two, and where the caret is in it.
 * @param {string} before
 * @param {string} text
 */
export function joinLines(before, text) {
  const head = before.trimEnd();
  const gap = head && text ? " " : "";
  return { text: head + gap + text, caret: head.length + gap.length };
}

/**
 * The lines of several texts, trimmed, each once.
 * @param {string[]} texts
 */
export function uniqueLines(...texts) {
  return [
    ...new Set(
      texts.flatMap((text) =>
        text
          .split("\n")
          .map((line) => line.trim())
          .filter(Boolean),
      ),
    ),
  ].join("\n");
}
