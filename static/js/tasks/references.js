// Expected artifacts, one per row, and their reference files: chosen, dropped or pasted at a row. Ctrl+Z restores the row.

import { form } from "../drafts/form.js";
import { blank, rowsOf, undoable } from "../shared/rows.js";
import { keyOf, pathOf, post } from "./uploads.js";

const section = form?.querySelector("[data-references]");
const editable = section && !form.querySelector(":scope > fieldset[disabled]");
const list = section?.querySelector('[data-rows="expected_artifacts"]');
const part = (row) => row.querySelector("[data-reference]");
const noteOf = (row) => row.querySelector('input[name$=".note"]');
const storedOf = (row) => row.querySelector('input[name$=".stored"]');
const named = (path) => rowsOf(list).find((row) => pathOf(row).value.trim().toLowerCase() === path.toLowerCase());

function say(row, text, bad = false) {
  const place = row.querySelector("[data-reference-status]");
  place.className = bad ? "bad" : "quiet";
  place.textContent = text;
}

// Replaces the row by a copy with another reference, or none, so that undo can bring it back.
function change(row, reference, stored) {
  const next = row.cloneNode(true);
  for (const one of [pathOf, noteOf]) one(next).value = one(row).value;
  part(next).replaceWith(document.importNode(reference, true));
  storedOf(next).value = stored;
  next.querySelector('input[name$=".form"]').value = "";
  const inside = next.querySelector("[data-file-panel]");
  inside.replaceChildren();
  inside.hidden = true;
  undoable(list, () => row.replaceWith(next));
  hideInputs(next);
  return next;
}

async function attach(row, file) {
  const path = pathOf(row).value.trim() || file.name;
  const had = Boolean(storedOf(row).value);
  if (file.size > Number(form.querySelector("[data-files]").dataset.largest))
    return say(row, "The file is too large: split it or choose another one.", true);
  say(row, "sending…");
  const focused = row.contains(document.activeElement);
  const said = await post(path, file, {
    reference: keyOf(row),
    progress: (part) => say(row, `sending ${Math.round(part * 100)} %`),
  });
  if (!row.isConnected) return;
  if (!said.row) return say(row, said.problem, true);
  if (!pathOf(row).value.trim()) pathOf(row).value = path;
  const next = change(row, part(said.row), storedOf(said.row).value);
  if (had) say(next, "Replaced. Ctrl+Z restores the previous one.");
  if (focused) next.querySelector("[data-file-preview]").focus();
}

function remove(row) {
  const holder = document.createElement("template");
  holder.innerHTML = list.querySelector(":scope > template[data-row-blank]").innerHTML.replaceAll("__n__", keyOf(row));
  const next = change(row, part(holder.content), "");
  say(next, "Removed. Ctrl+Z restores it.");
  next.querySelector("[data-reference-file]").focus();
}

// Each file goes to the row with its name, else to a new one.
function take(files, row) {
  const single = files.length === 1 && row;
  for (const file of files) {
    let to =
      single ||
      named(file.name) ||
      rowsOf(list).find((one) => pathOf(one).value.split("/").at(-1).toLowerCase() === file.name.toLowerCase());
    if (!to) {
      undoable(list, () => {
        to = blank(list, rowsOf(list).at(-1));
        pathOf(to).value = file.name;
      });
      hideInputs(to);
    }
    attach(to, file);
  }
}

// A menu of references offers those on the page now.
function offer(choice) {
  const begins = choice.dataset.attached;
  const chosen = choice.value;
  for (const option of [...choice.options]) if (!option.value || option.value.startsWith(begins)) option.remove();
  const names = rowsOf(list)
    .filter((row) => storedOf(row).value)
    .map((row) => begins + pathOf(row).value.trim());
  choice.prepend(...names.map((name) => new Option(name)));
  choice.value = chosen;
  if (choice.selectedIndex < 0 || !chosen.startsWith(begins)) choice.selectedIndex = 0;
}

function hideInputs(root) {
  for (const input of root.querySelectorAll("[data-reference-file]")) input.classList.add("under-label");
}

if (editable) {
  hideInputs(section);
  section.querySelector("[data-drop-hint]").textContent =
    "a reference shows what a good result looks like: choose one in its row, or drop it there";
  list.addEventListener("studio:changed", () => hideInputs(list));
  section.addEventListener("change", (event) => {
    const input = event.target.closest("[data-reference-file]");
    if (!input?.files.length) return;
    attach(input.closest("[data-row]"), input.files[0]);
    input.value = "";
  });
  section.addEventListener("click", (event) => {
    const button = event.target.closest("[data-reference-remove]");
    if (!button) return;
    event.preventDefault();
    remove(button.closest("[data-row]"));
  });
  document.addEventListener(
    "toggle",
    (event) => {
      const choice = event.target.open && event.target.querySelector?.("[data-attached]");
      if (choice) offer(choice);
    },
    true,
  );
  const carries = (event) => event.dataTransfer?.types.includes("Files");
  const over = (target) => {
    for (const row of rowsOf(list)) row.classList.toggle("over", row === target);
  };
  document.addEventListener("dragover", (event) => carries(event) && over(event.target.closest?.("[data-artifact]")));
  document.addEventListener("dragleave", (event) => !event.relatedTarget && over(null));
  document.addEventListener("drop", () => over(null));
  section.addEventListener("drop", (event) => {
    if (!carries(event)) return;
    event.preventDefault();
    take([...event.dataTransfer.files], event.target.closest("[data-artifact]"));
  });
  section.addEventListener("paste", (event) => {
    const row = event.target.closest("[data-artifact]");
    const text = event.clipboardData?.getData("text/plain") ?? "";
    const files = [...(event.clipboardData?.files ?? [])];
    if (files.length && !text && row) {
      event.preventDefault();
      event.stopPropagation(); // it would become a file of the workspace
      return take(files, row);
    }
    const lines = text
      .split(/\r?\n/)
      .map((line) => line.trim())
      .filter(Boolean);
    if (lines.length < 2 || event.target !== (row && pathOf(row))) return;
    event.preventDefault();
    undoable(list, () => {
      const rest = event.target.value ? lines : lines.slice(1);
      if (!event.target.value) event.target.value = lines[0];
      let after = row;
      for (const line of rest) {
        after = blank(list, after);
        pathOf(after).value = line;
      }
      pathOf(after).focus();
    });
  });
  section.addEventListener("keydown", (event) => {
    const row = event.target.closest("[data-artifact]");
    if (event.key !== "Enter" || !row || ![pathOf(row), noteOf(row)].includes(event.target) || event.isComposing)
      return;
    event.preventDefault();
    undoable(list, () => pathOf(blank(list, row)).focus());
  });
}
