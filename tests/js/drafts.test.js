import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { $, all, open, page, send, settled, type } from "./page.js";

mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });

/** @type {any[]} */
const requests = [];
let version = 3;
let draft = 5;
/** @type {any} what the server answers, beside version and draft; a number is a status, "" no connection */
let said = {};
function answer(method, body) {
  if (said === "") throw new TypeError("offline");
  if (typeof said === "number") return { status: said, ok: false };
  if (body?.get("save_version") && !said.problem) version++;
  if (method === "POST" && !body.get("peek") && !body.get("keep_discarded")) draft++;
  const versioned = Boolean(body?.get("save_version")) && !said.problem;
  return { status: 200, ok: true, json: async () => ({ version, draft, versioned, others: [], ...said }) };
}
async function fetch(address, { method = "GET", body = null, headers = {}, keepalive = false } = {}) {
  if (address === location.pathname) return { ok: true, status: 200, text: async () => "<p></p>" };
  const sent = body && new URLSearchParams(body.toString());
  requests.push({ address, method, body: sent, headers, keepalive });
  return answer(method, sent);
}

open(
  '<header class="top"></header><p data-save-status></p><p data-presence></p>' +
    '<form id="task" data-guard data-autosave="/autosave/" data-user="7">' +
    '<input type="hidden" name="csrfmiddlewaretoken" value="token"><input type="hidden" name="base_version" value="3">' +
    '<input type="hidden" name="base_draft" value="5"><div data-conflict-summary></div>' +
    '<input name="title" value="Bread"><textarea name="description"></textarea><button data-save></button>' +
    '<button data-discard="/elsewhere/" id="discard"></button></form>' +
    '<form id="submit" method="post"><button name="do" value="submit"></button></form>',
  { fetch },
);
document.body.setAttribute("data-sign-in", "/login/");
await import("../../static/js/shared/unsaved.js");
await import("../../static/js/drafts/autosave.js");
await settled();
requests.length = 0;

const title = () => $("[name=title]");
const status = () => $("[data-save-status]").textContent;
const notice = () => document.querySelector(".save-notice");
const copies = () =>
  Object.entries(localStorage)
    .filter(([name]) => name.startsWith("studio:words:7:/page/:"))
    .map(([, copy]) => JSON.parse(copy).words);
const asks = () => send(window, "beforeunload").defaultPrevented;
async function after(milliseconds) {
  mock.timers.tick(milliseconds);
  await settled();
}
/** What was sent since it was last asked. */
function sent() {
  return requests.splice(0).map(({ body }) => body && Object.fromEntries(body));
}

test("what is typed is sent once the typing pauses, and is in the browser before", async () => {
  type(title(), "Rye");
  await after(300);
  assert.deepEqual(copies()[0].at(-2), ["title", "Rye"]);
  assert.equal(requests.length, 0);
  await after(1000);
  assert.equal(requests.length, 1);
  const [{ address, method, headers, body }] = requests;
  assert.deepEqual(
    [address, method, headers["X-CSRFToken"], headers["X-Studio-Person"]],
    ["/autosave/", "POST", "token", "7"],
  );
  assert.deepEqual([body.get("title"), body.get("base_version"), body.get("base_draft")], ["Rye", "3", "5"]);
  assert.equal(body.get("save_version"), null);
  assert.ok(body.get("window"));
  assert.equal($("[name=base_draft]").value, "6");
  assert.match(status(), /^Draft saved just now · not in a version yet/);
  assert.deepEqual(copies(), []);
  assert.equal(asks(), false);
  sent();
});

test("whoever types without a pause is saved all the same", async () => {
  for (const text of ["R", "Ry", "Rye", "Rye b", "Rye br", "Rye bre"]) {
    type(title(), text);
    await after(400);
  }
  assert.equal(sent()[0].title, "Rye br"); // 1.9 seconds after the first key
  await after(5000);
  sent();
});

test("without a connection the text stays in the browser and is sent when the connection is back", async () => {
  said = "";
  type(title(), "Offline");
  await after(1300);
  assert.match(status(), /No connection/);
  assert.deepEqual(copies()[0].at(-2), ["title", "Offline"]);
  assert.equal(asks(), false);
  said = {};
  sent();
  send(window, "online");
  await settled();
  assert.equal(sent()[0].title, "Offline");
  assert.deepEqual(copies(), []);
});

