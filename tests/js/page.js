// A page without a browser: elements, selectors, events, forms and storage, as much of them as the scripts use. What needs
// layout, focus by keyboard or a real network is tested in a browser.

import { parse, VOID } from "./html.js";
import { matches } from "./selectors.js";

class PageEvent {
  constructor(type, { bubbles = false, cancelable = true, detail = null, ...more } = {}) {
    Object.assign(this, { type, bubbles, cancelable, detail, defaultPrevented: false, target: null }, more);
    this.stopped = this.halted = false;
  }
  preventDefault() {
    if (this.cancelable) this.defaultPrevented = true;
  }
  stopPropagation() {
    this.stopped = true;
  }
  stopImmediatePropagation() {
    this.stopped = this.halted = true;
  }
}

class Target {
  #listeners = [];
  addEventListener(type, act, options) {
    const { capture = false, once = false } = typeof options === "object" ? options : { capture: Boolean(options) };
    this.#listeners.push({ type, act, capture, once });
  }
  removeEventListener(type, act) {
    this.#listeners = this.#listeners.filter((one) => one.type !== type || one.act !== act);
  }
  hear(event, capture) {
    for (const one of [...this.#listeners]) {
      if (one.type !== event.type || (capture !== null && one.capture !== capture) || event.halted) continue;
      if (one.once) this.removeEventListener(one.type, one.act);
      one.act.call(this, event);
    }
  }
  dispatchEvent(event) {
    event.target = this;
    const above = [];
    for (let node = this.parentNode ?? (this === window ? null : this === document ? window : null); node; ) {
      above.push(node);
      node = node === document ? window : node === window ? null : node.parentNode;
    }
    for (const node of [...above].reverse()) if (!event.stopped) node.hear(event, true);
    if (!event.stopped) this.hear(event, null);
    if (event.bubbles) for (const node of above) if (!event.stopped) node.hear(event, false);
    return !event.defaultPrevented;
  }
}

class Node extends Target {
  parentNode = null;
  childNodes = [];
  get parentElement() {
    return this.parentNode instanceof Element ? this.parentNode : null;
  }
  get isConnected() {
    return this === document || Boolean(this.parentNode?.isConnected);
  }
  get children() {
    return this.childNodes.filter((node) => node instanceof Element);
  }
  get firstElementChild() {
    return this.children[0] ?? null;
  }
  get lastElementChild() {
    return this.children.at(-1) ?? null;
  }
  get firstChild() {
    return this.childNodes[0] ?? null;
  }
  get lastChild() {
    return this.childNodes.at(-1) ?? null;
  }
  get textContent() {
    return this.childNodes.map((node) => node.textContent).join("");
  }
  set textContent(text) {
    this.replaceChildren(...(String(text) ? [String(text)] : []));
  }
  contains(other) {
    for (let node = other; node; node = node.parentNode) if (node === this) return true;
    return false;
  }
  *below() {
    for (const node of this.childNodes) {
      if (node instanceof Element) yield node;
      yield* node.below();
    }
  }
  querySelectorAll(selector) {
    return [...this.below()].filter((node) => matches(node, selector, this));
  }
  querySelector(selector) {
    for (const node of this.below()) if (matches(node, selector, this)) return node;
    return null;
  }
  put(nodes, at) {
    const flat = nodes.flatMap((node) =>
      node instanceof Fragment ? [...node.childNodes] : [node instanceof Node ? node : new Text(node)],
    );
    const reference = this.childNodes[at];
    for (const node of flat) node.remove();
    const place = reference && this.childNodes.includes(reference) ? this.childNodes.indexOf(reference) : undefined;
    this.childNodes.splice(place ?? this.childNodes.length, 0, ...flat);
    for (const node of flat) node.parentNode = this;
  }
  append(...nodes) {
    this.put(nodes, this.childNodes.length);
  }
  prepend(...nodes) {
    this.put(nodes, 0);
  }
  insertBefore(node, reference) {
    this.put([node], reference ? this.childNodes.indexOf(reference) : this.childNodes.length);
  }
  replaceChildren(...nodes) {
    for (const node of [...this.childNodes]) node.remove();
    this.append(...nodes);
  }
  remove() {
    if (!this.parentNode) return;
    this.parentNode.childNodes.splice(this.parentNode.childNodes.indexOf(this), 1);
    this.parentNode = null;
  }
  after(...nodes) {
    this.parentNode.put(nodes, this.parentNode.childNodes.indexOf(this) + 1);
  }
  before(...nodes) {
    this.parentNode.put(nodes, this.parentNode.childNodes.indexOf(this));
  }
  replaceWith(...nodes) {
    this.before(...nodes);
    this.remove();
  }
}

class Text extends Node {
  constructor(text) {
    super();
    this.data = String(text);
  }
  get textContent() {
    return this.data;
  }
  cloneNode() {
    return new Text(this.data);
  }
}

class Fragment extends Node {}

const dashed = (name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

export class Element extends Node {
  constructor(tag, attributes = {}) {
    super();
    this.tag = tag;
    this.attributes = new Map(Object.entries(attributes));
    this.style = {};
    const own = this.attributes;
    this.dataset = new Proxy(/** @type {any} */ ({}), {
      get: (_, name) => own.get(`data-${dashed(String(name))}`),
      set: (_, name, value) => Boolean(own.set(`data-${dashed(String(name))}`, String(value))),
      has: (_, name) => own.has(`data-${dashed(String(name))}`),
      deleteProperty: (_, name) => own.delete(`data-${dashed(String(name))}`) || true,
    });
    if (tag === "template") this.content = new Fragment();
  }
  get tagName() {
    return this.tag.toUpperCase();
  }
  getAttribute(name) {
    return this.attributes.get(name) ?? null;
  }
  setAttribute(name, value) {
    this.attributes.set(name, String(value));
  }
  hasAttribute(name) {
    return this.attributes.has(name);
  }
  removeAttribute(name) {
    this.attributes.delete(name);
  }
  toggleAttribute(name, on) {
    if (on) this.attributes.set(name, "");
    else this.attributes.delete(name);
  }
  matches(selector) {
    return matches(this, selector, this);
  }
  closest(selector) {
    for (let node = /** @type {any} */ (this); node instanceof Element; node = node.parentNode)
      if (matches(node, selector, this)) return node;
    return null;
  }
  #beside(by) {
    const all = this.parentNode?.children ?? [];
    return all[all.indexOf(this) + by] ?? null;
  }
  get nextElementSibling() {
    return this.#beside(1);
  }
  get previousElementSibling() {
    return this.#beside(-1);
  }
  get classList() {
    const names = () => new Set((this.getAttribute("class") ?? "").split(" ").filter(Boolean));
    const write = (all) => this.setAttribute("class", [...all].join(" "));
    return {
      contains: (name) => names().has(name),
      add: (name) => write(names().add(name)),
      remove: (name) => write([...names()].filter((one) => one !== name)),
      toggle: (name, on = !names().has(name)) =>
        write(on ? names().add(name) : [...names()].filter((one) => one !== name)),
    };
  }
  get innerHTML() {
    return (this.tag === "template" ? this.content : this).childNodes.map(written).join("");
  }
  set innerHTML(html) {
    (this.tag === "template" ? this.content : this).replaceChildren(...parse(html));
  }
  cloneNode(deep = false) {
    const copy = new Element(this.tag, Object.fromEntries(this.attributes));
    if (deep) copy.append(...this.childNodes.map((node) => node.cloneNode(true)));
    if (deep && this.content) copy.content.append(...this.content.childNodes.map((node) => node.cloneNode(true)));
    return copy;
  }
  getBoundingClientRect() {
    return { top: 0, bottom: 0, left: 0, right: 0, width: 0, height: 0 };
  }
  scrollIntoView() {}
  checkVisibility() {
    return !this.closest("[hidden]");
  }
  focus() {
    document.activeElement = this;
    this.dispatchEvent(new PageEvent("focusin", { bubbles: true }));
  }
  blur() {
    document.activeElement = document.body;
  }
  click() {
    const event = new PageEvent("click", { bubbles: true, button: 0 });
    if (!this.dispatchEvent(event)) return;
    if (this.type === "checkbox") {
      this.checked = !this.checked;
      this.dispatchEvent(new PageEvent("change", { bubbles: true }));
    } else if (this.tag === "button" && this.type === "submit") this.form?.requestSubmit(this);
  }
  showModal() {
    this.open = true;
  }
  close(value) {
    if (value !== undefined) this.returnValue = value;
    this.open = false;
    this.dispatchEvent(new PageEvent("close"));
  }

  // Of forms and their controls.
  get form() {
    return this.getAttribute("form") ? document.getElementById(this.getAttribute("form")) : this.closest("form");
  }
  get type() {
    return this.getAttribute("type") ?? { button: "submit", input: "text" }[this.tag] ?? this.tag;
  }
  set type(value) {
    this.setAttribute("type", value);
  }
  get options() {
    return this.querySelectorAll("option");
  }
  add(option) {
    this.append(option);
  }
  get selectedOptions() {
    return this.options.filter((option) => option.value === this.value);
  }
  get defaultValue() {
    return this.tag === "textarea" ? this.textContent : (this.getAttribute("value") ?? "");
  }
  get value() {
    if (this.own !== undefined) return this.own;
    if (this.tag === "select")
      return (this.options.find((one) => one.hasAttribute("selected")) ?? this.options[0])?.value ?? "";
    if (this.tag === "option") return this.getAttribute("value") ?? this.textContent.trim();
    return this.tag === "input" && ["checkbox", "radio"].includes(this.type)
      ? (this.getAttribute("value") ?? "on")
      : this.defaultValue;
  }
  set value(value) {
    if (this.tag === "option") this.setAttribute("value", value);
    else this.own = String(value);
  }
  get checked() {
    return this.ticked ?? this.hasAttribute("checked");
  }
  set checked(on) {
    this.ticked = Boolean(on);
  }
  get files() {
    return this.chosen ?? [];
  }
  setSelectionRange(start, end) {
    Object.assign(this, { selectionStart: start, selectionEnd: end });
  }
  select() {
    this.setSelectionRange(0, this.value.length);
  }
  get elements() {
    const all = [...document.below()].filter((one) => CONTROLS.includes(one.tag) && one.form === this);
    return new Proxy(all, {
      get: (_, name) => (name in all ? all[name] : all.find((one) => one.name === name)),
    });
  }
  requestSubmit(submitter) {
    const event = new PageEvent("submit", { bubbles: true, submitter: submitter ?? null });
    if (this.dispatchEvent(event)) this.submit();
  }
  submit() {
    page.submitted.push(this);
  }
}

class PageOption extends Element {
  constructor(text, value = text) {
    super("option", { value: String(value) });
    this.append(text);
  }
}

const CONTROLS = ["input", "textarea", "select", "button"];
for (const name of ["id", "name", "title", "placeholder", "href", "action", "method", "target", "label"])
  Object.defineProperty(Element.prototype, name, {
    get() {
      return this.getAttribute(name) ?? "";
    },
    set(value) {
      this.setAttribute(name, value);
    },
  });
Object.defineProperty(Element.prototype, "className", {
  get() {
    return this.getAttribute("class") ?? "";
  },
  set(value) {
    this.setAttribute("class", value);
  },
});
for (const name of ["hidden", "disabled", "open", "readOnly"])
  Object.defineProperty(Element.prototype, name, {
    get() {
      return this.hasAttribute(name.toLowerCase());
    },
    set(on) {
      this.toggleAttribute(name.toLowerCase(), Boolean(on));
    },
  });

function written(node) {
  if (node instanceof Text) return node.data.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const attributes = [...node.attributes].map(([name, value]) => ` ${name}="${value.replaceAll('"', "&quot;")}"`);
  return `<${node.tag}${attributes.join("")}>${VOID.has(node.tag) ? "" : `${node.innerHTML}</${node.tag}>`}`;
}

class PageFormData {
  constructor(form, submitter) {
    this.all = [];
    for (const one of form?.elements ?? []) {
      if (!one.name || one.matches(":disabled") || (one.tag === "button" && one !== submitter)) continue;
      if (one.type === "file" || (["checkbox", "radio"].includes(one.type) && !one.checked)) continue;
      this.all.push([one.name, one.value]);
    }
  }
  append(name, value) {
    this.all.push([name, value]);
  }
  delete(name) {
    this.all = this.all.filter(([other]) => other !== name);
  }
  set(name, value) {
    this.delete(name);
    this.append(name, value);
  }
  get(name) {
    return this.all.find(([other]) => other === name)?.[1] ?? null;
  }
  getAll(name) {
    return this.all.filter(([other]) => other === name).map(([, value]) => value);
  }
  *[Symbol.iterator]() {
    yield* this.all.map((pair) => [...pair]);
  }
}

function storage() {
  const kept = {};
  const methods = {
    getItem: (name) => kept[name] ?? null,
    setItem: (name, value) => {
      if (page.full) throw new Error("full");
      kept[name] = String(value);
    },
    removeItem: (name) => {
      delete kept[name];
    },
  };
  for (const [name, act] of Object.entries(methods)) Object.defineProperty(kept, name, { value: act });
  return kept;
}

/** What a test sees of the page beside its elements. */
export const page = {
  /** @type {any[]} forms that were sent as browsers send them */
  submitted: [],
  /** @type {any[]} addresses that were opened */
  opened: [],
  /** Whether the browser's storage takes nothing more. */
  full: false,
};

/**
 * Puts a page in place of the browser's; scripts that are imported from then on find it.
 * @param {string} html of its body
 * @param {Record<string, any>} more globals, such as `fetch`
 */
export function open(html, more = {}) {
  const document = Object.assign(new Node(), { cookie: "", title: "", hidden: false });
  const window = new Target();
  const set = (name, value) => Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  for (const [name, value] of Object.entries({
    document,
    window,
    Event: PageEvent,
    CustomEvent: PageEvent,
    Element,
    HTMLElement: Element,
  }))
    set(name, value);
  const root = new Element("html");
  const body = new Element("body", { "data-signed-in": "7", "data-sign-in": "/login/" });
  document.append(root);
  root.append(body);
  body.append(...parse(html));
  Object.assign(document, {
    documentElement: root,
    body,
    activeElement: body,
    createElement: (/** @type {string} */ tag) => new Element(tag),
    createTextNode: (/** @type {string} */ text) => new Text(text),
    importNode: (/** @type {any} */ node) => node.cloneNode(true),
    getElementById: (/** @type {string} */ id) => document.querySelector(`#${CSS.escape(id)}`),
  });
  set("CSS", { escape: (/** @type {string} */ text) => String(text).replace(/[^\w-]/g, "\\$&") });
  set("location", {
    pathname: "/page/",
    search: "",
    hash: "",
    assign: (/** @type {string} */ to) => page.opened.push(to),
    reload: () => page.opened.push("again"),
  });
  set("Option", PageOption);
  set("FormData", PageFormData);
  set(
    "DOMParser",
    class {
      parseFromString(/** @type {string} */ text) {
        const whole = new Element("html");
        whole.append(...parse(text));
        return whole;
      }
    },
  );
  set("customElements", { define() {} });
  set("matchMedia", () => Object.assign(new Target(), { matches: false }));
  set("localStorage", storage());
  set("sessionStorage", storage());
  set("scrollX", 0);
  set("scrollY", 0);
  for (const [name, value] of Object.entries(more)) set(name, value);
  Object.assign(window, { matchMedia: globalThis.matchMedia, scrollBy() {}, ...more });
}

/** The element, which has to be there. */
export const $ = (/** @type {string} */ selector) => {
  const found = document.querySelector(selector);
  if (!found) throw new Error(`there is no ${selector}`);
  return /** @type {any} */ (found);
};
export const all = (/** @type {string} */ selector) => /** @type {any[]} */ ([...document.querySelectorAll(selector)]);

/** Sends an event to an element, or to the window, and returns it. */
export function send(target, type, more = {}) {
  const event = /** @type {any} */ (new PageEvent(type, { bubbles: true, ...more }));
  target.dispatchEvent(event);
  return event;
}

export const press = (target, key, more = {}) => send(target, "keydown", { key, ...more });

/** Types a text in place of what a field holds. */
export function type(field, text) {
  field.value = text;
  return send(field, "input");
}

/** Until what was started has gone as far as it goes without more time. */
export async function settled() {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
}
export { Text };
