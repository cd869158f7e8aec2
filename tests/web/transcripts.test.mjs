// The sessions and command lines of README, the guide and tests/transcripts in a page, which shows
// the text of the terminal, except for the lines in DIFFERENCES.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import {test} from "node:test";

import {Files, root, start} from "./built.mjs";

const PROMPT = "> ", MORE = ">> ", COMMAND = "$ ";

// By transcript and typed line, what a page does.
const EDITOR = "has no editor that changes the function",
      BLOCK = "runs a block when all of it is typed";
const DIFFERENCES = {
  "session/commands.txt": {
    "%prof roper.eye(3) error('boom')": "shows the error of an input after its output",
    "%pwd": "has not made the folder of %cd",
  },
  "session/debugging.txt": {"f(7)": EDITOR, x: EDITOR},
  "session/first_hour.txt": {"plot.heatmap(roper.randn(200, 200))": "draws figures"},
  "session/pasting.txt": {a: BLOCK, "a = 1": BLOCK, "a = 3": BLOCK},
  "command/lesson.txt": {"./roper lesson --html /dev/null/x my_own.lua": "has no devices"},
  "command/own_names.txt": {
    "./roper runs sweep 'position=near{power=2.0},rope' --load near.lua":
      "has not run the sweep into a pipe"
  },
};
const NO_PROGRAM = /a page (starts no|cannot start other) programs/;

const encoder = new TextEncoder();
const read = (name) => fs.readFileSync(path.join(root, name), "utf8");
const starts = (line, prompt) => line?.startsWith(prompt) || line === prompt.trimEnd();

// Does a text consist of the expected lines? "..." is any text in a line; alone, any lines.
function fits(expected, shown) {
  const escape = (text) => text.replace(/[$()*+.?[\\\]^{|}]/g, "\\$&");
  const pattern = expected.map(
    (line) => line === "..." ? "(?:.*\n)*?" : `${line.split("...").map(escape).join(".*?")}\n`);
  return new RegExp(`^${pattern.join("")}$`).test(shown);
}

const tidy = (text) =>
  `${text.replaceAll("/home", "~").replace(/[^\S\n]+$/gm, "").trimEnd()}\n`.replace(/^\n$/, "");

// A session as in a page, with the text that it shows.
async function open(files) {
  const page = {shown: ""};
  let reply;
  const {engine} = await start({
    files,
    output: (stream, text) => page.shown += text,
    send(message) {
      const text = message.data?.["text/plain"];
      if (message.reply) reply = message.reply;
      else if (message.kind === "display_data") page.shown += "[figure]\n";
      else if (text) page.shown += `${text}\n`;
    }
  });
  page.ask = (request) => {
    assert.equal(engine.ask(request), 0);
    return reply;
  };
  page.execute = (text) => {
    const {error} = page.ask({execute: text});
    if (error) page.shown += `error: ${error}\n`;
  };
  page.run = (words) => {
    const {status, error} = page.ask({run: words});
    page.shown += error ? `error: ${error}\n` : status === 0 ? "" : `[exit status ${status}]\n`;
  };
  return page;
}

// A transcript: its typed and shown lines, without their indent, with undefined for prose.
class Transcript {
  constructor(text, found) {
    this.lines = text.split("\n").map((line) => line === "" ? "" : line.match(/^ {2}(.*)/)?.[1]);
    Object.assign(this, {at: 0, files: new Files(), found});
  }

  // The place of the next line that is typed, of this command or of the next one.
  next(prompt) {
    let i = this.at;
    while (i < this.lines.length && !this.lines[i]?.startsWith(COMMAND)
      && !(prompt && starts(this.lines[i], prompt)))
      i++;
    return i;
  }

  // Reports what is shown after a typed line, and goes to the next one.
  compare(typed, shown, prompt) {
    const next = this.next(prompt), expected = [];
    while (this.at < next && this.lines[this.at] !== undefined)
      expected.push(this.lines[this.at++].trimEnd());
    while (expected.at(-1) === "") expected.pop();
    this.at = next;
    this.found(typed, expected, tidy(shown));
  }

  async session() {
    const page = await open(this.files);
    let rest = ""; // of a shown line without an end, before the prompt
    this.at = this.next(PROMPT);
    while (starts(this.lines[this.at], rest + PROMPT)) {
      const typed = this.lines[this.at++].slice(rest.length + PROMPT.length);
      let text = typed;
      for (;;) {
        for (; starts(this.lines[this.at], "| "); this.at++)
          text += `\n${this.lines[this.at].slice(2)}`;
        if (text.endsWith("^C") || page.ask({is_complete: text}).complete) break;
        assert.ok(starts(this.lines[this.at], MORE), `${typed} needs more lines`);
        text += `\n${this.lines[this.at++].slice(MORE.length)}`;
      }
      page.shown = "";
      if (!text.endsWith("^C")) page.execute(text);
      this.upload(text);
      const end = page.shown.lastIndexOf("\n") + 1;
      rest = page.shown.slice(end);
      this.compare(typed, page.shown.slice(0, end), rest + PROMPT);
    }
  }

