// Random input of tests/fuzz in the engine: cells of a page's session, calls of all functions,
// texts for readers, and programs that are compared with the reference in plain Lua.
import assert from "node:assert/strict";
import {spawnSync} from "node:child_process";
import path from "node:path";
import {test} from "node:test";

import {root} from "./built.mjs";

const SEED = "20";
const PATIENCE = 120_000; // milliseconds until a kind counts as stuck

for (const [kind, count] of Object.entries({lines: 1000, calls: 1000, texts: 1000, programs: 1000}))
  test(`${count} random ${kind} give values or messages`, () => {
    const command = [path.join(root, "tests/web/fuzz.mjs"), kind, SEED, String(count)];
    const {stdout, stderr, error} =
      spawnSync(process.execPath, command, {encoding: "utf8", timeout: PATIENCE});
    assert.equal(error, undefined);
    assert.notEqual(stdout, "", stderr);
    const {number, problems, failure, done} = JSON.parse(stdout);
    assert.deepEqual({problems, failure, number, done},
      {problems: [], failure: undefined, number: count, done: true});
  });
