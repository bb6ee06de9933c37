// Whether an element matches a CSS selector; those that the scripts use.

const PART =
  /^(?:([#.]?)((?:[\w-]|\\.)+)|(\*)|\[([\w-]+)(?:([~^$*]?)=(?:"((?:[^"\\]|\\.)*)"|((?:[\w-]|\\.)+)))?\s*\]|:([\w-]+)(\()?)/;
const bare = (/** @type {string} */ text) => text.replace(/\\(.)/g, "$1");

/** The selectors of a list, or the steps of one. */
function split(text, separators) {
  const found = [""];
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at];
    if (letter === "\\") {
      found[found.length - 1] += letter + text[++at];
      continue;
    }
    if (letter === '"') quoted = !quoted;
    if (!quoted && "([".includes(letter)) depth++;
    if (!quoted && ")]".includes(letter)) depth--;
    if (!quoted && !depth && separators.includes(letter)) found.push(letter, "");
    else found[found.length - 1] += letter;
  }
  return found;
}

/**
 * @param {any} element
 * @param {string} list
 * @param {any} scope
 */
export function matches(element, list, scope) {
  return split(list, ",").some((selector) => selector !== "," && one(element, selector.trim(), scope));
}

function one(element, selector, scope) {
  const steps = split(selector.replace(/\s*([>+])\s*/g, "$1").replace(/\s+/g, " "), " >+");
  return walk(element, steps, steps.length - 1, scope);
}

function walk(element, steps, at, scope) {
  if (!compound(element, steps[at], scope)) return false;
  if (at === 0) return true;
  if (steps[at - 1] === ">") return Boolean(element.parentNode) && walk(element.parentNode, steps, at - 2, scope);
  if (steps[at - 1] === "+")
    return Boolean(element.previousElementSibling) && walk(element.previousElementSibling, steps, at - 2, scope);
  for (let node = element.parentNode; node; node = node.parentNode) if (walk(node, steps, at - 2, scope)) return true;
  return false;
}

function compound(element, text, scope) {
  if (text === ":scope") return element === scope;
  if (!element.getAttribute) return false;
  for (let rest = text; rest; ) {
    const found = PART.exec(rest);
    if (!found) throw new Error(`the page does not know the selector ${text}`);
    let length = found[0].length;
    let inner = "";
    if (found[9]) {
      let depth = 1;
      while (depth) depth += { "(": 1, ")": -1 }[rest[length++]] ?? 0;
      inner = rest.slice(found[0].length, length - 1);
    }
    if (!simple(element, found, inner, scope)) return false;
    rest = rest.slice(length);
  }
  return true;
}

function simple(element, [, kind, name, any, attribute, how, quoted, word, pseudo], inner, scope) {
  if (any) return true;
  if (name) {
    if (kind === "#") return element.getAttribute("id") === bare(name);
    if (kind === ".") return (element.getAttribute("class") ?? "").split(" ").includes(bare(name));
    return element.tag === name;
  }
  if (attribute) {
    const value =
      attribute === "value" && element.tag === "input" ? element.defaultValue : element.getAttribute(attribute);
    const wanted = quoted ?? word;
    if (value === null || wanted === undefined) return value !== null && element.hasAttribute(attribute);
    const text = bare(wanted);
    if (how === "^") return value.startsWith(text);
    if (how === "$") return value.endsWith(text);
    if (how === "*") return value.includes(text);
    return how === "~" ? value.split(" ").includes(text) : value === text;
  }
  if (pseudo === "not") return !matches(element, inner, scope);
  if (pseudo === "is") return matches(element, inner, scope);
  if (pseudo === "scope") return element === scope;
  if (pseudo === "checked") return element.checked;
  if (pseudo === "disabled") return element.disabled || Boolean(element.closest("fieldset[disabled]"));
  throw new Error(`the page does not know :${pseudo}`);
}
