// node tests/web/specs.mjs [FILE ...]: runs the project's specs in the engine, each file in an
// engine of its own, and prints failed tests and the reasons of skipped ones.
import fs from "node:fs";
import path from "node:path";

import {Files, project, root, start} from "./built.mjs";

const PATIENCE = 300000; // milliseconds until a file counts as stuck

function* specs(folder) {
  for (const name of fs.readdirSync(folder).sort()) {
    const at = path.join(folder, name);
    if (fs.statSync(at).isDirectory()) yield* specs(at);
    else if (name.endsWith("_spec.lua")) yield path.relative(root, at);
  }
}

const archive = project().pack();

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
