// Names of files in a task's workspace.

/**
 * What is wrong with a name, or "".
 * @param {string} path
 */
export function pathProblem(path) {
  if (!path) return "Give the file a name.";
  if (/^\/|\\|(^|\/)\.{0,2}(\/|$)/.test(path))
    return "The name leads out of the workspace: write it like notes/plan.md.";
  if (/^(task\.yaml|\.history|\.result|\.eval_result)(\/|$)/.test(path))
    return `“${path.split("/")[0]}” belongs to the format: choose another name.`;
  return "";
}

/**
 * The name with the lowest number from 2 on that is not taken.
 * @param {string} path
 * @param {(path: string) => unknown} taken
 */
export function freePath(path, taken) {
  const [, stem, extension] = path.match(/^(.*?)((?:\.[^./]*)?)$/s) ?? [path, path, ""];
  for (let number = 2; ; number++) {
    const other = `${stem}-${number}${extension}`;
    if (!taken(other)) return other;
  }
}

/** A number of bytes as people read it. */
export function fileSize(/** @type {number} */ bytes) {
  if (bytes === 1) return "1 byte";
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/**
 * Start and end of a line, counted from 1, in a text.
 * @param {string} text
 * @param {number} number
 */
export function lineRange(text, number) {
  const lines = text.split("\n");
  const start = lines.slice(0, number - 1).join("\n").length + (number > 1 ? 1 : 0);
  return { start, end: start + (lines[number - 1] ?? "").length };
}
