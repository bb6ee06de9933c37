// static/js/shared/shortcuts.js
var TYPING = "input:not([type=checkbox]):not([type=radio]):not([type=file]), textarea, select, [contenteditable]", going = !1, timer, singleKeysWork = () => document.documentElement.dataset.keys !== "off", acts = (key) => key.length > 1 || singleKeysWork(), visible = (element) => element.checkVisibility?.() ?? element.offsetParent !== null;
function inSight(element) {
  let { top, bottom } = element.getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight;
}
function called(key) {
  let all = [...document.querySelectorAll(`[data-key="${CSS.escape(key)}"]`)].filter(visible), scope = document.activeElement?.closest("[data-key-scope]");
  return all.find((one) => scope?.contains(one)) ?? all.find(inSight) ?? all[0];
}
function press(element) {
  if ("keySeen" in element.dataset && !inSight(element)) element.scrollIntoView({ block: "center" });
  else if (!element.matches(TYPING)) return element.click();
  element.focus();
}
function list() {
  let dialog = document.querySelector("#keys");
  if (!dialog || dialog.open) return;
  let own = dialog.querySelector("[data-own-keys]");
  own.replaceChildren();
  let seen = /* @__PURE__ */ new Set();
  for (let element of document.querySelectorAll("[data-key]")) {
    let key = element.dataset.key;
    if (seen.has(key) || !acts(key) || element.matches(":disabled") || !visible(element)) continue;
    seen.add(key);
    let name = document.createElement("kbd");
    name.textContent = key;
    let says = document.createElement("span");
    says.textContent = element.dataset.keyLabel ?? element.title ?? element.textContent.trim(), own.append(name, says);
  }
  dialog.querySelector("[data-own-title]").hidden = !seen.size, dialog.showModal();
}
function back() {
  let dialog = document.querySelector("dialog[open]");
  if (dialog) return dialog.close();
  let menu = [...document.querySelectorAll("details.menu[open]")].pop();
  if (menu)
    return menu.open = !1, menu.querySelector("summary").focus();
  let links = document.querySelectorAll("[data-back], .crumbs a"), link = document.querySelector("[data-back]") ?? links[links.length - 1];
  link && link.click();
}
document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  let typing = event.target.closest?.(TYPING);
  if (event.key === "Escape")
    return document.querySelector("dialog[open]") ? void 0 : (event.preventDefault(), typing ? typing.blur() : back());
  if (typing || !acts(event.key) || document.querySelector("dialog[open]")) return;
  if (going) {
    going = !1, clearTimeout(timer);
    let room = document.querySelector(`[data-room-key="${CSS.escape(event.key)}"]`);
    room && (event.preventDefault(), room.click());
    return;
  }
  if (event.key === "g") {
    going = !0, timer = setTimeout(() => going = !1, 1500);
    return;
  }
  if (event.key === "?")
    return event.preventDefault(), list();
  let target = called(event.key);
  target && (event.preventDefault(), press(target));
});
document.addEventListener("click", (event) => {
  event.target.closest("[data-keys-open]") && list();
  let closer = event.target.closest("[data-close]");
  closer && closer.closest("dialog, .message")?.[closer.closest("dialog") ? "close" : "remove"]();
  for (let menu of document.querySelectorAll("details.menu[open]"))
    menu.contains(event.target) || (menu.open = !1);
});

export {
  singleKeysWork
};
