// Judging by keyboard: marks text as evidence, steps through sentences, stores what was typed, measures the time.
// The next packet is fetched while this one is judged, and shown as soon as the answer is stored.
import { renewToken } from "../drafts/form.js";
import { showNotice, signInLink } from "../drafts/notice.js";
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
  const stored = JSON.parse(localStorage.getItem(storageKey) ?? "null");
  if (stored && !field.value && !comment.value) [field.value, comment.value] = stored;
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
  paint("evidence", []);
  paint("sentence", []);
  fetchNext();
}

/** @type {Document | null} the packet after this one */
let next = null;
async function fetchNext() {
  next = null;
  const from = form;
  try {
    const reply = await fetchAnswer(form.dataset.next, { headers: { "X-Studio-Script": "1" } });
    if (reply.status !== 200 || from !== form) return;
    next = new DOMParser().parseFromString(await reply.text(), "text/html");
  } catch {} // then it is opened as a page
}

// Whether the packet at the address was fetched before; then it is shown.
function showNext(address) {
  const fetched = next?.querySelector("#judgment");
  if (fetched?.dataset.address !== address) return false;
  const page = next;
  document.title = page.title;
  document.querySelector(".crumbs ol").replaceWith(page.querySelector(".crumbs ol"));
  document.querySelector("#messages").replaceChildren();
  document.querySelector("#work").replaceChildren(...page.querySelector("#work").childNodes);
  getSelection()?.removeAllRanges();
  document.querySelector("#work").focus({ preventScroll: true });
  scrollTo(0, 0);
  sending = false;
  waiting = null;
  start();
  document.dispatchEvent(new CustomEvent("studio:packet"));
  history.pushState(null, "", address);
  return true;
}
addEventListener("popstate", () => location.reload());
let sending = false;
/** @type {any} the answer that waits for a connection or for signing in */
let waiting = null;

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
  storeTyped();
  showNotice(PROBLEMS[reason], reason === "signed-out" ? signInLink() : retryButton());
}

async function send(answer) {
  if (sending) return;
  sending = true;
  renewToken();
  form.elements.milliseconds.value = Math.round(performance.now() - startedAt);
  const body = new URLSearchParams([...new FormData(form)].map(([name, value]) => [name, String(value)]));
  body.set("answer", answer);
  try {
    const reply = await fetchAnswer(form.dataset.address, { method: "POST", body, headers: { "X-Studio-Script": "1" } });
    if (!reply.headers.get("content-type")?.includes("json")) return showAnswerPage(answer);
    const { address } = await reply.json();
    localStorage.removeItem(storageKey);
    showNext(address) || location.assign(address);
  } catch (/** @type {any} */ error) {
    sending = false;
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
