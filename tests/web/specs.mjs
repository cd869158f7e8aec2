// node tests/web/specs.mjs [FILE ...]: runs the project's specs in the engine, each file in an
// engine of its own, in two threads. Prints failed tests and the reasons of skipped ones.
import fs from "node:fs";
import path from "node:path";
import {isMainThread, parentPort, Worker} from "node:worker_threads";

import {Files, project, root, start} from "./built.mjs";

const PATIENCE = 300000; // milliseconds until a file counts as stuck
const THREADS = 2;

function* specs(folder) {
  for (const name of fs.readdirSync(folder).sort()) {
    const at = path.join(folder, name);
    if (fs.statSync(at).isDirectory()) yield* specs(at);
    else if (name.endsWith("_spec.lua")) yield path.relative(root, at);
  }
}

// The outcomes of the tests of a file: {outcome, title, reason}, ...
async function outcomes(file, archive) {
  const files = new Files();
  files.unpack(archive);
  const begin = performance.now(), list = [];
  let ended;
  const found = await start({
    files,
    suspends: true,
    rest() {
      if (performance.now() - begin > PATIENCE) throw new Error("the spec is stuck");
    },
    send(message) {
      if (message.reply) ended = message.reply;
      else if (message.interrupt) found.engine.interrupt();
      else list.push(message);
    },
  });
  try {
    await found.engine.work({script: ["/roper/tests/web/specs.lua", file]}, 1000);
  } catch (error) {
    ended = {error: String(error)};
  }
  if (ended?.error) list.push({outcome: "failed", title: file, reason: ended.error});
  return list;
}

async function main(chosen) {
  const queue = chosen.length > 0 ? chosen : [...specs(path.join(root, "tests"))];
  const counts = {passed: 0, failed: 0, skipped: 0}, reasons = new Map();
  function report({title, outcome, reason}) {
    counts[outcome]++;
    if (outcome === "failed")
      console.log(`FAILED ${title}\n    ${reason.split("\n").slice(0, 8).join("\n    ")}`);
    if (outcome === "skipped") reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  await Promise.all(Array.from({length: THREADS}, () => new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url));
    worker.once("error", reject).once("exit", resolve);
    worker.on("message", (list) => {
      list.forEach(report);
      worker.postMessage(queue.shift());
    });
  })));
  for (const [reason, count] of [...reasons].sort((a, b) => b[1] - a[1]))
    console.log(`skipped ${count}: ${reason}`);
  console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  process.exitCode = counts.failed > 0 ? 1 : 0;
}

// A thread runs one file after another, until there is none.
function work() {
  const archive = project().pack();
  parentPort.on("message", async (file) => {
    if (file) parentPort.postMessage(await outcomes(file, archive));
    else parentPort.close();
  });
  parentPort.postMessage([]);
}

if (isMainThread) await main(process.argv.slice(2));
else work();
