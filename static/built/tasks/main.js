import "../chunks/chunk-DARIGDDJ.js";
import {
  put
} from "../chunks/chunk-I4SFSUUT.js";
import "../chunks/chunk-RCO2JL6F.js";
import "../chunks/chunk-2THEAPOY.js";
import {
  blank,
  codePoints,
  commentAt,
  findingAt,
  follow,
  markComments,
  markFindings,
  rectangleAt,
  rowsOf,
  undoable,
  utf16Offset
} from "../chunks/chunk-6YM6RD3V.js";
import {
  field,
  form,
  formValues,
  go,
  keyOf,
  later,
  lineOf,
  onChange,
  serialize
} from "../chunks/chunk-4KTFFKSQ.js";
import "../chunks/chunk-JPS3M5OM.js";
import "../chunks/chunk-IGJ2IKZR.js";

// static/js/tasks/side_pane.js
var pane = document.querySelector("[data-pane]");
function show(name) {
  for (let tab of pane.querySelectorAll("[data-tab]"))
    tab.dataset.tab === name ? tab.setAttribute("aria-current", "true") : tab.removeAttribute("aria-current");
  for (let body of pane.querySelectorAll("[data-tab-body]")) body.hidden = body.dataset.tabBody !== name;
  name !== "review" && sessionStorage.setItem("studio:pane", name);
}
function guide(part3) {
  for (let one of pane.querySelectorAll("[data-guide-of]"))
    one.open = one.dataset.guideOf === part3;
}
if (pane) {
  pane.classList.add("tabbed");
  let kept = pane.querySelector("[data-tab=review]") ? "review" : sessionStorage.getItem("studio:pane");
  show(pane.querySelector(`[data-tab="${CSS.escape(kept ?? "")}"]`) ? kept : "findings"), pane.addEventListener("click", (event) => {
    let tab = event.target.closest("[data-tab]");
    tab && (event.preventDefault(), show(tab.dataset.tab));
  }), document.addEventListener("focusin", (event) => {
    let part3 = event.target.closest?.("#task section[data-guide]")?.dataset.guide;
    part3 && guide(part3);
  });
}
document.addEventListener("click", (event) => {
  let link = event.target.closest("[data-goto]");
  link && go(link.dataset.goto) && event.preventDefault();
});

// static/js/tasks/lines.js
var BULLET = /^\s*(?:[-*•–]|\d{1,3}[.)])\s+/;
function pastedLines(text) {
  return text.split(/\r?\n/).map((line) => line.replace(BULLET, "").trim()).filter(Boolean);
}
function splitLine(text, start, end2) {
  let [head, tail] = [text.slice(0, start).trimEnd(), text.slice(end2).trimStart()];
  return head || tail.trim() ? { head, tail } : null;
}
function joinLines(before2, text) {
  let head = before2.trimEnd(), gap = head && text ? " " : "";
  return { text: head + gap + text, caret: head.length + gap.length };
}
function uniqueLines(...texts) {
  return [
    ...new Set(
      texts.flatMap(
        (text) => text.split(`
`).map((line) => line.trim()).filter(Boolean)
      )
    )
  ].join(`
`);
}

// static/js/tasks/links.js
var briefOf = (group) => group.querySelector(":scope > input[type=hidden]"), evidenceOf = (group) => group.closest("details").querySelector('textarea[name$=".evidence"]'), intents = () => rowsOf(form.querySelector('[data-rows="intents"]')), groupOf = (row) => row.querySelector(".links"), boxesOf = (group) => [...group.querySelectorAll("label:not([hidden]) > input")];
function keysOf(group) {
  let brief = briefOf(group);
  return brief ? brief.value.split(`
`)[0].split(" ").filter(Boolean) : boxesOf(group).flatMap((box) => box.checked ? [box.value] : []);
}
function expandLinks(group) {
  let brief = briefOf(group), ticked = brief && keysOf(group), name = `checklist.${keyOf(group.closest("[data-row]"))}.follows_from`, known = new Map([...group.querySelectorAll("label > input")].map((box) => [box.value, box.closest("label")]));
  intents().forEach((row, at) => {
    let [key, text] = [keyOf(row), lineOf(row).value], label = known.get(key);
    label || (label = document.createElement("label"), label.className = "check", label.innerHTML = '<input type="checkbox"><span></span>', Object.assign(label.firstChild, { name, value: key, checked: !!ticked?.includes(key) })), known.delete(key), label.hidden = !1, label.title = text, label.lastChild.textContent = `${at + 1} ${text.slice(0, 36)}`, group.children[at] !== label && group.insertBefore(label, group.children[at] ?? null);
  });
  for (let label of known.values()) label.hidden = !0;
  return brief && (put(group.closest("[data-row]"), "evidence", group), evidenceOf(group).value = brief.value.split(`
`).slice(1).join(`
`), brief.remove()), boxesOf(group);
}
function showLinkedIntents(...groups) {
  let numbers = new Map(intents().map((row, at) => [keyOf(row), at + 1]));
  for (let group of groups) {
    let text = keysOf(group).flatMap((key) => numbers.get(key) ?? []).sort((a, b) => a - b).map((number) => ` ${number}`).join("") || " no intent", place2 = group.closest("details").querySelector("[data-linked-intents]");
    place2.textContent !== text && (place2.textContent = text);
  }
}
form?.addEventListener("studio:changed", (event) => {
  event.target.dataset.rows === "intents" && showLinkedIntents(...form.querySelectorAll('[data-rows="checklist"] .links'));
});
function follow2(group, keys) {
  let own2 = keysOf(group), added = keys.filter((key) => !own2.includes(key));
  if (!added.length) return;
  let brief = briefOf(group);
  if (brief) {
    let [first, ...evidence] = brief.value.split(`
`);
    brief.value = [[first, ...added].filter(Boolean).join(" "), ...evidence].join(`
`);
  } else for (let box of expandLinks(group)) box.checked ||= added.includes(box.value);
  showLinkedIntents(group);
}
function copyLinks(row, other) {
  if (groupOf(row)) return follow2(groupOf(other), keysOf(groupOf(row)));
  for (let group of form.querySelectorAll('[data-rows="checklist"] .links'))
    keysOf(group).includes(keyOf(row)) && follow2(group, [keyOf(other)]);
}

