// A file's preview below its row, in which text can be edited. While it is edited the text is a field of the form like any
// other; “Done” stores it as a file.
import { form, later } from "../drafts/form.js";
import { rowsOf } from "../shared/rows.js";
import { lineRange, pathProblem } from "./file_paths.js";
import { free, keyOf, list, pathOf, post, put, take } from "./uploads.js";

const addresses = document.querySelector("[data-files]")?.dataset;
const HOLDERS = "[data-file], [data-artifact]"; // rows of the workspace's files, and of what is left behind
const inside = (row) => row.querySelector("[data-file-panel]");
const listOf = (row) => row.querySelector(":scope > input[type=hidden]").name;
const own = (row, name) => row.querySelector(`[name="${CSS.escape(`${listOf(row)}.${keyOf(row)}.${name}`)}"]`);
const INDENT = { py: "    ", tsv: "\t" };

async function part(row, name) {
  const query = new URLSearchParams({
    file: own(row, "stored").value,
    path: pathOf(row).value,
    part: name,
    key: keyOf(row),
    list: listOf(row),
  });
  const answer = await fetch(`${addresses.preview}?${query}`, { redirect: "error" }).catch(() => null);
  if (answer?.ok) return answer.text();
  return '<p class="small bad">The preview is unavailable. Try again when you are online and signed in.</p>';
}

async function look(row) {
  const place = inside(row);
  const opener = row.querySelector("[data-file-preview]");
  if (!place.hidden && !place.querySelector("[data-file-text]")) {
    place.hidden = true;
    opener.setAttribute("aria-expanded", "false");
    return;
  }
  if (place.querySelector("[data-file-text]")) return place.querySelector("textarea").focus();
  place.hidden = false;
  opener.setAttribute("aria-expanded", "true");
  place.innerHTML = '<p class="quiet small">…</p>';
  place.innerHTML = await part(row, "seen");
}

async function edit(row) {
  const place = inside(row);
  place.hidden = false;
  place.innerHTML = await part(row, "edit");
  const text = place.querySelector("[data-file-text]");
  if (!text) return;
  own(row, "form").value = text.dataset.form;
  const area = text.querySelector("textarea");
  area.focus();
  area.setSelectionRange(0, 0);
  check(area);
}

async function storeText(row) {
  const area = inside(row).querySelector("textarea");
  if (!area) return;
  const lines = own(row, "form").value.includes("crlf") ? area.value.replaceAll("\n", "\r\n") : area.value;
  const mark = own(row, "form").value.includes("mark") ? "\ufeff" : "";
  const reference = row.matches("[data-artifact]") ? keyOf(row) : "";
  const result = await post(pathOf(row).value.trim(), new Blob([mark + lines]), { reference });
  const flaw = row.querySelector("[data-file-syntax]");
  if (!result.row) {
    flaw.textContent = result.problem;
    return;
  }
  for (const name of ["stored", "form"]) own(row, name).value = result.row.querySelector(`[name$=".${name}"]`).value;
  row.querySelector("[data-file-size]").textContent = result.row.querySelector("[data-file-size]").textContent;
  inside(row).replaceChildren();
  inside(row).hidden = true;
  form.dispatchEvent(new CustomEvent("studio:changed", { bubbles: true }));
  await look(row);
  row.querySelector("[data-file-edit]")?.focus();
}

async function check(area) {
  const row = area.closest(HOLDERS);
  const body = new URLSearchParams({ path: pathOf(row).value, text: area.value });
  const answer = await fetch(addresses.syntax, {
    method: "POST",
    body,
    redirect: "error",
    headers: { "X-CSRFToken": form.elements.csrfmiddlewaretoken.value },
  }).catch(() => null);
  if (!answer?.ok) return;
  const result = await answer.json();
  const place = row.querySelector("[data-file-syntax]");
  if (!place) return;
  place.replaceChildren();
  if (!result.problem) return;
  const to = document.createElement("button");
  Object.assign(to, { type: "button", className: "link small", textContent: result.problem });
  to.addEventListener("click", () => goTo(area, result.line));
  place.append(to);
}
function goTo(area, line) {
  const { start, end } = lineRange(area.value, line);
  area.focus();
  area.setSelectionRange(start, end);
}

// Shows what is wrong with a name while it is typed. An expected artifact without a reference may have any description
// in place of a name.
function validateName(row) {
  const path = pathOf(row).value.trim();
  const bare = row.matches("[data-artifact]") && !own(row, "stored").value;
  const others = rowsOf(row.parentElement)
    .filter((other) => other !== row)
    .map((other) => pathOf(other).value.trim());
  const same = path && others.find((other) => (bare ? other === path : other.toLowerCase() === path.toLowerCase()));
  const wrong = same ? `There is “${same}” already: choose another name.` : bare ? "" : pathProblem(path);
  const place = row.querySelector("[data-file-problem]");
  place.textContent = wrong;
  place.hidden = !wrong;
  pathOf(row).setAttribute("aria-invalid", String(Boolean(wrong)));
}

for (const section of document.querySelectorAll("[data-files], [data-references]")) {
  let leaving = false; // Esc: the next Tab leaves the text
  const soon = later(600, () => document.activeElement?.closest?.("[data-file-text]") && check(document.activeElement));
  section.addEventListener("click", (event) => {
    const row = event.target.closest(HOLDERS);
    const fresh = event.target.closest("[data-file-new]");
    if (fresh) return void createFile();
    if (!row || event.ctrlKey || event.metaKey) return;
    if (event.target.closest("[data-file-preview]")) {
      event.preventDefault();
      look(row);
    } else if (event.target.closest("[data-file-edit]")) edit(row);
    else if (event.target.closest("[data-file-done]")) storeText(row);
  });
  section.addEventListener("input", (event) => {
    if (event.target.matches('[name$=".path"]')) validateName(event.target.closest(HOLDERS));
    if (event.target.matches("[data-file-text] textarea")) soon();
  });
  section.addEventListener("keydown", (event) => {
    if (event.target.matches?.('[data-file] input[name$=".path"]') && event.key === "Enter") {
      event.preventDefault();
      look(event.target.closest("[data-file]"));
      return;
    }
    if (!event.target.matches?.("[data-file-text] textarea")) return;
    if (event.key === "Escape") {
      leaving = true;
      event.stopPropagation();
    } else if (event.key === "Tab" && !event.shiftKey && !event.ctrlKey && !leaving) {
      event.preventDefault();
      const name = pathOf(event.target.closest(HOLDERS)).value.split(".").at(-1);
      document.execCommand("insertText", false, INDENT[name] ?? "  "); // so that it can be undone
    } else if (event.key !== "Shift") leaving = false;
  });
  for (const area of section.querySelectorAll("[data-file-text] textarea")) check(area);
}

async function createFile() {
  const path = rowsOf(list).some((row) => pathOf(row).value.toLowerCase() === "notes.md")
    ? free("notes.md")
    : "notes.md";
  const result = await post(path, new Blob([]));
  if (!result.row) return take([{ file: new File([], path), path }]); // says why, and offers to try again
  const row = put(result.row);
  await edit(row);
  pathOf(row).focus();
  pathOf(row).select();
}