test("a failed save is tried again by itself", async () => {
  said = 500;
  type(title(), "Broken");
  await after(1300);
  assert.match(status(), /Server error/);
  said = {};
  sent();
  await after(10_000);
  assert.equal(sent()[0].title, "Broken");
  assert.match(status(), /^Draft saved/);
});

test("who is signed out is told, with a way in, and nothing is lost", async () => {
  said = 403;
  type(title(), "Signed out");
  await after(1300);
  assert.match(notice().textContent, /You are signed out.*Sign in/);
  assert.deepEqual(copies()[0].at(-2), ["title", "Signed out"]);
  said = {};
  sent();
  send(window, "storage", { key: "studio:signed-in" });
  await settled();
  assert.equal(sent()[0].title, "Signed out");
  assert.equal(notice(), null);
});

test("what is typed while a save is under way is sent after it, once", async () => {
  /** @type {any} */
  let release;
  said = { held: new Promise((done) => (release = done)) };
  const whole = globalThis.fetch;
  globalThis.fetch = async (...asked) => {
    const found = await whole(...asked);
    if (asked[1]?.body) await said.held;
    return found;
  };
  type(title(), "First");
  await after(1300);
  type(title(), "Second");
  await after(1300);
  assert.deepEqual(
    sent().map((body) => body?.title),
    ["First"],
  );
  globalThis.fetch = whole;
  said = {};
  release();
  await settled();
  await after(0);
  assert.deepEqual(
    sent().map((body) => body?.title),
    ["Second"],
  );
  assert.equal($("[name=title]").value, "Second");
});

test("the Save button makes a version, and says so", async () => {
  $("[data-save]").click();
  await settled();
  assert.deepEqual(
    sent().map((body) => body?.save_version),
    ["1"],
  );
  assert.match(status(), /^Saved as version 4/);
  assert.equal($("[name=base_version]").value, "4");
  assert.deepEqual(page.submitted, []);
});

test("a version that failed is asked for again by the next save of the same text", async () => {
  said = "";
  $("[data-save]").click();
  await settled();
  assert.match(notice().textContent, /^Not saved as a version: there is no connection/);
  said = {};
  sent();
  send(window, "online");
  await settled();
  assert.deepEqual(
    sent().map((body) => body?.save_version),
    ["1"],
  );
  assert.equal(notice(), null);
});

test("after more was typed a failed version is offered, not made", async () => {
  said = "";
  $("[data-save]").click();
  await settled();
  said = {};
  sent();
  type(title(), "And more");
  await after(1300);
  assert.deepEqual(
    sent().map((body) => body?.save_version),
    [undefined],
  );
  assert.match(notice().textContent, /The version you asked for is not/);
  notice().querySelector("button").click();
  await settled();
  assert.deepEqual(
    sent().map((body) => body?.save_version),
    ["1"],
  );
});

test("a text that can be no version is a draft, with the error beside its field", async () => {
  said = { problem: "The title is too long.", errors: { title: "Too long." } };
  $("[data-save]").click();
  await settled();
  assert.match(status(), /Draft saved; not saved as a version/);
  assert.equal(title().getAttribute("aria-invalid"), "true");
  assert.equal(title().nextElementSibling.textContent, "Too long.");
  said = {};
  $("[data-save]").click();
  await settled();
  assert.equal(title().hasAttribute("aria-invalid"), false);
  assert.equal(document.querySelector("[data-save-error]"), null);
  sent();
});

test("who else is here is said", async () => {
  said = { others: ["Ada"] };
  await after(10_000);
  assert.equal($("[data-presence]").textContent, "Ada is here");
  said = { others: ["Ada", "Bo"] };
  await after(10_000);
  assert.equal($("[data-presence]").textContent, "Ada, Bo are here");
  said = {};
  await after(10_000);
  assert.equal($("[data-presence]").textContent, "");
  sent();
});

test("a page in the background asks nothing", async () => {
  document.hidden = true;
  await after(30_000);
  assert.deepEqual(sent(), []);
  document.hidden = false;
});