  // In place of a program that writes a text to a file.
  upload(line) {
    const [, text, name] = line.match(/^!?(?:echo|printf) '([^']*)' ?> ?'?([^';]*)'?$/) ?? [];
    if (name) this.files.put(`/home/${name}`, encoder.encode(`${text.replaceAll("\\n", "\n")}\n`));
  }

  // A command line, or a file with lines up to a mark.
  async command(typed) {
    const [, name, mark] = typed.match(/^cat >([\w.]+) <<'?(\w+)'?$/) ?? [];
    if (name) {
      const end = this.lines.indexOf(mark, this.at);
      this.files.put(
        `/home/${name}`, encoder.encode(`${this.lines.slice(this.at, end).join("\n")}\n`));
      this.at = end + 1;
      this.compare(typed, "");
    } else if (/^\.\/roper( ('[^']*'|"[^"]*"|[\w.=,/:+-]+))+$/.test(typed)) {
      const page = await open(this.files);
      page.run(typed.match(/'[^']*'|"[^"]*"|\S+/g)
                 .slice(1)
                 .map((word) => word.replaceAll(/^['"]|['"]$/g, "")));
      this.compare(typed, page.shown);
    } else {
      while (this.lines[this.at - 1].endsWith("\\")) this.at++;
      this.upload(typed);
      this.compare(typed, "a page starts no programs");
    }
  }

  async replay() {
    for (this.at = this.next(); this.at < this.lines.length;) {
      const typed = this.lines[this.at++].slice(COMMAND.length);
      await (typed === "./roper" ? this.session() : this.command(typed));
    }
  }
}

const sources = {};
for (const folder of ["session", "command"])
  for (const name of fs.readdirSync(path.join(root, "tests/transcripts", folder)))
    sources[`${folder}/${name}`] = read(`tests/transcripts/${folder}/${name}`);
const guide = read("scripts/GUIDE.md");
const indent = (text) => text.replace(/^/gm, "  ").replace(/^( *> roper\.train.*)$/gm, "$1\n  ...");
sources["README.md"] =
  indent(`$ ./roper\n${read("README.md").match(/\n```\n\$ \.\/roper\n.*\n(> [^]*?)```\n/)[1]}`);
sources["GUIDE.md, published models"] =
  indent(`$ ./roper\n${guide.match(/\n## Published models\n[^]*?```\n(> [^]*?)```\n/)[1]}`);
const [, own, shown] = guide.match(/\n```lua\n(Own = [^]*?)```\n[^]*?\n```\n(> dofile[^]*?)```\n/);
sources["GUIDE.md, a model"] = indent(`$ cat >own.lua <<END\n${own}END\n$ ./roper\n${shown}`);

// Files that a program would write: > FILE, cp FILE FILE, ...
const written = (line) =>
  Array.from(line.matchAll(/(?:>|\b(?:cp|ln) .* |\b(?:mkdir|touch) )'?([\w%.][\w%. ]*)/g),
    ([, name]) => name.trim());

for (const [name, text] of Object.entries(sources)) {
  test(name, async (t) => {
    const differences = DIFFERENCES[name] ?? {}, unused = new Set(Object.keys(differences));
    const counts = new Map(), wrong = [], lacking = [];
    const count = (what) => counts.set(what, (counts.get(what) ?? 0) + 1);
    await new Transcript(text, (typed, expected, shown) => {
      if (fits(expected, shown)) count("as in the terminal");
      else if (unused.delete(typed) || differences[typed])
        count(`other, since a page ${differences[typed]}`);
      else if (NO_PROGRAM.test(shown)) {
        count("other, since a page starts no programs");
        lacking.push(...written(typed));
      } else if (lacking.some((file) => typed.includes(file)))
        count("other, since a program writes their file");
      else wrong.push(`${typed}\nexpected\n${expected.join("\n")}\ngot\n${shown}`);
    }).replay();
    for (const [what, number] of counts) t.diagnostic(`${what}: ${number}`);
    assert.deepEqual(wrong, []);
    assert.deepEqual([...unused], [], "lines that are as in the terminal");
  });
}

test("lesson/player.txt", {skip: "a page shows lessons as pages with cells, not at a prompt"});