// static/js/tasks/keyboard.js
var LISTS = ["intents", "checklist"];
function write(area, text, caret = text.length) {
  area.value = text, follow(area), area.focus(), area.setSelectionRange(caret, caret);
}
function split(row, area) {
  let lines = splitLine(area.value, area.selectionStart, area.selectionEnd);
  if (!lines) return;
  let { head, tail } = lines;
  undoable(row.parentElement, () => {
    let next2 = blank(row.parentElement, row);
    write(area, head), tail.trim() && copySettings(row, next2), write(lineOf(next2), tail, 0);
  });
}
function addLine(row) {
  let area = lineOf(row);
  area.focus(), area.setSelectionRange(area.value.length, area.value.length), split(row, area);
}
function copySettings(row, next2) {
  for (let name of ["scope", "initial_status", "grader"]) {
    let from = row.querySelector(`select[name$=".${name}"]`), to = next2.querySelector(`select[name$=".${name}"]`);
    from && to && (to.value = from.value);
  }
  copyLinks(row, next2);
}
function join(row, area) {
  let before2 = row.previousElementSibling;
  if (before2?.matches("[data-row]")) {
    for (let group of [row, before2].map(groupOf)) group && expandLinks(group);
    undoable(row.parentElement, () => {
      let into = lineOf(before2), { text, caret } = joinLines(into.value, area.value);
      copyLinks(row, before2), mergeSources(row, before2), write(into, text, caret), row.remove();
    });
  }
}
function mergeSources(row, before2) {
  let [from, to] = [row, before2].map((one) => one.querySelector(":scope .sub[data-rows]"));
  for (let place2 of from && to ? rowsOf(from) : []) {
    let values = valuesOf(place2);
    if (rowsOf(to).some((own3) => valuesOf(own3).join("\0") === values.join("\0"))) continue;
    let rows = rowsOf(to), next2 = blank(to, rows[rows.length - 1]);
    for (let [at, input] of inputsOf(next2).entries()) input.value = values[at];
  }
  let [evidence, own2] = [row, before2].map((one) => one.querySelector('textarea[name$=".evidence"]'));
  !evidence || !own2 || (own2.value = uniqueLines(own2.value, evidence.value));
}
var inputsOf = (row) => [...row.querySelectorAll("select, input:not([type=hidden])")], valuesOf = (row) => inputsOf(row).map((input) => input.value);
function step(row, area, up) {
  let edge = up ? 0 : area.value.length, next2 = up ? row.previousElementSibling : row.nextElementSibling;
  if (area.selectionStart !== edge || area.selectionEnd !== edge || !next2?.matches("[data-row]")) return !1;
  let into = lineOf(next2);
  into.focus();
  let caret = up ? 0 : into.value.length;
  return into.setSelectionRange(caret, caret), !0;
}
function inLine(event) {
  let area = event.target, row = area.closest?.("[data-row]");
  return !row || !LISTS.includes(row.parentElement.dataset.rows) || lineOf(row) !== area || !form?.contains(row) ? null : row;
}
form?.addEventListener("keydown", (event) => {
  if (event.isComposing || event.altKey || event.ctrlKey || event.metaKey) return;
  let row = inLine(event);
  if (!row) return;
  let area = event.target;
  if (event.key === "Enter" && !event.shiftKey)
    event.preventDefault(), split(row, area);
  else if (event.key === "Backspace" && area.selectionStart === 0 && area.selectionEnd === 0) {
    if (!row.previousElementSibling?.matches("[data-row]")) return;
    event.preventDefault(), join(row, area);
  } else ["ArrowUp", "ArrowDown"].includes(event.key) && !event.shiftKey && step(row, area, event.key === "ArrowUp") && event.preventDefault();
});
form?.addEventListener("paste", (event) => {
  let row = inLine(event), lines = pastedLines(event.clipboardData?.getData("text/plain") ?? "");
  if (!row || lines.length < 2) return;
  event.preventDefault();
  let area = event.target;
  undoable(row.parentElement, () => {
    let [head, tail] = [area.value.slice(0, area.selectionStart), area.value.slice(area.selectionEnd)];
    write(area, head + lines[0]);
    let last2 = row;
    for (let line of lines.slice(1))
      last2 = blank(row.parentElement, last2), lineOf(last2).value = line, follow(lineOf(last2));
    let end2 = lineOf(last2).value.length;
    write(lineOf(last2), lineOf(last2).value + tail, end2);
  });
});

// static/js/tasks/link_keys.js
function open(row) {
  let group = groupOf(row);
  if (!group) return !1;
  group.closest("details").open = !0;
  let boxes = expandLinks(group);
  return (boxes.find((box) => box.checked) ?? boxes[0] ?? group.closest("details").querySelector("textarea")).focus(), !0;
}
function among(event, group) {
  let boxes = boxesOf(group), step3 = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
  if (step3) boxes[(boxes.indexOf(event.target) + step3 + boxes.length) % boxes.length].focus();
  else if (/^[1-9]$/.test(event.key)) boxes[event.key - 1]?.click();
  else if (event.key === "Enter") addLine(group.closest("[data-row]"));
  else if (event.key === "Escape") lineOf(group.closest("[data-row]")).focus();
  else return;
  event.preventDefault();
}
form?.addEventListener(
  "toggle",
  (event) => {
    let group = event.target.open && event.target.querySelector(":scope .links");
    group && expandLinks(group);
  },
  !0
);
form?.addEventListener("change", (event) => {
  let group = event.target.closest(".links");
  group && showLinkedIntents(group);
});
form?.addEventListener("keydown", (event) => {
  let row = event.target.closest("[data-row]");
  if (!row || event.ctrlKey || event.metaKey || event.isComposing) return;
  if (event.altKey) {
    ["l", "¬"].includes(event.key) && open(row) && event.preventDefault();
    return;
  }
  let group = event.target.closest(".links");
  group && among(event, group);
});

// static/js/tasks/recovery.js
var tasks = () => [...document.querySelector("#recovery-places")?.options ?? []].filter((one) => "task" in one.dataset);
function choose(row) {
  let kind = row.querySelector("[data-recovery-kind]"), ref = row.querySelector('[name$=".ref"]'), shown = row.querySelector("[data-task-choice]");
  if (row.querySelector("[data-task-name]")?.remove(), ref.hidden = kind.value === "session" && tasks().length > 0, !ref.hidden) return shown?.remove();
  let select = shown ?? document.createElement("select");
  shown || (select.dataset.taskChoice = "", select.setAttribute("aria-label", "Which task"), ref.after(select));
  let known = tasks().map((one) => new Option(one.label || one.textContent, one.value));
  known.some((one) => one.value === ref.value) || known.unshift(new Option(ref.value || "which task", ref.value)), select.replaceChildren(...known), select.value = ref.value;
}
function all(root) {
  for (let kind of root.querySelectorAll("[data-recovery-kind]")) choose(kind.closest("[data-row]"));
}
form && (form.addEventListener("change", (event) => {
  if (event.target.matches("[data-recovery-kind]") && choose(event.target.closest("[data-row]")), !event.target.matches("[data-task-choice]")) return;
  let ref = event.target.parentElement.querySelector('[name$=".ref"]');
  ref.value = event.target.value;
}), form.addEventListener("studio:changed", (event) => all(event.target)), form.addEventListener(
  "studio:replaced",
  (event) => event.target.name.endsWith(".ref") && choose(event.target.closest("[data-row]"))
), all(form));

// static/js/tasks/live_checks.js
var SOONEST = 3e3, LATEST = 6e4, last = "", pause = SOONEST, timer = 0, running = null;
async function check() {
  let text = serialize(formValues());
  if (text === last) return;
  running?.abort();
  let own2 = new AbortController();
  running = own2;
  let said2;
  try {
    let answer = await fetch(form.dataset.check, {
      method: "POST",
      body: new URLSearchParams(text),
      signal: own2.signal,
      redirect: "error"
    });
    if (!answer.ok) return;
    said2 = await answer.json();
  } catch {
    return;
  }
  last = text, show2(said2);
}
function show2(said2) {
  for (let name of ["findings", "evidence"]) {
    let place2 = document.querySelector(`[data-live="${name}"]`);
    place2 && !place2.contains(document.activeElement) && (place2.innerHTML = said2[name], window.htmx?.process(place2));
  }
  awaitOpinion();
  let count = document.querySelector("[data-pane] [data-count]");
  count && (count.textContent = said2.count);
  let stepper = document.querySelector("[data-stepper]");
  stepper && (stepper.hidden = !said2.count);
  for (let link of document.querySelectorAll(".outline [data-part]"))
    outline(link, said2.sections[link.dataset.part]), link.querySelector("[data-part-count]").textContent = said2.parts[link.dataset.part] ?? "";
  let isFirst = !document.documentElement.dataset.checked;
  for (let one of form.querySelectorAll(".finding.slim[data-fingerprint]")) {
    let fixed = !said2.fingerprints.includes(one.dataset.fingerprint);
    fixed && isFirst ? one.remove() : one.classList.toggle("fixed", fixed);
  }
  let marks = /* @__PURE__ */ new Map();
  for (let one of said2.marks) marks.set(one.input, [...marks.get(one.input) ?? [], one]);
  for (let area of form.querySelectorAll(".area > textarea")) markFindings(area, marks.get(area.name) ?? []);
  document.documentElement.dataset.checked = String(Number(document.documentElement.dataset.checked ?? 0) + 1);
}
function awaitOpinion() {
  if (clearTimeout(timer), !document.querySelector("[data-opinion-pending]")) {
    pause = SOONEST;
    return;
  }
  timer = setTimeout(() => {
    if (document.hidden) return awaitOpinion();
    last = "", check();
  }, pause), pause = Math.min(pause * 1.5, LATEST);
}
function outline(link, found) {
  let place2 = link.querySelector("[data-finding-count]");
  place2.hidden = !found, place2.className = `push finding-count ${found?.severity ?? ""}`, place2.textContent = found?.count ?? "", place2.title = found ? `${found.count} finding${found.count > 1 ? "s" : ""}` : "";
}
if (form && !form.querySelector("fieldset[disabled]")) {
  let soon = later(350, check);
  onChange(soon), document.querySelector("[data-live] [data-finding], [data-live][data-deferred], [data-opinion-pending]") && check(), document.addEventListener("studio:autosaved", soon);
}

