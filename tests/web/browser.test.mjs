// Runs the tests of session.mjs in headless Chromium, from a local server.
import assert from "node:assert/strict";
import {spawnSync} from "node:child_process";
import path from "node:path";
import {after, before, test} from "node:test";

import {folder, root} from "./built.mjs";
import {find, serve, start} from "./chromium.mjs";

const program = find();
const skip = program ? false : "no Chromium is installed (apt-get install chromium)";
let server, browser;

before(async () => {
  server = await serve(root);
  if (program) browser = start(program);
});

after(async () => {
  await browser?.close();
  server.close();
});

// What a test of session.mjs finds in the browser. Any document of the server may import it.
async function load(name) {
  const page = await browser.page(server.address);
  await page.open("tests/web/session.mjs");
  const result = await page.evaluate(`(async () => {
    const {Session} = await import("/${path.relative(root, folder)}/session.mjs");
    const {tests} = await import("/tests/web/session.mjs");
    return tests[${JSON.stringify(name)}](Session);
  })()`);
  await page.close();
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
