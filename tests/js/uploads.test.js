import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { $, all, open, send, settled } from "./page.js";

/** @type {any[]} */
let requests = [];
class Request {
  upload = {};
  headers = {};
  open(method, address) {
    Object.assign(this, { method, address });
  }
  setRequestHeader(name, value) {
    this.headers[name] = value;
  }
  send(data) {
    this.data = data;
    requests.push(this);
  }
  answer(status, responseText, responseURL = "/add/") {
    Object.assign(this, { status, responseText, responseURL });
    this.onload();
    return settled();
  }
}

const row = (path, key = path, description = "") =>
  `<div data-row data-file><input type="hidden" name="assets" value="${key}"><input name="assets.${key}.stored" ` +
  `value="stored ${key}"><input name="assets.${key}.path" value="${path}">` +
  `<input name="assets.${key}.description" value="${description}"></div>`;
open(
  '<form id="task" data-autosave="/autosave/"><input name="csrfmiddlewaretoken" value="token">' +
    '<section data-files data-add="/add/" data-most="6" data-largest="1000"><input type="file" data-upload>' +
    '<input type="file" webkitdirectory data-folder><button data-upload-folder></button><button data-file-new></button>' +
    '<span data-drop-hint></span><div data-rows="assets"></div><div data-uploads></div></section></form>',
  { XMLHttpRequest: Request },
);
const { take, free } = await import("../../static/js/tasks/uploads.js");

beforeEach(async () => {
  for (const request of requests) await request.answer(422, '{"problem": "over"}');
  for (const line of all("[data-uploads] button")) if (line.textContent === "Leave out") line.click();
  for (const line of all("[data-uploads] button")) if (/Skip/.test(line.textContent)) line.click();
  requests = [];
  $('[data-rows="assets"]').innerHTML = row("b.txt", "b", "of before");
});
const file = (path, size = 10) => ({ path, file: { name: path, size } });
const lines = () => all("[data-uploads] > .upload").map((one) => one.textContent);
const button = (text) => all("[data-uploads] button").find((one) => one.textContent === text);
const paths = () => all('[data-rows="assets"] [name$=".path"]').map((one) => one.value);
const asks = () => send(window, "beforeunload").defaultPrevented;

test("the browser asks before the page is left while a file is sent or waits, and not after", async () => {
  assert.equal(asks(), false);
  take(["1", "2", "3", "4"].map((name) => file(name)));
  assert.equal(requests.length, 3); // at once
  assert.equal(asks(), true);
  for (const number of [0, 1, 2]) await requests[number].answer(200, row(requests[number].data.get("path")));
  assert.equal(requests.length, 4);
  assert.equal(asks(), true);
  await requests[3].answer(200, row("4"));
  assert.equal(asks(), false);
});

test("a file is sent with its name, the token, and what the task has already", async () => {
  take([file("a.txt")]);
  const [request] = requests;
  assert.deepEqual([request.method, request.address, request.headers["X-CSRFToken"]], ["POST", "/add/", "token"]);
  assert.equal(request.data.get("path"), "a.txt");
  assert.deepEqual(request.data.getAll("taken"), ["b"]);
  assert.deepEqual(request.data.getAll("stored"), ["stored b"]);
  await request.answer(200, row("a.txt"));
  assert.deepEqual(paths(), ["a.txt", "b.txt"]);
  assert.deepEqual(lines(), []);
});

test("rows stand in the order of their names", async () => {
  take([file("c.txt"), file("a.txt")]);
  await requests[0].answer(200, row("c.txt"));
  await requests[1].answer(200, row("a.txt"));
  assert.deepEqual(paths(), ["a.txt", "b.txt", "c.txt"]);
});

test("a file of a name that exists waits for a decision, and is not sent before", () => {
  take([file("B.txt")]);
  assert.equal(requests.length, 0);
  assert.match(lines()[0], /already exists/);
  assert.equal(asks(), false);
  button("Skip").click();
  assert.deepEqual([requests.length, lines()], [0, []]);
});

test("it replaces the other, whose description it keeps, or gets a name of its own", async () => {
  take([file("b.txt")]);
  button("Replace it").click();
  assert.deepEqual(requests[0].data.getAll("taken"), []);
  await requests[0].answer(200, row("b.txt", "new"));
  assert.deepEqual(paths(), ["b.txt"]);
  assert.equal($('[name="assets.new.description"]').value, "of before");
  take([file("b.txt")]);
  button("Keep both").click();
  assert.equal(requests[1].data.get("path"), "b-2.txt");
  await requests[1].answer(200, row("b-2.txt"));
  assert.deepEqual(paths(), ["b-2.txt", "b.txt"]);
});

test("one decision does for all names that exist", () => {
  $('[data-rows="assets"]').innerHTML = row("b.txt") + row("c.txt");
  take([file("b.txt"), file("c.txt")]);
  assert.match(lines()[0], /^2 names already exist/);
  button("Skip all").click();
  assert.deepEqual([requests.length, lines()], [0, []]);
});

test("what is too large or too many is not sent, and said", () => {
  take([file("a.txt", 1001)]);
  assert.match(lines()[0], /The file is 1.0 kB; the limit is 1.0 kB/);
  take(["1", "2", "3", "4", "5", "6"].map((name) => file(name)));
  assert.equal(requests.length, 3);
  assert.match(lines().at(-1) ?? "", /at most 6 files/);
  assert.equal(lines().length, 7);
});

test("a file of exactly the limit is sent, and what systems leave in folders is not", () => {
  take([file("a.txt", 1000), file("x/.DS_Store"), file("__MACOSX/x/a.txt"), file("Thumbs.db")]);
  assert.deepEqual(
    requests.map((request) => request.data.get("path")),
    ["a.txt"],
  );
});

test("a refused file says why, and one without an answer is sent again when the browser is back online", async () => {
  take([file("a.txt"), file("c.txt"), file("d.txt")]);
  await requests[0].answer(422, '{"problem": "It leads out."}');
  requests[1].onerror();
  await requests[2].answer(403, "");
  assert.match(lines()[0], /It leads out\.Leave out$/);
  assert.match(lines()[1], /No connection.*Try again/);
  assert.match(lines()[2], /signed out.*Try again/);
  send(window, "online");
  assert.deepEqual(
    requests.map((request) => request.data.get("path")),
    ["a.txt", "c.txt", "d.txt", "c.txt"],
  );
});

test("a free name is none of the rows' and of what is under way", () => {
  take([file("b-2.txt")]);
  assert.equal(free("b.txt"), "b-3.txt");
});
