// Uploads: files that are chosen, dropped or pasted, and whole folders. Each shows its progress; if its name exists, the
// user decides. A finished upload is a row of the form, autosaved like any other field.

import { form } from "../drafts/form.js";
import { rowsOf, undoable } from "../shared/rows.js";
import { fileSize, freePath } from "./file_paths.js";

const section = form?.querySelector("[data-files]");
const editable = section && !form.querySelector(":scope > fieldset[disabled]");
const AT_ONCE = 3;
const JUNK = new Set([".DS_Store", "Thumbs.db", "desktop.ini"]);
const waiting = [];
let running = 0;

export const list = section?.querySelector('[data-rows="assets"]');
export const pathOf = (row) => row.querySelector('input[name$=".path"]');
export const keyOf = (row) => row.querySelector(":scope > input[type=hidden]").value;
const rowOf = (path) => rowsOf(list).find((row) => pathOf(row).value.trim().toLowerCase() === path.toLowerCase());

function button(text, act, style = "") {
  const made = document.createElement("button");
  Object.assign(made, { type: "button", className: `button small ${style}`, textContent: text });
  made.addEventListener("click", act);
  return made;
}

// One line below the files for each upload that is under way or needs a decision.
function show(job, text, ...buttons) {
  if (!job.line) {
    job.line = document.createElement("div");
    job.line.className = "upload line";
    section.querySelector("[data-uploads]").append(job.line);
  }
  const name = document.createElement("span");
  Object.assign(name, { className: "mono grow", textContent: job.path });
  const result = document.createElement("span");
  Object.assign(result, { className: job.failed ? "bad small" : "quiet small", textContent: text });
  job.line.replaceChildren(name, result, ...buttons);
  forAll();
}
function end(job) {
  job.line?.remove();
  job.line = null;
  job.asks = false;
  forAll();
}

export function free(path) {
  return freePath(path, (other) => rowOf(other) || jobs.some((job) => job.line && job.path === other));
}

const jobs = [];
export function take(files) {
  for (const { file, path } of files) {
    if (JUNK.has(path.split("/").at(-1)) || path.split("/").includes("__MACOSX")) continue;
    const job = { file, path };
    jobs.push(job);
    const largest = Number(section.dataset.largest);
    if (file.size > largest)
      fail(job, `The file is ${fileSize(file.size)}; the limit is ${fileSize(largest)}. Split it or leave it out.`);
    else if (rowsOf(list).length + waiting.length + running >= Number(section.dataset.most))
      fail(job, `A task can have at most ${section.dataset.most} files.`);
    else if (rowOf(path)) ask(job);
    else enqueue(job);
  }
}
function fail(job, text, retry = false) {
  job.failed = true;
  const again = retry ? [button("Try again", () => enqueue(job))] : [];
  show(
    job,
    text,
    ...again,
    button("Leave out", () => end(job), "plain"),
  );
}
function ask(job) {
  job.asks = true;
  show(
    job,
    "A file with this name already exists.",
    ...["replace", "both", "skip"].map((how) =>
      button({ replace: "Replace it", both: "Keep both", skip: "Skip" }[how], () => decide(job, how)),
    ),
  );
}
function decide(job, how) {
  job.asks = false;
  if (how === "skip") return end(job);
  if (how === "both") job.path = free(job.path);
  job.replaces = how === "replace";
  enqueue(job);
}
// One decision for all names that exist.
function forAll() {
  const place = section.querySelector("[data-uploads]");
  place.querySelector("[data-for-all]")?.remove();
  const asked = jobs.filter((job) => job.asks);
  if (asked.length < 2) return;
  const line = document.createElement("div");
  line.className = "upload line";
  line.dataset.forAll = "";
  const words = document.createElement("span");
  Object.assign(words, { className: "grow small", textContent: `${asked.length} names already exist.` });
  const each = (how) => () => {
    for (const job of asked) decide(job, how);
  };
  line.append(
    words,
    button("Replace all", each("replace")),
    button("Keep both for all", each("both")),
    button("Skip all", each("skip")),
  );
  place.prepend(line);
}

function enqueue(job) {
  job.failed = false;
  show(job, "waiting");
  waiting.push(job);
  next();
}
function next() {
  while (running < AT_ONCE && waiting.length) {
    running++;
    send(waiting.shift());
  }
}

/**
 * With `reference`, the key of a row of what is left behind, the file is that row's reference.
 * @param {string} path
 * @param {Blob} file
 * @param {{reference?: string, progress?: (part: number) => void}} options
 * @returns {Promise<any>}
 */
