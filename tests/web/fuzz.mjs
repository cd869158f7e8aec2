// node tests/web/fuzz.mjs KIND SEED COUNT: runs random input of tests/fuzz in the engine, and
// interrupts it when it is slow. Prints what happened as JSON.
import {project, start} from "./built.mjs";

const IMPATIENCE = 300; // milliseconds

const [kind, seed, count] = process.argv.slice(2);
const result = {
  number: 0,
  interrupts: 0,
  problems: []
};
let rest = "", input, began, pressed;

function receive(line) {
  const [number, text] = line.split("\t");
  if (line === "done") result.done = true;
  else if (number === "problem") result.problems.push(`${input}: ${text}`);
  else {
    Object.assign(result, {number: Number(number)});
    input = text;
    began = performance.now();
    pressed = false;
  }
}

const {engine} = await start({
  files: project(),
  suspends: true,
  output(stream, text) {
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    lines.forEach(receive);
  },
  send({reply}) {
    result.failure = reply?.error;
  },
  rest() {
    if (!result.number || performance.now() - began < IMPATIENCE) return;
    if (!pressed) result.interrupts++;
    pressed = true;
    engine.interrupt();
  },
});
try {
  await engine.work({script: ["/roper/tests/web/fuzz.lua", kind, seed, count]}, IMPATIENCE / 10);
} catch (error) {
  result.failure = `${input}: ${error.stack}`;
}
console.log(JSON.stringify(result));
