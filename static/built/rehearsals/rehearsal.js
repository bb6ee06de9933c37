// static/js/rehearsals/rehearsal.js
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  let form = event.target.closest?.("form[data-send]") ?? document.querySelector("form[data-send]");
  !form || event.target.closest?.("form:not([data-send])") || (event.preventDefault(), form.requestSubmit());
});
for (let form of document.querySelectorAll("form[data-send]"))
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) return event.preventDefault();
    form.dataset.sent = "yes";
  });
addEventListener("pageshow", () => {
  for (let form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});
var here = `rehearsal-${document.querySelector("[data-rehearsal]")?.dataset.rehearsal}`, nameOf = (field) => `${here}-${field.form.action}-${field.name}`, PLACES = "form[data-guard] textarea";
for (let field of document.querySelectorAll(PLACES)) {
  let words = sessionStorage.getItem(nameOf(field));
  words !== null && !field.value && (field.value = words), field.addEventListener("input", () => sessionStorage.setItem(nameOf(field), field.value));
}
document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-send]"))
    for (let field of event.target.querySelectorAll("textarea")) sessionStorage.removeItem(nameOf(field));
});
var stays = !1;
for (let link of document.querySelectorAll("[data-stays]")) link.addEventListener("click", () => stays = !0);
document.addEventListener("studio:leaving", (event) => stays && event.preventDefault());
var cover = document.querySelector("[data-cover]");
cover && (cover.checked = localStorage.getItem("rehearsal-cover") === "yes", cover.addEventListener("change", () => localStorage.setItem("rehearsal-cover", cover.checked ? "yes" : "no")));
var since = document.querySelector("[data-since]");
if (since) {
  let began = Number(since.dataset.since) * 1e3, showElapsed = () => since.textContent = `${Math.max(0, Math.round((Date.now() - began) / 1e3))} s`;
  showElapsed(), setInterval(showElapsed, 1e3);
}
var next = document.querySelector("[data-next]");
if (next) {
  let rows = [...document.querySelectorAll("[data-intent-choice]")], picked = (row) => row.querySelector("input[type=radio]:checked")?.value ?? "neither", suggest = () => {
    let open = rows.filter((row) => picked(row) !== "met"), asked = open.filter((row) => picked(row) === "asked"), said = (asked.length ? asked : open.slice(0, 1)).map((row) => row.dataset.content);
    next.placeholder = said.length ? `Empty: ${said.join(`

`)}` : "Nothing more to say: every intent is resolved, and the session ends.";
  };
  suggest(), document.addEventListener("change", (event) => event.target.closest("[data-intent-choice]") && suggest());
}
document.addEventListener("htmx:afterRequest", (event) => {
  let menu = event.target.closest?.("[data-extract]");
  menu && (menu.open = event.detail.xhr.getResponseHeader("X-Extracted") !== "yes");
});
var bar = document.querySelector("[data-extract-bar]"), kept = null;
function readSelection() {
  let selection = getSelection(), words = selection?.toString().trim();
  if (!selection || !words || selection.rangeCount === 0) return null;
  let range = selection.getRangeAt(0), holds = (node) => (node.nodeType === Node.TEXT_NODE ? node.parentElement : node).closest("[data-extractable]"), from = holds(range.startContainer);
  return !from || from !== holds(range.endContainer) ? null : { words, from, box: range.getBoundingClientRect() };
}
function showBar() {
  let found = readSelection();
  if (bar.hidden = !found, kept = found, !found) return;
  let left = Math.min(found.box.left, document.documentElement.clientWidth - bar.offsetWidth - 8);
  bar.style.left = `${Math.max(8, left + scrollX)}px`, bar.style.top = `${found.box.bottom + scrollY + 6}px`;
}
bar && (document.body.append(bar), document.addEventListener("mouseup", (event) => bar.contains(event.target) || setTimeout(showBar)), document.addEventListener("keyup", (event) => event.shiftKey && setTimeout(showBar)), document.addEventListener("touchend", (event) => bar.contains(event.target) || setTimeout(showBar, 300)), document.addEventListener("selectionchange", () => {
  getSelection()?.isCollapsed && !bar.matches(":focus-within, :hover") && (bar.hidden = !0);
}), bar.addEventListener("mousedown", (event) => event.preventDefault()), bar.addEventListener("click", (event) => {
  let as = event.target.closest("[data-extract-as]")?.dataset.extractAs, form = kept?.from.closest("article").querySelector("[data-extract] form");
  !as || !kept || !form || (form.elements.excerpt.value = kept.words, form.requestSubmit(form.querySelector(`[name=kind][value=${as}]`)), getSelection()?.removeAllRanges(), bar.hidden = !0);
}));
