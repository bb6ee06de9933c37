// A rehearsal: Ctrl+Enter sends, selected text can be extracted, waiting shows its duration. All of it works without.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  const form = event.target.closest?.("form[data-send]") ?? document.querySelector("form[data-send]");
  if (!form || event.target.closest?.("form:not([data-send])")) return;
  event.preventDefault();
  form.requestSubmit();
});

for (const form of document.querySelectorAll("form[data-send]"))
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) return event.preventDefault();
    form.dataset.sent = "yes";
  });
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});

// Unsent text survives leaving or reloading the page, and so does the choice to cover open intents.
const here = `rehearsal-${document.querySelector("[data-rehearsal]")?.dataset.rehearsal}`;
const nameOf = (field) => `${here}-${field.form.action}-${field.name}`;
const PLACES = "form[data-guard] textarea";
for (const field of document.querySelectorAll(PLACES)) {
  const words = sessionStorage.getItem(nameOf(field));
  if (words !== null && !field.value) field.value = words;
  field.addEventListener("input", () => sessionStorage.setItem(nameOf(field), field.value));
}
document.addEventListener("submit", (event) => {
  if (event.target.matches("[data-send]")) return; // kept until the turn is over: the server may ask to sign in first
  for (const field of event.target.querySelectorAll("textarea")) sessionStorage.removeItem(nameOf(field));
});
let stays = false; // on the way to the tools and back, the text is safe above
for (const link of document.querySelectorAll("[data-stays]")) link.addEventListener("click", () => (stays = true));
document.addEventListener("studio:leaving", (event) => stays && event.preventDefault());
const cover = document.querySelector("[data-cover]");
if (cover) {
  cover.checked = localStorage.getItem("rehearsal-cover") !== "no";
  cover.addEventListener("change", () => localStorage.setItem("rehearsal-cover", cover.checked ? "yes" : "no"));
}

const since = document.querySelector("[data-since]");
if (since) {
  const began = Number(since.dataset.since) * 1000;
  const showElapsed = () => (since.textContent = `${Math.max(0, Math.round((Date.now() - began) / 1000))} s`);
  showElapsed();
  setInterval(showElapsed, 1000);
}

// The scripted user's next message is the placeholder.
const next = document.querySelector("[data-next]");
if (next) {
  const rows = [...document.querySelectorAll("[data-intent-choice]")];
  const picked = (row) => row.querySelector("input[type=radio]:checked")?.value ?? "neither";
  const suggest = () => {
    const open = rows.filter((row) => picked(row) !== "met");
    const asked = open.filter((row) => picked(row) === "asked");
    const said = (asked.length ? asked : open.slice(0, 1)).map((row) => row.dataset.content);
    next.placeholder = said.length
      ? `Empty: ${said.join("\n\n")}`
      : "Nothing more to say: every intent is resolved, and the session ends.";
  };
  suggest();
  document.addEventListener("change", (event) => event.target.closest("[data-intent-choice]") && suggest());
}

document.addEventListener("htmx:afterRequest", (event) => {
  const menu = event.target.closest?.("[data-extract]");
  if (menu) menu.open = event.detail.xhr.getResponseHeader("X-Extracted") !== "yes"; // rejected text stays to be corrected
});

const bar = document.querySelector("[data-extract-bar]");
/** @type {ReturnType<typeof readSelection>} */
let kept = null;

function readSelection() {
  const selection = getSelection();
  const words = selection?.toString().trim();
  if (!selection || !words || selection.rangeCount === 0) return null;
  const range = selection.getRangeAt(0);
  const holds = (node) => (node.nodeType === Node.TEXT_NODE ? node.parentElement : node).closest("[data-extractable]");
  const from = holds(range.startContainer);
  if (!from || from !== holds(range.endContainer)) return null;
  return { words, from, box: range.getBoundingClientRect() };
}

function showBar() {
  const found = readSelection();
  bar.hidden = !found;
  kept = found;
  if (!found) return;
  const left = Math.min(found.box.left, document.documentElement.clientWidth - bar.offsetWidth - 8);
  bar.style.left = `${Math.max(8, left + scrollX)}px`;
  bar.style.top = `${found.box.bottom + scrollY + 6}px`;
}

if (bar) {
  document.body.append(bar);
  document.addEventListener("mouseup", (event) => bar.contains(event.target) || setTimeout(showBar));
  document.addEventListener("keyup", (event) => event.shiftKey && setTimeout(showBar));
  document.addEventListener("touchend", (event) => bar.contains(event.target) || setTimeout(showBar, 300));
  document.addEventListener("selectionchange", () => {
    if (getSelection()?.isCollapsed && !bar.matches(":focus-within, :hover")) bar.hidden = true;
  });
  bar.addEventListener("mousedown", (event) => event.preventDefault()); // the selection stays
  bar.addEventListener("click", (event) => {
    const as = event.target.closest("[data-extract-as]")?.dataset.extractAs;
    const form = kept?.from.closest("article").querySelector("[data-extract] form");
    if (!as || !kept || !form) return;
    form.elements.excerpt.value = kept.words;
    form.requestSubmit(form.querySelector(`[name=kind][value=${as}]`));
    getSelection()?.removeAllRanges();
    bar.hidden = true;
  });
}
