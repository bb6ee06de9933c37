// Elements and the events on them come from templates, which TypeScript cannot see: looking an element up, and reading
// what only its tag or its event has, is unchecked. Names, arguments and null are checked everywhere else.
interface EventTarget {
  [name: string]: any;
}

type Listener = (event: any) => unknown;
type ListenerOptions = boolean | AddEventListenerOptions;

interface ParentNode {
  querySelector(selectors: string): any;
  querySelectorAll(selectors: string): NodeListOf<any>;
}

interface Element {
  closest(selectors: string): any;
}

interface HTMLElement {
  addEventListener(type: string, listener: Listener, options?: ListenerOptions): void;
}

interface Document {
  getElementById(id: string): any;
  addEventListener(type: string, listener: Listener, options?: ListenerOptions): void;
}

interface Window {
  Sortable: typeof import("sortablejs");
  htmx?: { process(element: Element): void };
  addEventListener(type: string, listener: Listener, options?: ListenerOptions): void;
}
