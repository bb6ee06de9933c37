// The signal that opens a session. The server converts it between fields and JSON, so that nothing is lost; what the
// assistant receives first is previewed while it is written.
import { form, formValues, later, serialize } from "../drafts/form.js";

const section = form?.querySelector("[data-signal-address]");
const signal = () => section.querySelector("[data-signal]");
let before = null; // the signal that an example took the place of
/** @type {AbortController | null} */
let running = null;
let converting = false; // no preview is requested meanwhile: it would abort the conversion

async function requestPreview(to) {
  running?.abort();
  const own = new AbortController();
  running = own;
  const data = formValues();
  if (to) data.set("to", to);
  data.set("kind", "1");
  const body = new URLSearchParams(serialize(data));
  try {
    const answer = await fetch(section.dataset.signalAddress, {
      method: "POST",
      body,
      redirect: "error",
      signal: own.signal,
    });
    return answer.ok ? await answer.json() : null;
  } catch {
    return null; // offline, or something newer is asked
  }
}

function showErrors(errors) {
  for (const old of section.querySelectorAll("[data-error]")) old.remove();
  for (const [name, sentence] of Object.entries(errors)) {
    const input = section.querySelector(`[name="${CSS.escape(name)}"]`) ?? signal().lastElementChild;
    if (input.parentElement.querySelector(".error:not([data-error])")?.textContent === sentence) continue;
    const result = document.createElement("p");
    Object.assign(result, { className: "error", textContent: sentence });
    result.setAttribute("role", "status");
    result.dataset.error = "";
    input.after(result);
  }
  for (const input of section.querySelectorAll("[data-signal] :is(textarea, input)")) {
    if (input.name in errors) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
  }
}

function show(result) {
  section.querySelector("[data-opening]").textContent = result.opening;
  if (result.examples) {
    const choice = section.querySelector('[name="example"]');
    if ([...choice.options].map((option) => option.text).join("\n") !== result.examples.join("\n"))
      choice.replaceChildren(...result.examples.map((name, at) => new Option(name, at)));
  }
  showErrors(result.errors);
}

function put(html) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  signal().replaceWith(document.importNode(holder.content.querySelector("[data-signal]"), true));
}

async function convert(to) {
  const old = signal();
  converting = true;
  const result = await requestPreview(to);
  converting = false;
  if (!result)
    return showErrors({ [old.querySelector("[name^=payload]").name]: "No connection: nothing was changed." });
  if (result.signal) {
    put(result.signal);
    if (to.startsWith("example") && old.querySelector("textarea, [data-row]")) offerPrevious(old);
  }
  show(result);
  const name = to.startsWith("example") ? "example" : to;
  section.querySelector(`[data-turn="${name}"]`)?.focus();
  section.dispatchEvent(new CustomEvent("studio:changed", { bubbles: true }));
}

// The signal that an example replaced can be restored.
function offerPrevious(old) {
  before = old;
  const back = document.createElement("button");
  Object.assign(back, { type: "button", className: "link small", textContent: "Restore the previous signal" });
  back.addEventListener("click", () => {
    signal().replaceWith(before);
    section.dispatchEvent(new CustomEvent("studio:changed", { bubbles: true }));
    section.querySelector('[data-turn="example"]').focus();
  });
  signal().append(back);
}

if (section && !form.querySelector(":scope > fieldset[disabled]")) {
  const soon = later(350, async () => {
    if (converting || form.elements.trigger.value === "user_message") return;
    const result = await requestPreview();
    if (result) show(result);
  });
  for (const kind of ["input", "change", "studio:changed"]) section.addEventListener(kind, soon);
  section.addEventListener("click", (event) => {
    const button = event.target.closest("[data-turn]");
    if (!button) return;
    event.preventDefault();
    const to = button.dataset.turn;
    if (to !== "example" && to === signal().querySelector('[name="payload_as"]').value) return;
    convert(to === "example" ? `example:${section.querySelector('[name="example"]').value}` : to);
  });
}