// static/js/tasks/findings.js
var pane2 = document.querySelector("[data-pane]"), problem = document.querySelector("[data-dismissal-problem]");
function step2(by) {
  let all2 = [...pane2.querySelectorAll("[data-finding]")];
  if (!all2.length) return;
  let at = all2.findIndex((one) => "current" in one.dataset), next2 = all2[at < 0 ? by > 0 ? 0 : all2.length - 1 : (at + by + all2.length) % all2.length];
  at >= 0 && delete all2[at].dataset.current, next2.dataset.current = "";
  let link = next2.querySelector("[data-show]"), place2 = (link.dataset.goto && field(link.dataset.goto)) ?? document.querySelector(link.getAttribute("href"));
  place2?.closest("details")?.setAttribute("open", ""), place2?.scrollIntoView({ block: "center" }), link.focus({ preventScroll: !0 }), next2.scrollIntoView({ block: "nearest" });
}
function showInList() {
  let area = document.activeElement;
  if (!area?.matches?.(".area > textarea")) return;
  let fingerprint = findingAt(area, area.selectionStart), current = fingerprint && pane2.querySelector(`[data-finding="${CSS.escape(fingerprint)}"]`);
  for (let one of pane2.querySelectorAll("[data-finding][data-current]"))
    current && one !== current && delete one.dataset.current;
  if (!current || "current" in current.dataset) return;
  current.dataset.current = "";
  let side = current.closest(".side");
  side && side.scrollHeight > side.clientHeight && current.scrollIntoView({ block: "nearest" });
}
function put2(name, value) {
  let input = field(name);
  !input || input.value === value || (input.value = value, input.matches(".area > textarea") && follow(input), input.dispatchEvent(new Event("change", { bubbles: !0 })));
}
var listOf = (name) => form.querySelector(`[data-rows="${CSS.escape(name)}"]`);
function act(change2) {
  if ("put" in change2) return put2(change2.put, change2.value);
  let list4 = listOf(change2.remove ?? change2.add);
  if (change2.remove)
    return form.querySelector(
      `[data-rows] > [data-row] > input[name="${CSS.escape(change2.remove)}"][value="${CSS.escape(change2.row)}"]`
    )?.closest("[data-row]").remove();
  let rows = list4.querySelectorAll(":scope > [data-row]"), row = blank(list4, rows[rows.length - 1]);
  for (let [name, value] of Object.entries(change2.values)) {
    let input = row.querySelector(`[name$=".${name}"]`);
    input && (input.value = value);
  }
}
function applyFix(button2) {
  let changes = JSON.parse(button2.dataset.fix), list4 = changes.map((change2) => change2.remove ?? change2.add).find(Boolean);
  undoable(list4 ? listOf(list4) : form, () => changes.forEach(act));
  let place2 = changes[0].put ?? "";
  place2 ? go(place2) : list4 && listOf(list4).scrollIntoView({ block: "center" }), check();
}
async function dismiss(own2, button2) {
  let body = new URLSearchParams(serialize(formValues()));
  for (let [name, value] of new FormData(own2)) body.set(name, String(value));
  button2 && (button2.disabled = !0);
  let result;
  try {
    let answer = await fetch(own2.action, { method: "POST", body, redirect: "error" });
    if (!answer.ok) throw new Error(String(answer.status));
    result = await answer.json();
  } catch {
    result = { problem: "The server could not be reached. Your reason is still here; try again." };
  }
  button2 && (button2.disabled = !1), problem.hidden = !result.problem, problem.textContent = result.problem ?? "", !(!result.findings || result.problem) && (document.activeElement?.blur(), show2(result));
}
pane2 && form && (document.addEventListener("selectionchange", showInList), pane2.addEventListener("click", (event) => {
  let stepper = event.target.closest("[data-step]");
  if (stepper) return step2(Number(stepper.dataset.step));
  let button2 = event.target.closest("[data-fix]");
  button2 && applyFix(button2);
}), document.addEventListener(
  "submit",
  (event) => {
    event.target.matches("[data-dismissal]") && (event.preventDefault(), event.stopImmediatePropagation(), dismiss(event.target, event.submitter));
  },
  !0
));

// static/js/tasks/unsent_comments.js
var nothingUnsent = () => ({ active: null, others: [], answers: {} }), targetKey = (draft) => [draft.about, draft.start, draft.words].join("\0");
function isWritten(draft, filled = "") {
  return !!draft.text.trim() || !!draft.suggest && draft.suggestion !== filled;
}
var isEmpty = (unsent2) => !unsent2.active && !unsent2.others.length && !Object.keys(unsent2.answers).length;
function switchTarget(unsent2, target) {
  let { active } = unsent2, key = targetKey(target);
  if (active && targetKey(active) === key) return unsent2;
  let all2 = active ? [active, ...unsent2.others] : unsent2.others, earlier = all2.find((draft) => targetKey(draft) === key);
  return { ...unsent2, active: earlier ?? null, others: all2.filter((draft) => draft !== earlier) };
}

