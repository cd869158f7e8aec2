// node tests/web/specs.mjs [FILE ...]: runs the project's specs in the engine, each file in an
// engine of its own, and prints failed tests and the reasons of skipped ones.
import fs from "node:fs";
import path from "node:path";

import {copy, Files, root, start} from "./built.mjs";

const PATIENCE = 300000; // milliseconds until a file counts as stuck
const LIBRARIES = "/usr/share/lua/5.4";

function* specs(folder) {
  for (const name of fs.readdirSync(folder).sort()) {
    const at = path.join(folder, name);
    if (fs.statSync(at).isDirectory()) yield* specs(at);
    else if (name.endsWith("_spec.lua")) yield path.relative(root, at);
  }
}

const common = new Files();
for (const name of ["bindings", "core", "scripts", "tasks", "tests"])
  copy(common, path.join(root, name), `/roper/${name}`);
common.put(
  "/roper/roper", new Uint8Array(0)); // specs find the program, and then that none can be started
for (const name of ["README.md", "Makefile", "CHANGELOG.md", "LICENSE"]) copy1(name);
for (const name of ["luassert", "say"]) copy(common, path.join(LIBRARIES, name), `/lua/${name}`);
function copy1(name) {
  common.put(`/roper/${name}`, new Uint8Array(fs.readFileSync(path.join(root, name))));
}
const archive = common.pack();

const counts = {
  passed: 0,
  failed: 0,
  skipped: 0
},
      reasons = new Map();

async function run(file) {
  const files = new Files();
  files.unpack(archive);
  const begin = performance.now();
  let ended;
  const found = await start({
    files,
    suspends: true,
    rest: () => {
      if (performance.now() - begin > PATIENCE) throw new Error("the spec is stuck");
    },
    send: (message) => {
      if (message.reply) ended = message.reply;
      else if (message.interrupt) found.engine.interrupt();
      else {
        const {title, outcome, reason} = message;
        counts[outcome]++;
        if (outcome === "failed")
          console.log(`FAILED ${title}\n    ${reason.split("\n").slice(0, 8).join("\n    ")}`);
        if (outcome === "skipped") reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
      }
    }
  });
  try {
    await found.engine.work({script: ["/roper/tests/web/specs.lua", file]}, 1000);
  } catch (error) {
    ended = {error: String(error)};
  }
  if (ended?.error) {
    counts.failed++;
    console.log(`FAILED ${file}: ${ended.error}`);
  }
}

const chosen = process.argv.slice(2);
for (const file of chosen.length > 0 ? chosen : specs(path.join(root, "tests"))) {
  await run(file);
}
for (const [reason, count] of [...reasons].sort((a, b) => b[1] - a[1]))
  console.log(`skipped ${count}: ${reason}`);
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exitCode = counts.failed > 0 ? 1 : 0;
