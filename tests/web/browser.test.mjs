// Runs the tests of session.mjs in headless Chromium, from a local server.
import assert from "node:assert/strict";
import {spawn, spawnSync} from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import {after, before, test} from "node:test";

import {folder, root} from "./built.mjs";

const TYPES = {
  ".html": "text/html",
  ".mjs": "text/javascript",
  ".wasm": "application/wasm",
  ".css": "text/css"
};
const PAGE =
  `<!doctype html><meta charset="utf-8"><script type="module" src="/start.mjs"></script>`;
const SCRIPT = `
import { Session } from "/web/${path.basename(folder)}/session.mjs";
import { tests } from "/tests/session.mjs";
let found;
try {
  found = await tests[location.hash.slice(1)](Session);
} catch (error) {
  found = { failed: String(error.stack) };
}
fetch("/found", { method: "POST", body: JSON.stringify(found) });`;

const chromium = ["chromium", "chromium-browser", "google-chrome"].find(
  (name) => spawnSync(name, ["--version"]).status === 0);
const skip = chromium ? false : "no headless browser is installed (apt-get install chromium)";
let server, deliver;

before(async () => {
  const places = {"/web/": path.join(root, "build/web/"), "/tests/": path.join(root, "tests/web/")};
  server = http.createServer((request, response) => {
    if (request.url === "/found") {
      let text = "";
      request.on("data", (part) => text += part).on("end", () => deliver(JSON.parse(text)));
      return response.end();
    }
    const place = Object.keys(places).find((start) => request.url.startsWith(start));
    const file = place && places[place] + request.url.slice(place.length);
    const body = request.url === "/" ? PAGE :
      request.url === "/start.mjs"   ? SCRIPT :
      file && fs.existsSync(file)    ? fs.readFileSync(file) :
                                       undefined;
    response.writeHead(body ? 200 : 404, {
      "content-type": TYPES[path.extname(request.url)]
        ?? (request.url === "/" ? "text/html" : "application/octet-stream")
    });
    response.end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
});

after(() => server.close());

// What a test of session.mjs finds in the browser.
async function load(name) {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), "roper-"));
  const found = new Promise((resolve) => {
    deliver = resolve;
  });
  const browser = spawn(chromium,
    [
      "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", `--user-data-dir=${profile}`,
      `http://127.0.0.1:${server.address().port}/#${name}`
    ],
    {stdio: "ignore"});
  const ended = new Promise((resolve) => browser.on("exit", resolve));
  const result = await Promise.race([found, ended.then(() => ({failed: "the browser has ended"}))]);
  browser.kill();
  await ended;
  fs.rmSync(profile, {recursive: true, force: true, maxRetries: 10});
  assert.equal(result.failed, undefined);
  return result;
}

test("a session shows values, errors, figures, completion and help", {skip}, async () => {
  const {figure, ready, first, ...found} = await load("values");
  console.log(`ready after ${ready.toFixed(0)} ms, first value after ${first.toFixed(0)} ms`);
  assert.ok(figure);
  assert.deepEqual(found, {
    output: "hello\n",
    values: ["3 (float32)"],
    wrong: 'a tensor has no field "summ"; did you mean "sum"?',
    names: ["roper.attention_weights"],
    start: 4,
    help: "roper.zeros(shape, dtype?)",
    states: ["loading", "ready", "busy", "ready"]
  });
});

test("an interrupt stops Lua code, a C function and a kernel, and keeps variables", {skip},
  async () => {
    const {suspends, loop, sorting, kernel, values} = await load("interrupts");
    assert.equal(loop.error, "interrupted");
    if (suspends) assert.deepEqual([sorting.error, kernel.error], ["interrupted", "interrupted"]);
    assert.deepEqual(values, ["5"]);
    const times = [loop, sorting, kernel].map(({milliseconds}) => milliseconds?.toFixed(0));
    console.log(`interrupted after ${times.join(", ")} ms`);
  });

test("an interrupt stops Lua code without Promise Integration", {skip}, async () => {
  assert.equal((await load("hook")).loop.error, "interrupted");
});

test("files are read and written, and survive a reset", {skip}, async () => {
  assert.deepEqual(await load("files"), {
    values: ["\"banana\"", "true\t\"banana\""],
    list: ["data/text.txt", "new.txt"],
    made: "made",
    missing: "noent /home/new.txt"
  });
});

test("a dead engine is reported and started again, with the files", {skip}, async () => {
  const {error, failures, values} = await load("death");
  assert.match(error, /^the engine has stopped \(.*\) and was started again; variables are lost$/);
  assert.equal(failures.length, 1);
  assert.deepEqual(values, ["\"kept\""]);
});

test("training runs, and writes its files with the commit and the browser", {skip}, async () => {
  const {status, error, list, commit, processor} = await load("training");
  assert.deepEqual([status, error], [0, undefined]);
  assert.ok(list.includes("runs/copy-roper-1/metrics.jsonl"));
  const isTracked = spawnSync("git", ["ls-files", "--error-unmatch", "Makefile"], {cwd: root});
  assert.match(String(commit), isTracked.status === 0 ? /^[0-9a-f]{12}(-dirty)?$/ : /^undefined$/);
  assert.match(processor, /^Chrome \d+$/);
});