// static/js/tasks/comments.js
var task = document.querySelector("form#task"), bar = document.querySelector("[data-selection-bar]"), AROUND = 48, WHOLE = ["title", "description", "initial_request", "reference_workflow", "files_read"], compose = () => document.querySelector("[data-compose]");
function makeReadable() {
  let parts = task?.querySelector(":scope > fieldset[disabled]");
  if (parts) {
    for (let control of parts.querySelectorAll("input, select, button, textarea"))
      control.matches("textarea") ? control.readOnly = !0 : control.disabled = !0;
    parts.disabled = !1, parts.addEventListener(
      "keydown",
      (event) => event.altKey && event.key.startsWith("Arrow") && event.stopPropagation()
    );
  }
}
function subjectOf(area) {
  let row = /^(intents|checklist)\.(.+)\.(content|criterion)$/.exec(area.name);
  return row ? `${row[1]}:${row[2]}` : WHOLE.includes(area.name) ? area.name : "";
}
function underline() {
  let talk = /* @__PURE__ */ new Map();
  for (let card of document.querySelectorAll("[data-thread][data-input]")) {
    let area = task?.querySelector(`textarea[name="${CSS.escape(card.dataset.input)}"]`);
    if (!area) continue;
    let words2 = card.dataset.quoteText, start = utf16Offset(area.value, Number(card.dataset.start));
    if (area.value.startsWith(words2, start) || (start = area.value.indexOf(words2)), start < 0) continue;
    let one = {
      thread: card.dataset.thread,
      start,
      end: start + words2.length,
      words: words2,
      title: card.getAttribute("aria-label")
    };
    talk.set(area, [...talk.get(area) ?? [], one]);
  }
  for (let area of task?.querySelectorAll(".area > textarea") ?? []) markComments(area, talk.get(area) ?? []);
  let open3 = new Set([...document.querySelectorAll("[data-thread]")].map((card) => card.dataset.thread));
  for (let line of document.querySelectorAll("[data-comment-line]"))
    line.hidden = !open3.has(line.dataset.commentLine);
}
function updateLines() {
  for (let line of document.querySelector("#comments [data-comment-lines]")?.content.children ?? []) {
    let there = document.querySelector(`[data-comment-line="${CSS.escape(line.dataset.commentLine)}"]`), made = document.importNode(line, !0);
    there ? there.replaceWith(made) : document.getElementById(line.dataset.anchor)?.after(made);
  }
}
function chosen() {
  let area = document.activeElement;
  if (!area?.matches?.("form#task .area > textarea") || !subjectOf(area)) return null;
  let { selectionStart: start, selectionEnd: end2, value } = area;
  return { area, start, end: end2, words: value.slice(start, end2), value };
}
function showBar() {
  if (!bar) return;
  let now = chosen();
  if (bar.hidden = !now?.words.trim(), !now || bar.hidden) return;
  let box = rectangleAt(now.area, now.end), left = Math.min(box.right, document.documentElement.clientWidth - bar.offsetWidth - 8);
  bar.style.left = `${Math.max(8, left) + scrollX}px`, bar.style.top = `${box.bottom + 6 + scrollY}px`;
}
function drop() {
  let form3 = compose();
  for (let name of ["words", "before", "after", "start"]) form3.elements[name].value = "";
  form3.querySelector("[data-quote]").hidden = !0;
}
function startComment({ suggest = !1 } = {}) {
  let form3 = compose(), now = chosen();
  if (!form3 || !now) return;
  let quoted = !!now.words.trim(), target = {
    about: subjectOf(now.area),
    words: quoted ? now.words : "",
    before: quoted ? now.value.slice(Math.max(0, now.start - AROUND), now.start) : "",
    after: quoted ? now.value.slice(now.end, now.end + AROUND) : "",
    start: quoted ? String(codePoints(now.value.slice(0, now.start))) : ""
  };
  storeUnsent();
  let same = unsent.active;
  if (unsent = switchTarget(unsent, { ...target, text: "", suggest: "", suggestion: "" }), (unsent.active !== same || !same) && put3({ text: "", suggest: "", suggestion: "", ...unsent.active, ...target }), showUnsent(), bar.hidden = !0, form3.scrollIntoView({ block: "center" }), suggest) {
    form3.querySelector("[data-suggest]").open = !0, fill(form3, !form3.elements.suggest.value);
    let area = form3.elements.suggestion;
    area.focus({ preventScroll: !0 }), area.select();
  } else form3.elements.text.focus({ preventScroll: !0 });
}
var FIELDS = ["about", "words", "before", "after", "start", "text", "suggest", "suggestion"], UNSENT = `studio:comments:${document.body.dataset.signedIn}:${location.pathname}`, unsent = { ...nothingUnsent(), ...JSON.parse(localStorage.getItem(UNSENT) ?? "{}") };
function put3(draft) {
  let form3 = compose(), about = form3.elements.about;
  [...about.options].some((option) => option.value === draft.about) || about.add(new Option("this row", draft.about));
  for (let name of FIELDS) form3.elements[name].value = draft[name] ?? "";
  form3.querySelector("[data-quote] blockquote").textContent = draft.words, form3.querySelector("[data-quote]").hidden = !draft.words, form3.querySelector("[data-suggest]").open = !!draft.suggest;
}
function storeUnsent() {
  let form3 = compose();
  if (!form3) return;
  let draft = Object.fromEntries(FIELDS.map((name) => [name, form3.elements[name].value]));
  unsent.active = isWritten(draft, form3.elements.suggestion.dataset.filled) ? draft : null;
  let answers = [...document.querySelectorAll("#comments details.answer textarea")];
  unsent.answers = Object.fromEntries(answers.filter((one) => one.value.trim()).map((one) => [one.id, one.value]));
  try {
    isEmpty(unsent) ? localStorage.removeItem(UNSENT) : localStorage.setItem(UNSENT, JSON.stringify(unsent));
  } catch {
  }
}
function restoreUnsent() {
  if (compose()) {
    unsent.active && put3(unsent.active);
    for (let [id, text] of Object.entries(unsent.answers)) {
      let area = (
        /** @type {any} */
        document.getElementById(id)
      );
      !area || area.value || (area.value = text, area.closest("details")?.setAttribute("open", ""));
    }
    showUnsent();
  }
}
function showUnsent() {
  let form3 = compose();
  if (document.querySelector("[data-unsent]")?.remove(), !form3 || !unsent.others.length) return;
  let list4 = document.createElement("ul");
  list4.className = "small", list4.dataset.unsent = "";
  for (let draft of unsent.others) {
    let line = document.createElement("li");
    line.className = "line";
    let option = [...form3.elements.about.options].find((one) => one.value === draft.about), quote = draft.words ? ` “${draft.words.slice(0, 40)}”` : "";
    line.append(`Unsent comment on ${option?.textContent.trim() ?? "a row"}${quote} `);
    let button2 = document.createElement("button");
    Object.assign(button2, { type: "button", className: "link", textContent: "Continue" }), button2.addEventListener("click", () => {
      storeUnsent(), unsent = switchTarget(unsent, draft), put3(unsent.active), storeUnsent(), showUnsent(), compose().elements.text.focus();
    }), line.append(button2), list4.append(line);
  }
  form3.parentElement.insertBefore(list4, form3);
}
function fill(form3, again = !1) {
  let area = form3.elements.suggestion, whole = form3.elements.about.value, [list4, key] = whole.split(":"), name = key ? `${list4}.${key}.${list4 === "intents" ? "content" : "criterion"}` : whole, text = form3.elements.words.value || (task?.querySelector(`textarea[name="${CSS.escape(name)}"]`)?.value ?? "");
  form3.elements.suggest.value = "1", (again || !area.value || area.value === area.dataset.filled) && (area.value = text), area.dataset.filled = text;
}
var typed = /* @__PURE__ */ new Map(), sentForm = null;
function storeTyped(sent) {
  storeUnsent(), typed = /* @__PURE__ */ new Map();
  for (let area of document.querySelectorAll("#comments textarea[id]"))
    area.value !== area.defaultValue && !sent?.contains(area) && !area.closest("[data-compose]") && typed.set(area.id, area.value);
  sentForm = sent ?? null;
}
function restoreTyped() {
  let refused = document.querySelector("#comments .error");
  for (let [id, value] of typed) {
    let area = (
      /** @type {any} */
      document.getElementById(id)
    );
    area && (area.value = value, area.closest("details.answer, details[data-suggest]")?.setAttribute("open", ""));
  }
  if (sentForm && !refused) {
    sentForm.matches("[data-compose]") && (unsent.active = null);
    for (let area of sentForm.querySelectorAll("textarea[id]")) delete unsent.answers[area.id];
  }
  sentForm = null, restoreUnsent(), storeUnsent();
}
function show3(thread) {
  let card = document.getElementById(`comment-${thread}`);
  for (let other of document.querySelectorAll(".thread.here")) other.classList.toggle("here", other === card);
  card && (card.classList.add("here"), card.scrollIntoView({ block: "nearest" }));
}
task && (restoreUnsent(), document.addEventListener("input", (event) => event.target.closest?.("#comments") && storeUnsent()), window.addEventListener("pagehide", storeUnsent), document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  let sent = event.target.closest?.("#comments textarea")?.form;
  sent && (event.preventDefault(), sent.requestSubmit());
}), makeReadable(), underline(), document.addEventListener("selectionchange", showBar), task.addEventListener("mouseup", () => setTimeout(showBar)), task.addEventListener("keyup", showBar), task.addEventListener("focusout", () => setTimeout(() => !bar?.contains(document.activeElement) && showBar())), task.addEventListener("click", (event) => {
  let area = event.target;
  if (!area.matches?.(".area > textarea") || area.selectionStart !== area.selectionEnd) return;
  let talk = commentAt(area, area.selectionStart);
  talk && show3(talk.thread);
}), bar?.addEventListener("mousedown", (event) => event.preventDefault()), bar?.addEventListener("click", (event) => {
  let button2 = event.target.closest("button");
  button2 && startComment({ suggest: button2.value === "suggest" });
}), document.addEventListener("keydown", (event) => {
  !event.ctrlKey || !event.altKey || !["m", "s"].includes(event.key.toLowerCase()) || !chosen() || (event.preventDefault(), startComment({ suggest: event.key.toLowerCase() === "s" }));
}), document.addEventListener("click", (event) => {
  event.target.closest("[data-quote-remove]") && (drop(), compose().elements.text.focus());
  let card = event.target.closest("[data-goto][data-select]")?.closest("[data-thread]"), area = card && task.querySelector(`textarea[name="${CSS.escape(card.dataset.input)}"]`);
  if (!area || !go(card.dataset.input)) return;
  event.preventDefault();
  let start = utf16Offset(area.value, Number(card.dataset.start));
  area.value.startsWith(card.dataset.quoteText, start) && area.setSelectionRange(start, start + card.dataset.quoteText.length), show3(card.dataset.thread);
}), document.addEventListener("change", (event) => {
  let form3 = event.target.closest?.("[data-compose]");
  form3 && event.target.name === "about" && (drop(), form3.querySelector("[data-suggest]").open && fill(form3));
}), document.addEventListener(
  "toggle",
  (event) => {
    let form3 = event.target.matches?.("[data-suggest]") && event.target.closest("[data-compose]");
    if (form3) {
      if (event.target.open) return fill(form3);
      form3.elements.suggest.value = "", form3.elements.suggestion.value = "";
    }
  },
  !0
), document.addEventListener(
  "htmx:beforeSwap",
  (event) => event.target.id === "comments" && storeTyped(event.detail.requestConfig?.elt)
), document.addEventListener("htmx:afterSettle", () => {
  restoreTyped(), updateLines(), underline();
}));

