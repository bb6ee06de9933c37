// The intent or item one works in shows all its settings; of the others one sees the text and what is not as usual.
// A row stays open until another one is, and what was clicked or focused stays where it is on the screen.

import { form } from "../drafts/form.js";

const rowOf = (target) => target.closest?.(".tucked");
/** @type {any} */
let opened = null;
let pressed = false; // until the button is up, or the click would reach what moved beneath it

function open(row) {
  if (!row || row === opened) return;
  const before = row.getBoundingClientRect().top;
  opened?.classList.remove("open");
  row.classList.add("open");
  opened = row;
  // Chromium does this by itself for the field in focus; others do not.
  window.scrollBy({ top: row.getBoundingClientRect().top - before, behavior: "instant" });
}

form?.addEventListener("pointerdown", () => (pressed = true), true);
// A list of choices swallows the end of its press; the next key ends it, too.
for (const name of ["pointerup", "pointercancel", "dragend", "keydown"])
  document.addEventListener(name, () => {
    if (!pressed) return;
    pressed = false;
    if (form.contains(document.activeElement)) open(rowOf(document.activeElement));
  });
form?.addEventListener("focusin", (event) => pressed || open(rowOf(event.target)));
form?.addEventListener("studio:reach", (event) => open(rowOf(event.target)));
form?.addEventListener("change", (event) => {
  const usual = event.target.dataset?.usual;
  if (usual) event.target.closest("label").classList.toggle("stays", event.target.value.trim() !== usual);
});
