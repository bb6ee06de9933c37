// The signal that opens a session. The server converts it between fields and JSON, so that nothing is lost; what the
// assistant receives first is previewed while it is written.
import { asText, form, later, words } from "../drafts/form.js";

const section = form?.querySelector("[data-signal-address]");
const signal = () => section.querySelector("[data-signal]");
let before = null; // the signal that an example took the place of
/** @type {AbortController | null} */
let running = null;
let turning = false; // then nothing newer is asked: it would call off the turn

async function ask(to) {
  running?.abort();
  const own = new AbortController();
  running = own;
  const data = words();
  if (to) data.set("to", to);
  data.set("kind", "1");
  const body = new URLSearchParams(asText(data));
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

function tell(errors) {
  for (const old of section.querySelectorAll("[data-error]")) old.remove();
  for (const [name, sentence] of Object.entries(errors)) {
    const input = section.querySelector(`[name="${CSS.escape(name)}"]`) ?? signal().lastElementChild;
    if (input.parentElement.querySelector(".error:not([data-error])")?.textContent === sentence) continue;
    const said = document.createElement("p");
    Object.assign(said, { className: "error", textContent: sentence });
    said.setAttribute("role", "status");
    said.dataset.error = "";
    input.after(said);
  }
  for (const input of section.querySelectorAll("[data-signal] :is(textarea, input)")) {
    if (input.name in errors) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
  }
}

function show(said) {
  section.querySelector("[data-opening]").textContent = said.opening;
  if (said.examples) {
    const choice = section.querySelector('[name="example"]');
    if ([...choice.options].map((option) => option.text).join("\n") !== said.examples.join("\n"))
      choice.replaceChildren(...said.examples.map((name, at) => new Option(name, at)));
  }
  tell(said.errors);
}

function put(html) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  signal().replaceWith(document.importNode(holder.content.querySelector("[data-signal]"), true));
}

async function turn(to) {
  const old = signal();
  turning = true;
  const said = await ask(to);
  turning = false;
  if (!said) return tell({ [old.querySelector("[name^=payload]").name]: "No connection: nothing was changed." });
  if (said.signal) {
    put(said.signal);
    if (to.startsWith("example") && old.querySelector("textarea, [data-row]")) offer(old);
  }
  show(said);
  const name = to.startsWith("example") ? "example" : to;
  section.querySelector(`[data-turn="${name}"]`)?.focus();
  section.dispatchEvent(new CustomEvent("studio:changed", { bubbles: true }));
}

// The signal that an example replaced can be restored.
function offer(old) {
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
    if (turning || form.elements.trigger.value === "user_message") return;
    const said = await ask();
    if (said) show(said);
  });
  for (const kind of ["input", "change", "studio:changed"]) section.addEventListener(kind, soon);
  section.addEventListener("click", (event) => {
    const button = event.target.closest("[data-turn]");
    if (!button) return;
    event.preventDefault();
    const to = button.dataset.turn;
    if (to !== "example" && to === signal().querySelector('[name="payload_as"]').value) return;
    turn(to === "example" ? `example:${section.querySelector('[name="example"]').value}` : to);
  });
}
