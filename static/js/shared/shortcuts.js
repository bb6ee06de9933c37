// Keyboard shortcuts: `?` lists those of the page, `g` and a letter opens a room, Esc goes back.
// The key in data-key="e" (or "Enter", "j", …) clicks its element, or focuses it if it is a field; the list describes it
// by data-key-label or its text. With single-key shortcuts switched off in Settings (data-keys="off" on the page), Enter,
// Esc and combinations with Ctrl or Alt still work. A <details data-unfolds> opens for a key within. An element with data-key-seen is scrolled into view first.
const TYPING = "input:not([type=checkbox]):not([type=radio]):not([type=file]), textarea, select, [contenteditable]";
let going = false;
let timer;

export const singleKeysWork = () => document.documentElement.dataset.keys !== "off";
const acts = (key) => key.length > 1 || singleKeysWork();

const visible = (element) => element.checkVisibility?.() ?? element.offsetParent !== null;

const folded = (element) => element.closest("details[data-unfolds]:not([open])");

function inSight(element) {
  const { top, bottom } = element.getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight;
}

// Of several, the one in the part of the page that has the focus, else the first in view.
function called(key) {
  const all = [...document.querySelectorAll(`[data-key="${CSS.escape(key)}"]`)].filter(
    (one) => visible(one) || folded(one),
  );
  const scope = document.activeElement?.closest("[data-key-scope]");
  return all.find((one) => scope?.contains(one)) ?? all.find(inSight) ?? all[0];
}

function press(element) {
  folded(element)?.setAttribute("open", "");
  if ("keySeen" in element.dataset && !inSight(element)) element.scrollIntoView({ block: "center" });
  else if (!element.matches(TYPING)) return element.click();
  element.focus();
}

function list() {
  const dialog = document.querySelector("#keys");
  if (!dialog || dialog.open) return;
  const own = dialog.querySelector("[data-own-keys]");
  own.replaceChildren();
  const seen = new Set();
  for (const element of document.querySelectorAll("[data-key]")) {
    const key = element.dataset.key;
    if (seen.has(key) || !acts(key) || element.matches(":disabled") || !(visible(element) || folded(element))) continue;
    seen.add(key);
    const name = document.createElement("kbd");
    name.textContent = key;
    const says = document.createElement("span");
    says.textContent = element.dataset.keyLabel ?? element.title ?? element.textContent.trim();
    own.append(name, says);
  }
  dialog.querySelector("[data-own-title]").hidden = !seen.size;
  dialog.showModal();
}

function back() {
  const dialog = document.querySelector("dialog[open]");
  if (dialog) return dialog.close();
  const menu = [...document.querySelectorAll("details.menu[open]")].pop();
  if (menu) {
    menu.open = false;
    return menu.querySelector("summary").focus();
  }
  const links = document.querySelectorAll("[data-back], .crumbs a");
  const link = document.querySelector("[data-back]") ?? links[links.length - 1];
  if (link) link.click();
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const typing = event.target.closest?.(TYPING);
  if (event.key === "Escape") {
    if (document.querySelector("dialog[open]")) return; // the browser closes it
    event.preventDefault();
    if (typing) return typing.blur();
    return back();
  }
  if (typing || !acts(event.key) || document.querySelector("dialog[open]")) return;
  if (going) {
    going = false;
    clearTimeout(timer);
    const room = document.querySelector(`[data-room-key="${CSS.escape(event.key)}"]`);
    if (room) {
      event.preventDefault();
      room.click();
    }
    return;
  }
  if (event.key === "g") {
    going = true;
    timer = setTimeout(() => (going = false), 1500);
    return;
  }
  if (event.key === "?") {
    event.preventDefault();
    return list();
  }
  const target = called(event.key);
  if (target) {
    event.preventDefault();
    press(target);
  }
});

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-keys-open]")) list();
  const closer = event.target.closest("[data-close]");
  if (closer) closer.closest("dialog, .message")?.[closer.closest("dialog") ? "close" : "remove"]();
  for (const menu of document.querySelectorAll("details.menu[open]"))
    if (!menu.contains(event.target)) menu.open = false;
});