// static/js/tasks/review.js
var form2 = document.querySelector("form[data-review]"), questions = () => [...form2.querySelectorAll("fieldset.review-question")];
function words(question) {
  let not = question.querySelector('input[value="no"]').checked, word = question.querySelector(".review-note");
  return word.hidden = !not, not || (word.value = ""), word;
}
if (form2) {
  for (let question of questions()) words(question);
  form2.addEventListener("change", (event) => {
    let question = event.target.type === "radio" && event.target.closest("fieldset.review-question");
    if (!question) return;
    let word = words(question);
    word.hidden || word.focus();
  }), document.querySelector("[data-review-start]")?.addEventListener("click", (event) => {
    event.preventDefault(), form2.closest("[data-tab-body]") && show("review");
    let open3 = questions().find((question) => !question.querySelector('input[value="yes"]').checked);
    if (!open3) return form2.requestSubmit(form2.querySelector("[data-approve]"));
    form2.closest("section").scrollIntoView({ block: "start" }), open3.querySelector('input[value="yes"]').focus();
  }), location.hash === "#review" && form2.closest("section").scrollIntoView({ block: "start" });
}

// static/js/tasks/file_paths.js
function pathProblem(path) {
  return path ? /^\/|\\|(^|\/)\.{0,2}(\/|$)/.test(path) ? "The name leads out of the workspace: write it like notes/plan.md." : /^(task\.yaml|\.history|\.result|\.eval_result)(\/|$)/.test(path) ? `“${path.split("/")[0]}” belongs to the format: choose another name.` : "" : "Give the file a name.";
}
function freePath(path, taken) {
  let [, stem, extension] = path.match(/^(.*?)((?:\.[^./]*)?)$/s) ?? [path, path, ""];
  for (let number = 2; ; number++) {
    let other = `${stem}-${number}${extension}`;
    if (!taken(other)) return other;
  }
}
function fileSize(bytes) {
  return bytes === 1 ? "1 byte" : bytes < 1e3 ? `${bytes} bytes` : bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
function lineRange(text, number) {
  let lines = text.split(`
`), start = lines.slice(0, number - 1).join(`
`).length + (number > 1 ? 1 : 0);
  return { start, end: start + (lines[number - 1] ?? "").length };
}

// static/js/tasks/uploads.js
var section = form?.querySelector("[data-files]"), editable = section && !form.querySelector(":scope > fieldset[disabled]"), AT_ONCE = 3, JUNK = /* @__PURE__ */ new Set([".DS_Store", "Thumbs.db", "desktop.ini"]), waiting = [], running2 = 0, list = section?.querySelector('[data-rows="assets"]'), pathOf = (row) => row.querySelector('input[name$=".path"]'), keyOf2 = (row) => row.querySelector(":scope > input[type=hidden]").value, rowOf = (path) => rowsOf(list).find((row) => pathOf(row).value.trim().toLowerCase() === path.toLowerCase());
function button(text, act2, style = "") {
  let made = document.createElement("button");
  return Object.assign(made, { type: "button", className: `button small ${style}`, textContent: text }), made.addEventListener("click", act2), made;
}
function show4(job, text, ...buttons) {
  job.line || (job.line = document.createElement("div"), job.line.className = "upload line", section.querySelector("[data-uploads]").append(job.line));
  let name = document.createElement("span");
  Object.assign(name, { className: "mono grow", textContent: job.path });
  let result = document.createElement("span");
  Object.assign(result, { className: job.failed ? "bad small" : "quiet small", textContent: text }), job.line.replaceChildren(name, result, ...buttons), forAll();
}
function end(job) {
  job.line?.remove(), job.line = null, job.asks = !1, forAll();
}
function free(path) {
  return freePath(path, (other) => rowOf(other) || jobs.some((job) => job.line && job.path === other));
}
var jobs = [];
function take(files) {
  for (let { file, path } of files) {
    if (JUNK.has(path.split("/").at(-1)) || path.split("/").includes("__MACOSX")) continue;
    let job = { file, path };
    jobs.push(job);
    let largest = Number(section.dataset.largest);
    file.size > largest ? fail(job, `The file is ${fileSize(file.size)}; the limit is ${fileSize(largest)}. Split it or leave it out.`) : rowsOf(list).length + waiting.length + running2 >= Number(section.dataset.most) ? fail(job, `A task can have at most ${section.dataset.most} files.`) : rowOf(path) ? ask(job) : enqueue(job);
  }
}
function fail(job, text, retry = !1) {
  job.failed = !0;
  let again = retry ? [button("Try again", () => enqueue(job))] : [];
  show4(
    job,
    text,
    ...again,
    button("Leave out", () => end(job), "plain")
  );
}
function ask(job) {
  job.asks = !0, show4(
    job,
    "A file with this name already exists.",
    ...["replace", "both", "skip"].map(
      (how) => button({ replace: "Replace it", both: "Keep both", skip: "Skip" }[how], () => decide(job, how))
    )
  );
}
function decide(job, how) {
  if (job.asks = !1, how === "skip") return end(job);
  how === "both" && (job.path = free(job.path)), job.replaces = how === "replace", enqueue(job);
}
function forAll() {
  let place2 = section.querySelector("[data-uploads]");
  place2.querySelector("[data-for-all]")?.remove();
  let asked = jobs.filter((job) => job.asks);
  if (asked.length < 2) return;
  let line = document.createElement("div");
  line.className = "upload line", line.dataset.forAll = "";
  let words2 = document.createElement("span");
  Object.assign(words2, { className: "grow small", textContent: `${asked.length} names already exist.` });
  let each = (how) => () => {
    for (let job of asked) decide(job, how);
  };
  line.append(
    words2,
    button("Replace all", each("replace")),
    button("Keep both for all", each("both")),
    button("Skip all", each("skip"))
  ), place2.prepend(line);
}
function enqueue(job) {
  job.failed = !1, show4(job, "waiting"), waiting.push(job), next();
}
function next() {
  for (; running2 < AT_ONCE && waiting.length; )
    running2++, send(waiting.shift());
}
function post(path, file, { reference = "", progress } = {}) {
  return new Promise((done) => {
    let data = new FormData();
    data.set("path", path), data.set("file", file, "file"), data.set("reference", reference);
    let replaced = reference ? null : rowOf(path);
    for (let row of rowsOf(list)) row !== replaced && data.append("taken", keyOf2(row));
    for (let row of form.querySelectorAll("[data-file], [data-artifact]")) {
      let stored = row.querySelector('input[name$=".stored"]').value;
      stored && row !== replaced && keyOf2(row) !== reference && data.append("stored", stored);
    }
    let request = new XMLHttpRequest();
    request.open("POST", section.dataset.add), request.setRequestHeader("X-CSRFToken", form.elements.csrfmiddlewaretoken.value), progress && (request.upload.onprogress = (event) => event.lengthComputable && progress(event.loaded / event.total)), request.onerror = () => done({ problem: "No connection. It will be sent when you are back online.", retry: !0 }), request.onload = () => {
      if (request.status === 422) return done({ problem: JSON.parse(request.responseText).problem });
      let holder = document.createElement("template");
      holder.innerHTML = request.responseText;
      let row = request.status === 200 && holder.content.querySelector("[data-row]");
      if (row) return done({ row: document.importNode(row, !0) });
      let out = request.responseURL.includes("/login") || request.status === 403;
      done({
        problem: out ? "You are signed out. Sign in in another tab, then try again." : "Something went wrong on our side.",
        retry: !0
      });
    }, request.send(data);
  });
}
async function send(job) {
  let bar2 = document.createElement("progress");
  bar2.max = 1, bar2.setAttribute("aria-label", job.path), show4(job, fileSize(job.file.size), bar2);
  let result = await post(job.path, job.file, { progress: (part3) => bar2.value = part3 });
  if (running2--, next(), !result.row) return fail(job, result.problem, result.retry);
  if (!job.replaces && rowOf(job.path)) return ask(job);
  end(job), put4(result.row);
}
function put4(row) {
  let path = pathOf(row).value, old = rowOf(path);
  return undoable(list, () => {
    if (old)
      return row.querySelector('input[name$=".description"]').value = old.querySelector('input[name$=".description"]').value, old.replaceWith(row);
    let after = rowsOf(list).find((other) => pathOf(other).value > path);
    after ? after.before(row) : list.append(row);
  }), row;
}
async function entriesOf(items) {
  let found = [], walk = async (entry, prefix) => {
    if (entry.isFile && found.push({ file: await new Promise((done, no) => entry.file(done, no)), path: prefix + entry.name }), !entry.isDirectory) return;
    let reader = entry.createReader();
    for (; ; ) {
      let some = await new Promise((done, no) => reader.readEntries(done, no));
      if (!some.length) return;
      for (let inner of some) await walk(inner, `${prefix}${entry.name}/`);
    }
  };
  for (let entry of [...items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean)) await walk(entry, "");
  return found;
}
var named = (files) => [...files].map((file) => ({ file, path: file.webkitRelativePath || file.name }));
if (editable) {
  let chooser = section.querySelector("[data-upload]"), folder = section.querySelector("[data-folder]");
  section.querySelector("[data-upload-folder]").hidden = !("webkitdirectory" in folder), section.querySelector("[data-file-new]").hidden = !1, section.querySelector("[data-drop-hint]").textContent = "or drop them here, or paste one", chooser.classList.add("under-label"), section.querySelector("[data-upload-folder]").addEventListener("click", () => folder.click());
  for (let input of [chooser, folder])
    input.addEventListener("change", () => {
      take(named(input.files)), input.value = "";
    });
  let carries = (event) => event.dataTransfer?.types.includes("Files");
  document.addEventListener("dragover", (event) => {
    carries(event) && (event.preventDefault(), section.classList.toggle("over", section.contains(event.target)));
  }), document.addEventListener("dragleave", (event) => !event.relatedTarget && section.classList.remove("over")), document.addEventListener("drop", async (event) => {
    if (section.classList.remove("over"), !carries(event) || (event.preventDefault(), !section.contains(event.target))) return;
    let files = named(event.dataTransfer.files), entries = await entriesOf(event.dataTransfer.items);
    take(entries.length ? entries : files);
  }), document.addEventListener("paste", (event) => {
    let files = event.clipboardData?.files;
    !files?.length || event.clipboardData.getData("text/plain") || (event.preventDefault(), take(
      named(files).map(
        (one) => one.path === "image.png" ? { ...one, path: rowOf("pasted.png") ? free("pasted.png") : "pasted.png" } : one
      )
    ));
  }), window.addEventListener("online", () => {
    for (let job of jobs) job.failed && job.line?.textContent.includes("No connection") && enqueue(job);
  }), window.addEventListener("beforeunload", (event) => (running2 || waiting.length) && event.preventDefault());
}

// static/js/tasks/files.js
var addresses = document.querySelector("[data-files]")?.dataset, HOLDERS = "[data-file], [data-artifact]", inside = (row) => row.querySelector("[data-file-panel]"), listOf2 = (row) => row.querySelector(":scope > input[type=hidden]").name, own = (row, name) => row.querySelector(`[name="${CSS.escape(`${listOf2(row)}.${keyOf2(row)}.${name}`)}"]`), INDENT = { py: "    ", tsv: "	" };
async function part(row, name) {
  let query = new URLSearchParams({
    file: own(row, "stored").value,
    path: pathOf(row).value,
    part: name,
    key: keyOf2(row),
    list: listOf2(row)
  }), answer = await fetch(`${addresses.preview}?${query}`, { redirect: "error" }).catch(() => null);
  return answer?.ok ? answer.text() : '<p class="small bad">The preview is unavailable. Try again when you are online and signed in.</p>';
}
async function look(row) {
  let place2 = inside(row), opener = row.querySelector("[data-file-preview]");
  if (!place2.hidden && !place2.querySelector("[data-file-text]")) {
    place2.hidden = !0, opener.setAttribute("aria-expanded", "false");
    return;
  }
  if (place2.querySelector("[data-file-text]")) return place2.querySelector("textarea").focus();
  place2.hidden = !1, opener.setAttribute("aria-expanded", "true"), place2.innerHTML = '<p class="quiet small">…</p>', place2.innerHTML = await part(row, "seen");
}
async function edit(row) {
  let place2 = inside(row);
  place2.hidden = !1, place2.innerHTML = await part(row, "edit");
  let text = place2.querySelector("[data-file-text]");
  if (!text) return;
  own(row, "form").value = text.dataset.form;
  let area = text.querySelector("textarea");
  area.focus(), area.setSelectionRange(0, 0), check2(area);
}
async function storeText(row) {
  let area = inside(row).querySelector("textarea");
  if (!area) return;
  let lines = own(row, "form").value.includes("crlf") ? area.value.replaceAll(`
`, `\r
`) : area.value, mark = own(row, "form").value.includes("mark") ? "\uFEFF" : "", reference = row.matches("[data-artifact]") ? keyOf2(row) : "", result = await post(pathOf(row).value.trim(), new Blob([mark + lines]), { reference }), flaw = row.querySelector("[data-file-syntax]");
  if (!result.row) {
    flaw.textContent = result.problem;
    return;
  }
  for (let name of ["stored", "form"]) own(row, name).value = result.row.querySelector(`[name$=".${name}"]`).value;
  row.querySelector("[data-file-size]").textContent = result.row.querySelector("[data-file-size]").textContent, inside(row).replaceChildren(), inside(row).hidden = !0, form.dispatchEvent(new CustomEvent("studio:changed", { bubbles: !0 })), await look(row), row.querySelector("[data-file-edit]")?.focus();
}
async function check2(area) {
  let row = area.closest(HOLDERS), body = new URLSearchParams({ path: pathOf(row).value, text: area.value }), answer = await fetch(addresses.syntax, {
    method: "POST",
    body,
    redirect: "error",
    headers: { "X-CSRFToken": form.elements.csrfmiddlewaretoken.value }
  }).catch(() => null);
  if (!answer?.ok) return;
  let result = await answer.json(), place2 = row.querySelector("[data-file-syntax]");
  if (!place2 || (place2.replaceChildren(), !result.problem)) return;
  let to = document.createElement("button");
  Object.assign(to, { type: "button", className: "link small", textContent: result.problem }), to.addEventListener("click", () => goTo(area, result.line)), place2.append(to);
}
function goTo(area, line) {
  let { start, end: end2 } = lineRange(area.value, line);
  area.focus(), area.setSelectionRange(start, end2);
}
function validateName(row) {
  let path = pathOf(row).value.trim(), bare = row.matches("[data-artifact]") && !own(row, "stored").value, others = rowsOf(row.parentElement).filter((other) => other !== row).map((other) => pathOf(other).value.trim()), same = path && others.find((other) => bare ? other === path : other.toLowerCase() === path.toLowerCase()), wrong = same ? `There is “${same}” already: choose another name.` : bare ? "" : pathProblem(path), place2 = row.querySelector("[data-file-problem]");
  place2.textContent = wrong, place2.hidden = !wrong, pathOf(row).setAttribute("aria-invalid", String(!!wrong));
}
for (let section4 of document.querySelectorAll("[data-files], [data-references]")) {
  let leaving = !1, soon = later(600, () => document.activeElement?.closest?.("[data-file-text]") && check2(document.activeElement));
  section4.addEventListener("click", (event) => {
    let row = event.target.closest(HOLDERS);
    if (event.target.closest("[data-file-new]")) return void createFile();
    !row || event.ctrlKey || event.metaKey || (event.target.closest("[data-file-preview]") ? (event.preventDefault(), look(row)) : event.target.closest("[data-file-edit]") ? edit(row) : event.target.closest("[data-file-done]") && storeText(row));
  }), section4.addEventListener("input", (event) => {
    event.target.matches('[name$=".path"]') && validateName(event.target.closest(HOLDERS)), event.target.matches("[data-file-text] textarea") && soon();
  }), section4.addEventListener("keydown", (event) => {
    if (event.target.matches?.('[data-file] input[name$=".path"]') && event.key === "Enter") {
      event.preventDefault(), look(event.target.closest("[data-file]"));
      return;
    }
    if (event.target.matches?.("[data-file-text] textarea"))
      if (event.key === "Escape")
        leaving = !0, event.stopPropagation();
      else if (event.key === "Tab" && !event.shiftKey && !event.ctrlKey && !leaving) {
        event.preventDefault();
        let name = pathOf(event.target.closest(HOLDERS)).value.split(".").at(-1);
        document.execCommand("insertText", !1, INDENT[name] ?? "  ");
      } else event.key !== "Shift" && (leaving = !1);
  });
  for (let area of section4.querySelectorAll("[data-file-text] textarea")) check2(area);
}
async function createFile() {
  let path = rowsOf(list).some((row2) => pathOf(row2).value.toLowerCase() === "notes.md") ? free("notes.md") : "notes.md", result = await post(path, new Blob([]));
  if (!result.row) return take([{ file: new File([], path), path }]);
  let row = put4(result.row);
  await edit(row), pathOf(row).focus(), pathOf(row).select();
}

// static/js/tasks/references.js
var section2 = form?.querySelector("[data-references]"), editable2 = section2 && !form.querySelector(":scope > fieldset[disabled]"), list2 = section2?.querySelector('[data-rows="expected_artifacts"]'), part2 = (row) => row.querySelector("[data-reference]"), noteOf = (row) => row.querySelector('input[name$=".note"]'), storedOf = (row) => row.querySelector('input[name$=".stored"]'), named2 = (path) => rowsOf(list2).find((row) => pathOf(row).value.trim().toLowerCase() === path.toLowerCase());
function say(row, text, bad = !1) {
  let place2 = row.querySelector("[data-reference-status]");
  place2.className = bad ? "bad" : "quiet", place2.textContent = text;
}
function change(row, reference, stored) {
  let next2 = row.cloneNode(!0);
  for (let one of [pathOf, noteOf]) one(next2).value = one(row).value;
  part2(next2).replaceWith(document.importNode(reference, !0)), storedOf(next2).value = stored, next2.querySelector('input[name$=".form"]').value = "";
  let inside2 = next2.querySelector("[data-file-panel]");
  return inside2.replaceChildren(), inside2.hidden = !0, undoable(list2, () => row.replaceWith(next2)), hideInputs(next2), next2;
}
async function attach(row, file) {
  let path = pathOf(row).value.trim() || file.name, had = !!storedOf(row).value;
  if (file.size > Number(form.querySelector("[data-files]").dataset.largest))
    return say(row, "The file is too large: split it or choose another one.", !0);
  say(row, "sending…");
  let focused = row.contains(document.activeElement), said2 = await post(path, file, {
    reference: keyOf2(row),
    progress: (part3) => say(row, `sending ${Math.round(part3 * 100)} %`)
  });
  if (!row.isConnected) return;
  if (!said2.row) return say(row, said2.problem, !0);
  pathOf(row).value.trim() || (pathOf(row).value = path);
  let next2 = change(row, part2(said2.row), storedOf(said2.row).value);
  had && say(next2, "Replaced. Ctrl+Z restores the previous one."), focused && next2.querySelector("[data-file-preview]").focus();
}
function remove(row) {
  let holder = document.createElement("template");
  holder.innerHTML = list2.querySelector(":scope > template[data-row-blank]").innerHTML.replaceAll("__n__", keyOf2(row));
  let next2 = change(row, part2(holder.content), "");
  say(next2, "Removed. Ctrl+Z restores it."), next2.querySelector("[data-reference-file]").focus();
}
function take2(files, row) {
  let single = files.length === 1 && row;
  for (let file of files) {
    let to = single || named2(file.name) || rowsOf(list2).find((one) => pathOf(one).value.split("/").at(-1).toLowerCase() === file.name.toLowerCase());
    to || (undoable(list2, () => {
      to = blank(list2, rowsOf(list2).at(-1)), pathOf(to).value = file.name;
    }), hideInputs(to)), attach(to, file);
  }
}
function offer(choice) {
  let begins = choice.dataset.attached, chosen2 = choice.value;
  for (let option of [...choice.options]) (!option.value || option.value.startsWith(begins)) && option.remove();
  let names = rowsOf(list2).filter((row) => storedOf(row).value).map((row) => begins + pathOf(row).value.trim());
  choice.prepend(...names.map((name) => new Option(name))), choice.value = chosen2, (choice.selectedIndex < 0 || !chosen2.startsWith(begins)) && (choice.selectedIndex = 0);
}
function hideInputs(root) {
  for (let input of root.querySelectorAll("[data-reference-file]")) input.classList.add("under-label");
}
if (editable2) {
  hideInputs(section2), section2.querySelector("[data-drop-hint]").textContent = "a reference shows what a good result looks like: choose one in its row, or drop it there", list2.addEventListener("studio:changed", () => hideInputs(list2)), section2.addEventListener("change", (event) => {
    let input = event.target.closest("[data-reference-file]");
    input?.files.length && (attach(input.closest("[data-row]"), input.files[0]), input.value = "");
  }), section2.addEventListener("click", (event) => {
    let button2 = event.target.closest("[data-reference-remove]");
    button2 && (event.preventDefault(), remove(button2.closest("[data-row]")));
  }), document.addEventListener(
    "toggle",
    (event) => {
      let choice = event.target.open && event.target.querySelector?.("[data-attached]");
      choice && offer(choice);
    },
    !0
  );
  let carries = (event) => event.dataTransfer?.types.includes("Files"), over = (target) => {
    for (let row of rowsOf(list2)) row.classList.toggle("over", row === target);
  };
  document.addEventListener("dragover", (event) => carries(event) && over(event.target.closest?.("[data-artifact]"))), document.addEventListener("dragleave", (event) => !event.relatedTarget && over(null)), document.addEventListener("drop", () => over(null)), section2.addEventListener("drop", (event) => {
    carries(event) && (event.preventDefault(), take2([...event.dataTransfer.files], event.target.closest("[data-artifact]")));
  }), section2.addEventListener("paste", (event) => {
    let row = event.target.closest("[data-artifact]"), text = event.clipboardData?.getData("text/plain") ?? "", files = [...event.clipboardData?.files ?? []];
    if (files.length && !text && row)
      return event.preventDefault(), event.stopPropagation(), take2(files, row);
    let lines = text.split(/\r?\n/).map((line) => line.trim()).filter(Boolean);
    lines.length < 2 || event.target !== (row && pathOf(row)) || (event.preventDefault(), undoable(list2, () => {
      let rest = event.target.value ? lines : lines.slice(1);
      event.target.value || (event.target.value = lines[0]);
      let after = row;
      for (let line of rest)
        after = blank(list2, after), pathOf(after).value = line;
      pathOf(after).focus();
    }));
  }), section2.addEventListener("keydown", (event) => {
    let row = event.target.closest("[data-artifact]");
    event.key !== "Enter" || !row || ![pathOf(row), noteOf(row)].includes(event.target) || event.isComposing || (event.preventDefault(), undoable(list2, () => pathOf(blank(list2, row)).focus()));
  });
}

// static/js/tasks/records.js
var PLACES = 'textarea[name="initial_request"], textarea[name^="intents."][name$=".content"]', LEAST = 3, SHOWN = 6, MOST_WORDS = 8, records = null, open2 = null, list3 = document.createElement("ul");
list3.id = "record-names";
list3.className = "record-names";
list3.setAttribute("role", "listbox");
list3.setAttribute("aria-label", "Records of the apps");
list3.hidden = !0;
var said = document.createElement("p");
said.className = "visually-hidden";
said.setAttribute("role", "status");
function load() {
  return records ??= fetch(form.dataset.records, { redirect: "error" }).then((answer) => answer.ok ? answer.json() : { records: [] }).then((found) => found.records.map(([name, what]) => ({ name, what, low: name.toLowerCase() }))).catch(() => []), records;
}
function match(text, all2) {
  let starts = [...text.matchAll(/(?<![\p{L}\p{N}])[\p{L}\p{N}]/gu)].map((found) => found.index).slice(-MOST_WORDS);
  for (let start of starts) {
    let typed2 = text.slice(start).toLowerCase();
    if (typed2.length < LEAST || typed2.includes(`
`)) continue;
    let last2 = start === starts.at(-1), found = all2.filter(
      ({ low }) => low.startsWith(typed2) || last2 && low.split(/[^\p{L}\p{N}]+/u).some((word) => word.startsWith(typed2))
    );
    if (found.some(({ low }) => low === typed2)) return null;
    if (found.length) return { start, found: found.slice(0, SHOWN) };
  }
  return null;
}
function place(area) {
  let mirror = area.previousElementSibling, box = area.getBoundingClientRect(), left = box.left, top = box.bottom;
  if (mirror?.matches(".mirror")) {
    let rest = open2.start, walker = document.createTreeWalker(mirror, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      let length = node.textContent?.length ?? 0;
      if (rest <= length) {
        let range = document.createRange();
        range.setStart(node, rest), range.setEnd(node, Math.min(length, rest + 1));
        let at = range.getBoundingClientRect();
        at.height && ([left, top] = [at.left, at.bottom]);
        break;
      }
      rest -= length;
    }
  }
  left = Math.min(left, document.documentElement.clientWidth - list3.offsetWidth - 8), list3.style.left = `${Math.max(8, left + scrollX)}px`, list3.style.top = `${top + scrollY + 4}px`;
}
function close() {
  open2 && (open2.area.removeAttribute("aria-activedescendant"), open2.area.removeAttribute("aria-controls"), open2 = null, list3.hidden = !0, said.textContent = "");
}
function choose2(index) {
  let options = [...list3.children];
  open2.chosen = (index + options.length) % options.length;
  for (let [at, option] of options.entries()) option.setAttribute("aria-selected", String(at === open2.chosen));
  open2.area.setAttribute("aria-activedescendant", options[open2.chosen].id);
}
function take3(index) {
  let { area, start, found } = open2;
  close(), area.focus(), area.setRangeText(found[index].name, start, area.selectionStart, "end"), area.dispatchEvent(new InputEvent("input", { bubbles: !0, inputType: "insertReplacementText" })), close();
}
async function offer2(area) {
  let all2 = await load();
  if (document.activeElement !== area || area.selectionStart !== area.selectionEnd) return close();
  let before2 = area.value.slice(0, area.selectionStart), line = before2.lastIndexOf(`
`) + 1, matched = match(before2.slice(line), all2);
  if (!matched) return close();
  open2 = { area, start: matched.start + line, found: matched.found, chosen: -1 }, list3.replaceChildren(
    ...matched.found.map(({ name, what }, index) => {
      let option = document.createElement("li");
      option.id = `record-name-${index}`, option.setAttribute("role", "option"), option.setAttribute("aria-selected", "false");
      let about = document.createElement("span");
      return about.className = "fine quiet", about.textContent = what, option.append(name, " ", about), option;
    })
  ), list3.hidden = !1, area.setAttribute("aria-controls", list3.id), area.removeAttribute("aria-activedescendant"), said.textContent = `${matched.found.length} in the apps; arrow down chooses`, place(area);
}
form?.dataset.records && !form.querySelector(":scope > fieldset[disabled]") && (document.body.append(list3, said), document.addEventListener("focusin", (event) => event.target.matches?.(PLACES) && load()), document.addEventListener("input", (event) => {
  event.target.matches?.(PLACES) && (event.inputType?.startsWith("insert") && event.inputType !== "insertReplacementText" ? offer2(event.target) : close());
}), document.addEventListener("focusout", (event) => open2?.area === event.target && setTimeout(close, 150)), document.addEventListener(
  "keydown",
  (event) => {
    if (!(!open2 || event.target !== open2.area || event.isComposing)) {
      if (event.key === "ArrowDown") choose2(open2.chosen + 1);
      else if (event.key === "ArrowUp" && open2.chosen >= 0) choose2(open2.chosen - 1);
      else if (event.key === "Enter" && open2.chosen >= 0) take3(open2.chosen);
      else if (event.key === "Escape") close();
      else return;
      event.preventDefault(), event.stopImmediatePropagation();
    }
  },
  !0
), list3.addEventListener("pointerdown", (event) => {
  let option = (
    /** @type {Element} */
    event.target.closest("[role=option]")
  );
  option && (event.preventDefault(), take3([...list3.children].indexOf(option)));
}));

// static/js/tasks/signal.js
var section3 = form?.querySelector("[data-signal-address]"), signal = () => section3.querySelector("[data-signal]"), before = null, running3 = null, converting = !1;
async function requestPreview(to) {
  running3?.abort();
  let own2 = new AbortController();
  running3 = own2;
  let data = formValues();
  to && data.set("to", to), data.set("kind", "1");
  let body = new URLSearchParams(serialize(data));
  try {
    let answer = await fetch(section3.dataset.signalAddress, {
      method: "POST",
      body,
      redirect: "error",
      signal: own2.signal
    });
    return answer.ok ? await answer.json() : null;
  } catch {
    return null;
  }
}
function showErrors(errors) {
  for (let old of section3.querySelectorAll("[data-error]")) old.remove();
  for (let [name, sentence] of Object.entries(errors)) {
    let input = section3.querySelector(`[name="${CSS.escape(name)}"]`) ?? signal().lastElementChild;
    if (input.parentElement.querySelector(".error:not([data-error])")?.textContent === sentence) continue;
    let result = document.createElement("p");
    Object.assign(result, { className: "error", textContent: sentence }), result.setAttribute("role", "status"), result.dataset.error = "", input.after(result);
  }
  for (let input of section3.querySelectorAll("[data-signal] :is(textarea, input)"))
    input.name in errors ? input.setAttribute("aria-invalid", "true") : input.removeAttribute("aria-invalid");
}
function show5(result) {
  if (section3.querySelector("[data-opening]").textContent = result.opening, result.examples) {
    let choice = section3.querySelector('[name="example"]');
    [...choice.options].map((option) => option.text).join(`
`) !== result.examples.join(`
`) && choice.replaceChildren(...result.examples.map((name, at) => new Option(name, at)));
  }
  showErrors(result.errors);
}
function put5(html) {
  let holder = document.createElement("template");
  holder.innerHTML = html, signal().replaceWith(document.importNode(holder.content.querySelector("[data-signal]"), !0));
}
async function convert(to) {
  let old = signal();
  converting = !0;
  let result = await requestPreview(to);
  if (converting = !1, !result)
    return showErrors({ [old.querySelector("[name^=payload]").name]: "No connection: nothing was changed." });
  result.signal && (put5(result.signal), to.startsWith("example") && old.querySelector("textarea, [data-row]") && offerPrevious(old)), show5(result);
  let name = to.startsWith("example") ? "example" : to;
  section3.querySelector(`[data-turn="${name}"]`)?.focus(), section3.dispatchEvent(new CustomEvent("studio:changed", { bubbles: !0 }));
}
function offerPrevious(old) {
  before = old;
  let back = document.createElement("button");
  Object.assign(back, { type: "button", className: "link small", textContent: "Restore the previous signal" }), back.addEventListener("click", () => {
    signal().replaceWith(before), section3.dispatchEvent(new CustomEvent("studio:changed", { bubbles: !0 })), section3.querySelector('[data-turn="example"]').focus();
  }), signal().append(back);
}
if (section3 && !form.querySelector(":scope > fieldset[disabled]")) {
  let soon = later(350, async () => {
    if (converting || form.elements.trigger.value === "user_message") return;
    let result = await requestPreview();
    result && show5(result);
  });
  for (let kind of ["input", "change", "studio:changed"]) section3.addEventListener(kind, soon);
  section3.addEventListener("click", (event) => {
    let button2 = event.target.closest("[data-turn]");
    if (!button2) return;
    event.preventDefault();
    let to = button2.dataset.turn;
    to !== "example" && to === signal().querySelector('[name="payload_as"]').value || convert(to === "example" ? `example:${section3.querySelector('[name="example"]').value}` : to);
  });
}

// static/js/tasks/assistance.js
var held = null;
document.addEventListener("htmx:beforeSwap", (event) => {
  let panel = event.target.closest?.("[data-proposal]");
  held = panel?.contains(document.activeElement) ? panel.id : null;
});
document.addEventListener("htmx:afterSettle", (event) => {
  let place2 = event.target.closest?.(".assistance-slot, [data-proposal]");
  if (!place2) return;
  let menu = event.detail.requestConfig?.elt.closest("details.assistance-menu[open]");
  if (menu && (menu.open = !1, menu.querySelector("summary").focus()), !held) return;
  let panel = document.getElementById(held) ?? place2.querySelector("[data-proposal]");
  held = null, (panel?.querySelector("button") ?? panel)?.focus();
});
