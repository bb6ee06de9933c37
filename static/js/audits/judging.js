// Judging by keyboard: marks text as evidence, steps through sentences, stores what was typed, measures the time.
// The next packet is fetched while this one is judged, and shown at once; should the answer be refused, this one is back.
import { renewToken } from "../drafts/form.js";
import { clearNotice, showNotice, signInLink } from "../drafts/notice.js";
import { fetchAnswer } from "../shared/requests.js";
import { onSignIn } from "../shared/signed_in.js";

const flat = (text) => text.split(/\s+/).filter(Boolean).join(" ");
let form, field, comment, status, holders, startedAt, marked, storageKey;
function paint(name, ranges) {
  if (!CSS.highlights) return;
  CSS.highlights.set(name, new Highlight(...ranges));
}

function sentences() {
  const ranges = [];
  for (const holder of holders) {
    const node = holder.firstChild;
    if (holder.childNodes.length !== 1 || node.nodeType !== Node.TEXT_NODE) continue;
    for (const ends of holder.dataset.passages.split(" ").filter(Boolean)) {
      const [start, end] = ends.split("-").map(Number);
      const range = new Range();
      range.setStart(node, start);
      range.setEnd(node, end);
      ranges.push(range);
    }
  }
  return ranges;
}

let all;
let at;
function step(by) {
  all ??= sentences();
  if (!all.length) return;
  at = Math.min(all.length - 1, Math.max(0, at + by));
  const range = all[at];
  const fold = range.startContainer.parentElement.closest("details");
  if (fold) fold.open = true;
  paint("sentence", [range]);
  const box = range.getBoundingClientRect();
  if (box.top < 80 || box.bottom > innerHeight - 120) scrollBy({ top: box.top - innerHeight / 3 });
  status.textContent = flat(range.toString());
}

function chosen() {
  const selection = getSelection();
  if (selection?.rangeCount && !selection.isCollapsed) {
    const range = selection.getRangeAt(0);
    const inside = (node) => holders.find((holder) => holder.contains(node));
    const holder = inside(range.startContainer);
    return holder && holder === inside(range.endContainer) ? range.cloneRange() : null;
  }
  return at >= 0 ? all[at] : null;
}

function mark() {
  const range = chosen();
  const passage = range && flat(range.toString());
  if (!passage) {
    status.textContent = "Select text inside one piece of evidence first.";
    return;
  }
  const lines = field.value.split("\n").map(flat).filter(Boolean);
  if (!lines.includes(passage)) field.value = [...lines, passage].join("\n");
  marked.push(range);
  paint("evidence", marked);
  getSelection()?.removeAllRanges();
  storeTyped();
  status.textContent = `Marked: ${passage}`;
}

// Typed text stays in this browser until the server has the answer.
function storeTyped() {
  try {
    localStorage.setItem(storageKey, JSON.stringify([field.value, comment.value]));
  } catch {} // full or switched off
}

function start() {
  form = document.querySelector("#judgment");
  field = form.querySelector("#evidence");
  comment = form.querySelector("#comment");
  status = form.querySelector("[data-status]");
  holders = [...form.querySelectorAll("[data-passages]")];
  marked = [];
  all = undefined;
  at = -1;
  startedAt = performance.now();
  storageKey = `studio:judging:${document.body.dataset.signedIn}:${form.dataset.packet}`;
  const typed = JSON.parse(localStorage.getItem(storageKey) ?? "null");
  if (typed && !field.value && !comment.value) [field.value, comment.value] = typed;
  paint("evidence", []);
  paint("sentence", []);
  if (!form.dataset.listens) listen();
  next = null;
  if (!sending) ahead = fetchNext();
}

function listen() {
  form.dataset.listens = "true";
  form.addEventListener("input", storeTyped);
  for (const button of form.querySelectorAll("[data-mark], [data-step]")) {
    button.hidden = false;
    button.addEventListener("mousedown", (event) => event.preventDefault());
    button.addEventListener("click", () => (button.dataset.step ? step(Number(button.dataset.step)) : mark()));
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (event.submitter?.name === "answer") send(event.submitter.value);
  });
  document.querySelector("#undo").addEventListener("submit", (event) => {
    if (!sending) return;
    event.preventDefault();
    stored.finally(() => event.target.submit());
  });
}

/** @type {Document | null} the packet after this one */
let next = null;
/** @type {Promise<void>} */
let ahead;
async function fetchNext() {
  const from = form;
  try {
    const reply = await fetchAnswer(form.dataset.next, { headers: { "X-Studio-Script": "1" } });
    if (reply.status === 200 && from === form) next = parse(await reply.text());
  } catch {} // then it is opened as a page
}

