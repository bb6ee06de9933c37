import "./chunks/chunk-I4SFSUUT.js";
import "./chunks/chunk-2THEAPOY.js";
import "./chunks/chunk-6YM6RD3V.js";
import {
  remember
} from "./chunks/chunk-JPS3M5OM.js";
import "./chunks/chunk-WYHAFNNV.js";

// static/js/shared/theme.js
var WORDS = { "": "Theme: system", light: "Theme: light", dark: "Theme: dark" }, ORDER = ["", "light", "dark"];
function show(theme) {
  theme ? document.documentElement.dataset.theme = theme : delete document.documentElement.dataset.theme;
  for (let button of document.querySelectorAll("[data-theme-toggle]")) {
    button.title = WORDS[theme];
    let name = button.querySelector(".name");
    name && (name.textContent = WORDS[theme]);
  }
}
document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-theme-toggle]")) return;
  let now = document.documentElement.dataset.theme ?? "", next = ORDER[(ORDER.indexOf(now) + 1) % ORDER.length];
  remember("theme", next), show(next);
});

// static/js/shared/rail.js
var wide = window.matchMedia("(width >= 1280px)"), root = document.documentElement, isOpen = () => root.dataset.rail ? root.dataset.rail === "open" : wide.matches;
function tell() {
  document.querySelector("[data-rail-toggle]")?.setAttribute("aria-expanded", String(isOpen()));
}
document.addEventListener("click", (event) => {
  event.target.closest("[data-rail-toggle]") && (root.dataset.rail = isOpen() ? "closed" : "open", remember("rail", root.dataset.rail), tell());
});
wide.addEventListener("change", tell);
tell();

// static/js/shared/messages.js
function showError(text) {
  let box = document.querySelector("#messages");
  if (!box) return;
  let line = document.createElement("div");
  line.className = "message error", line.textContent = text, box.append(line);
}
document.addEventListener(
  "htmx:sendError",
  () => showError("The server could not be reached. What you typed is still here; try again in a moment.")
);
document.addEventListener(
  "htmx:responseError",
  (event) => showError(
    `Something went wrong (${event.detail.xhr.status}). What you typed is still here; reload the page to see what was saved.`
  )
);

// static/js/shared/folder_upload.js
document.addEventListener("change", (event) => {
  let input = event.target;
  if (!input.matches?.("input[type=file][webkitdirectory]")) return;
  let paths = input.form?.querySelector("[data-paths]");
  if (!paths) return;
  paths.value = JSON.stringify([...input.files].map((file) => file.webkitRelativePath || file.name));
  let count2 = input.form.querySelector("[data-count]");
  count2 && (count2.textContent = input.files.length === 1 ? "1 file" : `${input.files.length} files`);
});

