// Records of the persona's apps (a contact, a mail's subject, a playlist) are offered while a request or an intent is
// typed: arrow down chooses, Enter takes it, Escape closes.
import { form } from "../drafts/form.js";

const PLACES = 'textarea[name="initial_request"], textarea[name^="intents."][name$=".content"]';
const LEAST = 3; // letters before anything is offered
const SHOWN = 6;
const MOST_WORDS = 8;
/** @type {Promise<{name: string, what: string, low: string}[]> | null} */
let records = null;
/** @type {any} what is offered where, while something is */
let open = null;

const list = document.createElement("ul");
list.id = "record-names";
list.className = "record-names";
list.setAttribute("role", "listbox");
list.setAttribute("aria-label", "Records of the apps");
list.hidden = true;
const said = document.createElement("p");
said.className = "visually-hidden";
said.setAttribute("role", "status");

function load() {
  records ??= fetch(form.dataset.records, { redirect: "error" })
    .then((answer) => (answer.ok ? answer.json() : { records: [] }))
    .then((found) => found.records.map(([name, what]) => ({ name, what, low: name.toLowerCase() })))
    .catch(() => []);
  return records;
}

// The longest run of words before the caret with which a record begins, or the last word if a record has such a word.
function match(text, all) {
  const starts = [...text.matchAll(/(?<![\p{L}\p{N}])[\p{L}\p{N}]/gu)].map((found) => found.index).slice(-MOST_WORDS);
  for (const start of starts) {
    const typed = text.slice(start).toLowerCase();
    if (typed.length < LEAST || typed.includes("\n")) continue;
    const last = start === starts.at(-1);
    const found = all.filter(
      ({ low }) =>
        low.startsWith(typed) || (last && low.split(/[^\p{L}\p{N}]+/u).some((word) => word.startsWith(typed))),
    );
    if (found.some(({ low }) => low === typed)) return null;
    if (found.length) return { start, found: found.slice(0, SHOWN) };
  }
  return null;
}

function place(area) {
  const mirror = area.previousElementSibling;
  const box = area.getBoundingClientRect();
  let left = box.left;
  let top = box.bottom;
  if (mirror?.matches(".mirror")) {
    let rest = open.start;
    const walker = document.createTreeWalker(mirror, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const length = node.textContent?.length ?? 0;
      if (rest <= length) {
        const range = document.createRange();
        range.setStart(node, rest);
        range.setEnd(node, Math.min(length, rest + 1));
        const at = range.getBoundingClientRect();
        if (at.height) [left, top] = [at.left, at.bottom];
        break;
      }
      rest -= length;
    }
  }
  left = Math.min(left, document.documentElement.clientWidth - list.offsetWidth - 8);
  list.style.left = `${Math.max(8, left + scrollX)}px`;
  list.style.top = `${top + scrollY + 4}px`;
}

function close() {
  if (!open) return;
  open.area.removeAttribute("aria-activedescendant");
  open.area.removeAttribute("aria-controls");
  open = null;
  list.hidden = true;
  said.textContent = "";
}

function choose(index) {
  const options = [...list.children];
  open.chosen = (index + options.length) % options.length;
  for (const [at, option] of options.entries()) option.setAttribute("aria-selected", String(at === open.chosen));
  open.area.setAttribute("aria-activedescendant", options[open.chosen].id);
}

function take(index) {
  const { area, start, found } = open;
  close();
  area.focus();
  area.setRangeText(found[index].name, start, area.selectionStart, "end");
  area.dispatchEvent(new InputEvent("input", { bubbles: true, inputType: "insertReplacementText" }));
  close();
}

async function offer(area) {
  const all = await load();
  if (document.activeElement !== area || area.selectionStart !== area.selectionEnd) return close();
  const before = area.value.slice(0, area.selectionStart);
  const line = before.lastIndexOf("\n") + 1;
  const matched = match(before.slice(line), all);
  if (!matched) return close();
  open = { area, start: matched.start + line, found: matched.found, chosen: -1 };
  list.replaceChildren(
    ...matched.found.map(({ name, what }, index) => {
      const option = document.createElement("li");
      option.id = `record-name-${index}`;
      option.setAttribute("role", "option");
      option.setAttribute("aria-selected", "false");
      const about = document.createElement("span");
      about.className = "fine quiet";
      about.textContent = what;
      option.append(name, " ", about);
      return option;
    }),
  );
  list.hidden = false;
  area.setAttribute("aria-controls", list.id);
  area.removeAttribute("aria-activedescendant");
  said.textContent = `${matched.found.length} in the apps; arrow down chooses`;
  place(area);
}

if (form?.dataset.records && !form.querySelector(":scope > fieldset[disabled]")) {
  document.body.append(list, said);
  document.addEventListener("focusin", (event) => event.target.matches?.(PLACES) && load());
  document.addEventListener("input", (event) => {
    if (!event.target.matches?.(PLACES)) return;
    if (event.inputType?.startsWith("insert") && event.inputType !== "insertReplacementText") offer(event.target);
    else close();
  });
  document.addEventListener("focusout", (event) => open?.area === event.target && setTimeout(close, 150));
  document.addEventListener(
    "keydown",
    (event) => {
      if (!open || event.target !== open.area || event.isComposing) return;
      if (event.key === "ArrowDown") choose(open.chosen + 1);
      else if (event.key === "ArrowUp" && open.chosen >= 0) choose(open.chosen - 1);
      else if (event.key === "Enter" && open.chosen >= 0) take(open.chosen);
      else if (event.key === "Escape") close();
      else return;
      event.preventDefault();
      event.stopImmediatePropagation();
    },
    true,
  );
  list.addEventListener("pointerdown", (event) => {
    const option = /** @type {Element} */ (event.target).closest("[role=option]");
    if (!option) return;
    event.preventDefault();
    take([...list.children].indexOf(option));
  });
}