function parse(page) {
  return new DOMParser().parseFromString(page, "text/html");
}

// Whether the packet at the address was fetched before; then it is shown.
function showNext(address) {
  const page = next;
  if (!page || page.querySelector("#judgment")?.dataset.address !== address) return false;
  show(page.title, page.querySelector(".crumbs ol"), page.querySelector("#work").childNodes);
  history.pushState(null, "", address);
  return true;
}

function show(title, crumbs, nodes) {
  document.title = title;
  document.querySelector(".crumbs ol").replaceWith(crumbs);
  document.querySelector("#messages").replaceChildren();
  document.querySelector("#work").replaceChildren(...nodes);
  getSelection()?.removeAllRanges();
  document.querySelector("#work").focus({ preventScroll: true });
  scrollTo(0, 0);
  waiting = null;
  clearNotice();
  start();
  document.dispatchEvent(new CustomEvent("studio:packet"));
}

// Whether the server has no reason to refuse the answer, as far as can be seen here.
function isComplete(answer) {
  if (form.dataset.autosave) return false;
  if (answer === "skipped") return Boolean(comment.value.trim());
  const passages = field.value.split("\n").map(flat).filter(Boolean);
  const record = passages.length ? holders.map((holder) => flat(holder.textContent)) : [];
  return passages.every((passage) => record.some((text) => text.includes(passage)));
}

// Shows the next packet before the answer is stored.
function leave(answer) {
  const fetched = next?.querySelector("#judgment");
  if (!fetched || !isComplete(answer)) return null;
  const left = {
    key: storageKey,
    title: document.title,
    crumbs: document.querySelector(".crumbs ol"),
    nodes: [...document.querySelector("#work").childNodes],
    address: form.dataset.address,
  };
  showNext(fetched.dataset.address);
  return left;
}

function comeBack(left) {
  show(left.title, left.crumbs, left.nodes);
  history.replaceState(null, "", left.address);
}
addEventListener("popstate", () => location.reload());
let sending = false;
/** @type {any} the answer that waits for a connection or for signing in */
let waiting = null;
/** @type {any} an answer given while the one before is being stored */
let pressed = null;
/** @type {Promise<any>} */
let stored = Promise.resolve();

const PROBLEMS = {
  "signed-out": "You are signed out. Your answer is kept here and is sent as soon as you sign in.",
  offline: "There is no connection. Your answer is kept here and is sent when the connection is back.",
  broken: "Something went wrong on our side. Your answer is kept here; try again in a moment.",
};

function retryButton() {
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "button small", textContent: "Try again" });
  button.addEventListener("click", () => waiting && send(waiting));
  return button;
}

function keep(answer, reason) {
  waiting = answer;
  showNotice(PROBLEMS[reason], reason === "signed-out" ? signInLink() : retryButton());
}

async function send(answer) {
  if (sending) {
    pressed = answer;
    return;
  }
  sending = true;
  renewToken();
  form.elements.milliseconds.value = Math.round(performance.now() - startedAt);
  const body = new URLSearchParams([...new FormData(form)].map(([name, value]) => [name, String(value)]));
  body.set("answer", answer);
  const target = form.dataset.address;
  const left = leave(answer);
  // The answer to this answer is the packet after the one that is shown now.
  const headers = { "X-Studio-Script": "1", ...(left && { "X-Studio-After": form.dataset.position }) };
  try {
    const options = { method: "POST", body, headers, keepalive: Boolean(left) };
    stored = fetchAnswer(target, options);
    const reply = await stored;
    if (!reply.headers.get("content-type")?.includes("json")) {
      if (left) comeBack(left);
      return showAnswerPage(answer);
    }
    const { address, page } = await reply.json();
    localStorage.removeItem(left?.key ?? storageKey);
    sending = false;
    if (left) next = page ? parse(page) : null;
    else {
      await ahead;
      if (!showNext(address)) return location.assign(address);
    }
    if (pressed) send(pressed);
    pressed = null;
  } catch (/** @type {any} */ error) {
    if (left) comeBack(left);
    sending = false;
    pressed = null;
    if (error.reason === "rejected") showAnswerPage(answer);
    else keep(answer, error.reason in PROBLEMS ? error.reason : "offline");
  }
}

// The server says what is wrong with the answer on a page of its own.
function showAnswerPage(answer) {
  const input = document.createElement("input");
  Object.assign(input, { type: "hidden", name: "answer", value: answer });
  form.append(input);
  form.submit();
}

const again = () => waiting && send(waiting);
onSignIn(again);
addEventListener("online", again);
addEventListener("focus", again);
addEventListener("pageshow", () => (sending = false));
start();
