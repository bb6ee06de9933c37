// Markup as tests write it: well formed but for elements that are never closed.

import { Element, Text } from "./page.js";

export const VOID = new Set(["input", "br", "hr", "img", "meta", "link"]);
const TAG = /<(\/?)([a-zA-Z][\w-]*)((?:\s+[^\s=>]+(?:=(?:"[^"]*"|'[^']*'|[^\s>]+))?)*)\s*>/g;
const ATTRIBUTE = /([^\s=]+)(?:=(?:"([^"]*)"|'([^']*)'|(\S+)))?/g;
const plain = (/** @type {string} */ text) =>
  text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&amp;", "&");

/** @param {string} html */
export function parse(html) {
  const root = new Element("template");
  const open = [root];
  const into = () => open[open.length - 1].content ?? open[open.length - 1];
  let read = 0;
  for (const match of html.matchAll(TAG)) {
    const text = plain(html.slice(read, match.index));
    if (text) into().append(new Text(text));
    read = match.index + match[0].length;
    if (match[1]) {
      if (!open.some((one) => one.tag === match[2])) continue;
      while (open.length > 1 && open.pop()?.tag !== match[2]);
      continue;
    }
    const element = new Element(match[2]);
    for (const [, name, ...values] of match[3].matchAll(ATTRIBUTE))
      element.setAttribute(name, plain(values.find((value) => value !== undefined) ?? ""));
    into().append(element);
    if (!VOID.has(match[2])) open.push(element);
  }
  if (html.slice(read)) into().append(new Text(plain(html.slice(read))));
  return [...root.content.childNodes];
}
