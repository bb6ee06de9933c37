import {
  clearNotice,
  renewToken,
  showNotice,
  signInLink
} from "../chunks/chunk-4KTFFKSQ.js";
import {
  onSignIn
} from "../chunks/chunk-JPS3M5OM.js";
import {
  fetchAnswer
} from "../chunks/chunk-IGJ2IKZR.js";

// static/js/audits/judging.js
var flat = (text) => text.split(/\s+/).filter(Boolean).join(" "), form, field, comment, status, holders, startedAt, marked, storageKey;
function paint(name, ranges) {
  CSS.highlights && CSS.highlights.set(name, new Highlight(...ranges));
}
function sentences() {
  let ranges = [];
  for (let holder of holders) {
    let node = holder.firstChild;
    if (!(holder.childNodes.length !== 1 || node.nodeType !== Node.TEXT_NODE))
      for (let ends of holder.dataset.passages.split(" ").filter(Boolean)) {
        let [start2, end] = ends.split("-").map(Number), range = new Range();
        range.setStart(node, start2), range.setEnd(node, end), ranges.push(range);
      }
  }
  return ranges;
}
var all, at;
function step(by) {
  if (all ??= sentences(), !all.length) return;
  at = Math.min(all.length - 1, Math.max(0, at + by));
  let range = all[at], fold = range.startContainer.parentElement.closest("details");
  fold && (fold.open = !0), paint("sentence", [range]);
  let box = range.getBoundingClientRect();
  (box.top < 80 || box.bottom > innerHeight - 120) && scrollBy({ top: box.top - innerHeight / 3 }), status.textContent = flat(range.toString());
}
function chosen() {
  let selection = getSelection();
  if (selection?.rangeCount && !selection.isCollapsed) {
    let range = selection.getRangeAt(0), inside = (node) => holders.find((holder2) => holder2.contains(node)), holder = inside(range.startContainer);
    return holder && holder === inside(range.endContainer) ? range.cloneRange() : null;
  }
  return at >= 0 ? all[at] : null;
}
function mark() {
  let range = chosen(), passage = range && flat(range.toString());
  if (!passage) {
    status.textContent = "Select text inside one piece of evidence first.";
    return;
  }
  let lines = field.value.split(`
`).map(flat).filter(Boolean);
  lines.includes(passage) || (field.value = [...lines, passage].join(`
`)), marked.push(range), paint("evidence", marked), getSelection()?.removeAllRanges(), storeTyped(), status.textContent = `Marked: ${passage}`;
}
function storeTyped() {
  try {
    localStorage.setItem(storageKey, JSON.stringify([field.value, comment.value]));
  } catch {
  }
}
function start() {
  form = document.querySelector("#judgment"), field = form.querySelector("#evidence"), comment = form.querySelector("#comment"), status = form.querySelector("[data-status]"), holders = [...form.querySelectorAll("[data-passages]")], marked = [], all = void 0, at = -1, startedAt = performance.now(), storageKey = `studio:judging:${document.body.dataset.signedIn}:${form.dataset.packet}`;
  let typed = JSON.parse(localStorage.getItem(storageKey) ?? "null");
  typed && !field.value && !comment.value && ([field.value, comment.value] = typed), paint("evidence", []), paint("sentence", []), form.dataset.listens || listen(), next = null, sending || (ahead = fetchNext());
}
function listen() {
  form.dataset.listens = "true", form.addEventListener("input", storeTyped);
  for (let button of form.querySelectorAll("[data-mark], [data-step]"))
    button.hidden = !1, button.addEventListener("mousedown", (event) => event.preventDefault()), button.addEventListener("click", () => button.dataset.step ? step(Number(button.dataset.step)) : mark());
  form.addEventListener("submit", (event) => {
    event.preventDefault(), event.submitter?.name === "answer" && send(event.submitter.value);
  }), document.querySelector("#undo").addEventListener("submit", (event) => {
    sending && (event.preventDefault(), stored.finally(() => event.target.submit()));
  });
}
var next = null, ahead;
async function fetchNext() {
  let from = form;
  try {
    let reply = await fetchAnswer(form.dataset.next, { headers: { "X-Studio-Script": "1" } });
    reply.status === 200 && from === form && (next = parse(await reply.text()));
  } catch {
  }
}
function parse(page) {
  return new DOMParser().parseFromString(page, "text/html");
}
function showNext(address) {
  let page = next;
  return !page || page.querySelector("#judgment")?.dataset.address !== address ? !1 : (show(page.title, page.querySelector(".crumbs ol"), page.querySelector("#work").childNodes), history.pushState(null, "", address), !0);
}
function show(title, crumbs, nodes) {
  document.title = title, document.querySelector(".crumbs ol").replaceWith(crumbs), document.querySelector("#messages").replaceChildren(), document.querySelector("#work").replaceChildren(...nodes), getSelection()?.removeAllRanges(), document.querySelector("#work").focus({ preventScroll: !0 }), scrollTo(0, 0), waiting = null, clearNotice(), start(), document.dispatchEvent(new CustomEvent("studio:packet"));
}
function isComplete(answer) {
  if (form.dataset.autosave) return !1;
  if (answer === "skipped") return !!comment.value.trim();
  let passages = field.value.split(`
`).map(flat).filter(Boolean), record = passages.length ? holders.map((holder) => flat(holder.textContent)) : [];
  return passages.every((passage) => record.some((text) => text.includes(passage)));
}
function leave(answer) {
  let fetched = next?.querySelector("#judgment");
  if (!fetched || !isComplete(answer)) return null;
  let left = {
    key: storageKey,
    title: document.title,
    crumbs: document.querySelector(".crumbs ol"),
    nodes: [...document.querySelector("#work").childNodes],
    address: form.dataset.address
  };
  return showNext(fetched.dataset.address), left;
}
function comeBack(left) {
  show(left.title, left.crumbs, left.nodes), history.replaceState(null, "", left.address);
}
addEventListener("popstate", () => location.reload());
var sending = !1, waiting = null, pressed = null, stored = Promise.resolve(), PROBLEMS = {
  "signed-out": "You are signed out. Your answer is kept here and is sent as soon as you sign in.",
  offline: "There is no connection. Your answer is kept here and is sent when the connection is back.",
  broken: "Something went wrong on our side. Your answer is kept here; try again in a moment."
};
function retryButton() {
  let button = document.createElement("button");
  return Object.assign(button, { type: "button", className: "button small", textContent: "Try again" }), button.addEventListener("click", () => waiting && send(waiting)), button;
}
function keep(answer, reason) {
  waiting = answer, storeTyped(), showNotice(PROBLEMS[reason], reason === "signed-out" ? signInLink() : retryButton());
}
async function send(answer) {
  if (sending) {
    pressed = answer;
    return;
  }
  sending = !0, renewToken(), form.elements.milliseconds.value = Math.round(performance.now() - startedAt);
  let body = new URLSearchParams([...new FormData(form)].map(([name, value]) => [name, String(value)]));
  body.set("answer", answer);
  let target = form.dataset.address, left = leave(answer), headers = { "X-Studio-Script": "1", ...left && { "X-Studio-After": form.dataset.position } };
  try {
    stored = fetchAnswer(target, { method: "POST", body, headers, keepalive: !!left });
    let reply = await stored;
    if (!reply.headers.get("content-type")?.includes("json"))
      return left && comeBack(left), showAnswerPage(answer);
    let { address, page } = await reply.json();
    if (localStorage.removeItem(left?.key ?? storageKey), sending = !1, left) next = page ? parse(page) : null;
    else if (await ahead, !showNext(address)) return location.assign(address);
    pressed && send(pressed), pressed = null;
  } catch (error) {
    left && comeBack(left), sending = !1, pressed = null, error.reason === "rejected" ? showAnswerPage(answer) : keep(answer, error.reason in PROBLEMS ? error.reason : "offline");
  }
}
function showAnswerPage(answer) {
  let input = document.createElement("input");
  Object.assign(input, { type: "hidden", name: "answer", value: answer }), form.append(input), form.submit();
}
var again = () => waiting && send(waiting);
onSignIn(again);
addEventListener("online", again);
addEventListener("focus", again);
addEventListener("pageshow", () => sending = !1);
start();