export function post(path, file, { reference = "", progress } = {}) {
  return new Promise((done) => {
    const data = new FormData();
    data.set("path", path);
    data.set("file", file, "file");
    data.set("reference", reference);
    const replaced = reference ? null : rowOf(path);
    for (const row of rowsOf(list)) if (row !== replaced) data.append("taken", keyOf(row));
    for (const row of form.querySelectorAll("[data-file], [data-artifact]")) {
      const stored = row.querySelector('input[name$=".stored"]').value;
      if (stored && row !== replaced && keyOf(row) !== reference) data.append("stored", stored);
    }
    const request = new XMLHttpRequest();
    request.open("POST", section.dataset.add);
    request.setRequestHeader("X-CSRFToken", form.elements.csrfmiddlewaretoken.value);
    if (progress) request.upload.onprogress = (event) => event.lengthComputable && progress(event.loaded / event.total);
    request.onerror = () => done({ problem: "No connection. It will be sent when you are back online.", retry: true });
    request.onload = () => {
      if (request.status === 422) return done({ problem: JSON.parse(request.responseText).problem });
      const holder = document.createElement("template");
      holder.innerHTML = request.responseText;
      const row = request.status === 200 && holder.content.querySelector("[data-row]");
      if (row) return done({ row: document.importNode(row, true) });
      const out = request.responseURL.includes("/login") || request.status === 403;
      done({
        problem: out
          ? "You are signed out. Sign in in another tab, then try again."
          : "Something went wrong on our side.",
        retry: true,
      });
    };
    request.send(data);
  });
}

async function send(job) {
  const bar = document.createElement("progress");
  bar.max = 1;
  bar.setAttribute("aria-label", job.path);
  show(job, fileSize(job.file.size), bar);
  const result = await post(job.path, job.file, { progress: (part) => (bar.value = part) });
  running--;
  next();
  if (!result.row) return fail(job, result.problem, result.retry);
  if (!job.replaces && rowOf(job.path)) return ask(job);
  end(job);
  put(result.row);
}

// Inserts a file's row in the order of names. It replaces a row of the same name and takes over its description.
export function put(row) {
  const path = pathOf(row).value;
  const old = rowOf(path);
  undoable(list, () => {
    if (old) {
      row.querySelector('input[name$=".description"]').value = old.querySelector('input[name$=".description"]').value;
      return old.replaceWith(row);
    }
    const after = rowsOf(list).find((other) => pathOf(other).value > path);
    after ? after.before(row) : list.append(row);
  });
  return row;
}

async function entriesOf(items) {
  const found = [];
  const walk = async (entry, prefix) => {
    if (entry.isFile)
      found.push({ file: await new Promise((done, no) => entry.file(done, no)), path: prefix + entry.name });
    if (!entry.isDirectory) return;
    const reader = entry.createReader();
    for (;;) {
      const some = await new Promise((done, no) => reader.readEntries(done, no));
      if (!some.length) return;
      for (const inner of some) await walk(inner, `${prefix}${entry.name}/`);
    }
  };
  for (const entry of [...items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean)) await walk(entry, "");
  return found;
}
const named = (files) => [...files].map((file) => ({ file, path: file.webkitRelativePath || file.name }));

if (editable) {
  const chooser = section.querySelector("[data-upload]");
  const folder = section.querySelector("[data-folder]");
  section.querySelector("[data-upload-folder]").hidden = !("webkitdirectory" in folder);
  section.querySelector("[data-file-new]").hidden = false;
  section.querySelector("[data-drop-hint]").textContent = "or drop them here, or paste one";
  chooser.classList.add("under-label");
  section.querySelector("[data-upload-folder]").addEventListener("click", () => folder.click());
  for (const input of [chooser, folder])
    input.addEventListener("change", () => {
      take(named(input.files));
      input.value = "";
    });
  const carries = (event) => event.dataTransfer?.types.includes("Files");
  document.addEventListener("dragover", (event) => {
    if (!carries(event)) return;
    event.preventDefault(); // a file dropped beside the section must not replace the page
    section.classList.toggle("over", section.contains(event.target));
  });
  document.addEventListener("dragleave", (event) => !event.relatedTarget && section.classList.remove("over"));
  document.addEventListener("drop", async (event) => {
    section.classList.remove("over");
    if (!carries(event)) return;
    event.preventDefault();
    if (!section.contains(event.target)) return;
    const files = named(event.dataTransfer.files); // gone once something is waited for
    const entries = await entriesOf(event.dataTransfer.items);
    take(entries.length ? entries : files);
  });
  document.addEventListener("paste", (event) => {
    const files = event.clipboardData?.files;
    if (!files?.length || event.clipboardData.getData("text/plain")) return;
    event.preventDefault();
    take(
      named(files).map((one) =>
        one.path === "image.png" ? { ...one, path: rowOf("pasted.png") ? free("pasted.png") : "pasted.png" } : one,
      ),
    );
  });
  window.addEventListener("online", () => {
    for (const job of jobs) if (job.failed && job.line?.textContent.includes("No connection")) enqueue(job);
  });
  window.addEventListener("beforeunload", (event) => (running || waiting.length) && event.preventDefault());
}
