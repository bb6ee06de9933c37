// Ctrl+K: one field that goes anywhere. Rooms and the page's own actions are known here; benchmarks, personas and tasks
// come from the server. Without this script the button is a link to the search page.
const PAUSE = 120; // ms without a key before the studio is asked
const MOST = 12;
const dialog = document.querySelector("#palette");
const field = dialog?.querySelector("input");
const list = dialog?.querySelector("[role=listbox]");
const count = dialog?.querySelector("[data-palette-count]");
let shown = [];
let chosen = 0;
let timer;
let pendingRequest;
let awaitingResults = false; // the server has not answered yet
let enterPressed = false; // Enter came before that
let stepped = false;

const visible = (element) => element.checkVisibility?.() ?? element.offsetParent !== null;
const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
const matches = (place, words) => words.every((word) => plain(`${place.label} ${place.detail}`).includes(word));

function known() {
  const rooms = [...document.querySelectorAll("[data-room-name]")].map((link) => ({
    kind: "Room",
    label: link.dataset.roomName,
    detail: `g ${link.dataset.roomKey}`,
    url: link.href,
  }));
  const seen = new Set();
  const actions = [];
  for (const element of document.querySelectorAll("main [data-key], .top [data-key]")) {
    const label = (element.dataset.keyLabel ?? (element.title || element.textContent)).trim();
    if (!label || seen.has(label) || element.disabled || element.matches("[data-palette-open]") || !visible(element))
      continue;
    seen.add(label);
    actions.push({ kind: "Here", label, detail: element.dataset.key, element });
  }
  for (const opener of document.querySelectorAll("[data-theme-toggle], [data-keys-open]")) {
    const label = (opener.title || opener.firstChild.textContent).trim();
    if (label) actions.push({ kind: "Here", label, detail: "", element: opener });
  }
  return [...actions, ...rooms];
}

function showPlaces(places) {
  shown = places;
  chosen = 0;
  list.replaceChildren(
    ...places.map((place, number) => {
      const row = document.createElement("li");
      row.id = `palette-${number}`;
      row.setAttribute("role", "option");
      const label = document.createElement("span");
      label.className = "label";
      label.textContent = place.label;
      const detail = document.createElement("span");
      detail.className = place.kind === "Here" || place.kind === "Room" ? "detail key" : "detail";
      detail.textContent = place.detail;
      const kind = document.createElement("span");
      kind.className = "kind";
      kind.textContent = place.kind;
      row.append(label, detail, kind);
      row.addEventListener("click", () => go(number));
      return row;
    }),
  );
  count.textContent = places.length === 1 ? "1 place" : `${places.length} places`;
  choose(0);
}

function choose(number) {
  if (!shown.length) return field.removeAttribute("aria-activedescendant");
  chosen = (number + shown.length) % shown.length;
  for (const [place, row] of [...list.children].entries()) row.setAttribute("aria-selected", String(place === chosen));
  field.setAttribute("aria-activedescendant", `palette-${chosen}`);
  list.children[chosen].scrollIntoView({ block: "nearest" });
}

function go(number) {
  const place = shown[number];
  if (!place) return;
  dialog.close();
  if (place.url) location.assign(place.url);
  else if (place.element.matches("input:not([type=checkbox], [type=radio]), textarea, select")) place.element.focus();
  else place.element.click();
}

function everywhere(text) {
  return {
    kind: "Search",
    label: `Search everything for “${text}”`,
    detail: "",
    url: `${dialog.dataset.search}?q=${encodeURIComponent(text)}`,
  };
}

function typed() {
  clearTimeout(timer);
  pendingRequest?.abort();
  const text = field.value.trim();
  [awaitingResults, enterPressed, stepped] = [Boolean(text), false, false];
  if (!text) return showPlaces(known());
  const here = known().filter((place) => matches(place, plain(text).split(/\s+/)));
  showPlaces([...here, everywhere(text)].slice(-MOST));
  timer = setTimeout(() => ask(text, here), PAUSE);
}

async function ask(text, here) {
  pendingRequest = new AbortController();
  try {
    const answer = await fetch(`${dialog.dataset.places}?q=${encodeURIComponent(text)}`, {
      signal: pendingRequest.signal,
      headers: { Accept: "application/json" },
    });
    if (!answer.ok || answer.redirected) return resultsArrived();
    const { places } = await answer.json();
    const before = shown[chosen];
    showPlaces([...here.slice(0, 4), ...places, everywhere(text)]);
    const still = shown.findIndex((place) => before && place.kind === before.kind && place.label === before.label);
    if (still > 0 && (stepped || before.kind !== "Search")) choose(still);
    resultsArrived();
  } catch (problem) {
    if (problem instanceof DOMException && problem.name === "AbortError") return;
    count.textContent = "The server could not be reached.";
    resultsArrived();
  }
}

function resultsArrived() {
  awaitingResults = false;
  if (enterPressed && dialog.open) go(chosen);
}

// Enter pressed before the results are there opens the first of them, not the search page.
function enter() {
  if (awaitingResults && !stepped && shown[chosen]?.kind === "Search") enterPressed = true;
  else go(chosen);
}

function open() {
  if (!dialog || dialog.open || document.querySelector("dialog[open]")) return;
  field.value = "";
  awaitingResults = false;
  showPlaces(known());
  dialog.showModal();
  field.focus();
}

if (dialog) {
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
    event.preventDefault();
    if (dialog.open) dialog.close();
    else open();
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-palette-open]") || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open();
  });
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  field.addEventListener("input", typed);
  field.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      stepped = true;
      choose(chosen + step);
    } else if (event.key === "Enter") {
      event.preventDefault();
      enter();
    }
  });
}