test("a page that is behind shows what others saved, and writes nothing", async () => {
  version += 1;
  said = { versioned: true };
  await after(10_000);
  const [beat, peek, ...more] = sent();
  assert.deepEqual([beat, peek.peek, more.length], [null, "1", 0]);
  assert.equal($("[name=base_version]").value, String(version));
  assert.equal(status(), `v${version}`);
  said = {};
});

test("of two windows' texts one is chosen; its own is sent over the other", async () => {
  said = { elsewhere: true };
  type(title(), "Here");
  await after(1300);
  assert.match(notice().textContent, /You typed here and in another window/);
  assert.deepEqual(copies()[0].at(-2), ["title", "Here"]);
  said = {};
  sent();
  all(".save-notice button")[0].click();
  await settled();
  assert.deepEqual(
    sent().map((body) => [body?.keep_mine, body?.title]),
    [["1", "Here"]],
  );
  assert.equal(notice(), null);
  type(title(), "Here again");
  await after(1300);
  assert.deepEqual(
    sent().map((body) => body?.keep_mine),
    [undefined],
  );
});

test("another form of the page is sent after what was typed is saved", async () => {
  type(title(), "Before submission");
  $("#submit button").click();
  assert.deepEqual(page.submitted, []);
  await settled();
  assert.equal(sent()[0].title, "Before submission");
  assert.deepEqual(
    page.submitted.splice(0).map((form) => form.id),
    ["submit"],
  );
  send(window, "pageshow", { persisted: true });
  await settled();
  sent();
});

test("another form is not sent while what was typed cannot be saved", async () => {
  said = "";
  type(title(), "Not yet");
  $("#submit button").click();
  await settled();
  assert.deepEqual(page.submitted, []);
  said = {};
  send(window, "online");
  await settled();
  sent();
});

test("nothing is sent of a page that is left as it was saved", () => {
  send(window, "pagehide");
  assert.deepEqual(sent(), []);
  assert.deepEqual(copies(), []);
});

test("a page that is left with unsaved text sends it, and keeps it in the browser", async () => {
  type(title(), "Left");
  assert.equal(asks(), false);
  send(window, "pagehide");
  assert.deepEqual([requests[0].keepalive, requests[0].body.get("title")], [true, "Left"]);
  assert.deepEqual(copies()[0].at(-2), ["title", "Left"]);
  await settled();
  send(window, "online");
  await settled();
  sent();
});

test("the browser asks where the text is neither saved nor can be kept", async () => {
  page.full = true;
  type(title(), "Full");
  assert.equal(asks(), true);
  page.full = false;
  assert.equal(asks(), false);
  await after(1300);
  sent();
});

test("a conflict keeps the text from being a version until it is resolved", async () => {
  const box =
    '<div data-conflict="1" data-input="title"><input data-theirs value="Theirs"><button data-resolve name="take"></button></div>';
  $("[data-conflict-summary]").innerHTML = box;
  $("[data-save]").click();
  await settled();
  assert.equal(status(), "Resolve the conflict first");
  assert.deepEqual(sent(), []);
  send($("[data-resolve]"), "click");
  await settled();
  assert.equal(document.querySelector("[data-conflict]"), null);
  assert.equal(title().value, "Theirs");
  assert.deepEqual(
    sent().map((body) => [body?.title, body?.keep_discarded]),
    [
      ["Full", "1"],
      ["Theirs", undefined],
    ],
  );
});

test("discarded text is forgotten here once the server has forgotten it, and not before", async () => {
  said = "";
  type(title(), "Discarded");
  await after(300);
  $("#discard").click();
  await settled();
  assert.deepEqual(page.opened, []);
  assert.equal(copies().length, 1);
  said = {};
  sent();
  $("#discard").click();
  await settled();
  assert.deepEqual(
    sent().map((body) => body?.discard),
    ["1"],
  );
  assert.deepEqual(page.opened, ["/elsewhere/"]);
  assert.deepEqual(copies(), []);
  type(title(), "Too late");
  await after(20_000);
  assert.deepEqual([copies(), sent()], [[], []]);
});