// static/js/shared/palette.js
var dialog = document.querySelector("#palette"), field = dialog?.querySelector("input"), list = dialog?.querySelector("[role=listbox]"), count = dialog?.querySelector("[data-palette-count]"), shown = [], chosen = 0, timer, pendingRequest, awaitingResults = !1, enterPressed = !1, stepped = !1, visible = (element) => element.checkVisibility?.() ?? element.offsetParent !== null, plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase(), matches = (place, words) => words.every((word) => plain(`${place.label} ${place.detail}`).includes(word));
function known() {
  let rooms = [...document.querySelectorAll("[data-room-name]")].map((link) => ({
    kind: "Room",
    label: link.dataset.roomName,
    detail: `g ${link.dataset.roomKey}`,
    url: link.href
  })), seen = /* @__PURE__ */ new Set(), actions = [];
  for (let element of document.querySelectorAll("main [data-key], .top [data-key]")) {
    let label = (element.dataset.keyLabel ?? (element.title || element.textContent)).trim();
    !label || seen.has(label) || element.disabled || element.matches("[data-palette-open]") || !visible(element) || (seen.add(label), actions.push({ kind: "Here", label, detail: element.dataset.key, element }));
  }
  for (let opener of document.querySelectorAll("[data-theme-toggle], [data-keys-open]")) {
    let label = (opener.title || opener.firstChild.textContent).trim();
    label && actions.push({ kind: "Here", label, detail: "", element: opener });
  }
  return [...actions, ...rooms];
}
function showPlaces(places) {
  shown = places, chosen = 0, list.replaceChildren(
    ...places.map((place, number) => {
      let row = document.createElement("li");
      row.id = `palette-${number}`, row.setAttribute("role", "option");
      let label = document.createElement("span");
      label.className = "label", label.textContent = place.label;
      let detail = document.createElement("span");
      detail.className = place.kind === "Here" || place.kind === "Room" ? "detail key" : "detail", detail.textContent = place.detail;
      let kind = document.createElement("span");
      return kind.className = "kind", kind.textContent = place.kind, row.append(label, detail, kind), row.addEventListener("click", () => go(number)), row;
    })
  ), count.textContent = places.length === 1 ? "1 place" : `${places.length} places`, choose(0);
}
function choose(number) {
  if (!shown.length) return field.removeAttribute("aria-activedescendant");
  chosen = (number + shown.length) % shown.length;
  for (let [place, row] of [...list.children].entries()) row.setAttribute("aria-selected", String(place === chosen));
  field.setAttribute("aria-activedescendant", `palette-${chosen}`), list.children[chosen].scrollIntoView({ block: "nearest" });
}
function go(number) {
  let place = shown[number];
  place && (dialog.close(), place.url ? location.assign(place.url) : place.element.matches("input:not([type=checkbox], [type=radio]), textarea, select") ? place.element.focus() : place.element.click());
}
function everywhere(text) {
  return {
    kind: "Search",
    label: `Search everything for “${text}”`,
    detail: "",
    url: `${dialog.dataset.search}?q=${encodeURIComponent(text)}`
  };
}
function typed() {
  clearTimeout(timer), pendingRequest?.abort();
  let text = field.value.trim();
  if ([awaitingResults, enterPressed, stepped] = [!!text, !1, !1], !text) return showPlaces(known());
  let here = known().filter((place) => matches(place, plain(text).split(/\s+/)));
  showPlaces([...here, everywhere(text)].slice(-12)), timer = setTimeout(() => ask(text, here), 120);
}
async function ask(text, here) {
  pendingRequest = new AbortController();
  try {
    let answer = await fetch(`${dialog.dataset.places}?q=${encodeURIComponent(text)}`, {
      signal: pendingRequest.signal,
      headers: { Accept: "application/json" }
    });
    if (!answer.ok || answer.redirected) return resultsArrived();
    let { places } = await answer.json(), before = shown[chosen];
    showPlaces([...here.slice(0, 4), ...places, everywhere(text)]);
    let still = shown.findIndex((place) => before && place.kind === before.kind && place.label === before.label);
    still > 0 && (stepped || before.kind !== "Search") && choose(still), resultsArrived();
  } catch (problem) {
    if (problem instanceof DOMException && problem.name === "AbortError") return;
    count.textContent = "The server could not be reached.", resultsArrived();
  }
}
function resultsArrived() {
  awaitingResults = !1, enterPressed && dialog.open && go(chosen);
}
function enter() {
  awaitingResults && !stepped && shown[chosen]?.kind === "Search" ? enterPressed = !0 : go(chosen);
}
function open() {
  !dialog || dialog.open || document.querySelector("dialog[open]") || (field.value = "", awaitingResults = !1, showPlaces(known()), dialog.showModal(), field.focus());
}
dialog && (document.addEventListener("keydown", (event) => {
  event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey || (event.preventDefault(), dialog.open ? dialog.close() : open());
}), document.addEventListener("click", (event) => {
  !event.target.closest("[data-palette-open]") || event.ctrlKey || event.metaKey || event.shiftKey || (event.preventDefault(), open());
}), dialog.addEventListener("click", (event) => event.target === dialog && dialog.close()), field.addEventListener("input", typed), field.addEventListener("keydown", (event) => {
  if (event.isComposing) return;
  let step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  step ? (event.preventDefault(), stepped = !0, choose(chosen + step)) : event.key === "Enter" && (event.preventDefault(), enter());
}));
