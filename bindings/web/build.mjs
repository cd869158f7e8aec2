// node build.mjs ENGINE FOLDER ARGPARSE [SINGLE]: writes the pages to FOLDER; the engine, the
// scripts and the modules of the pages to FOLDER/HASH, where HASH depends on all of their contents;
// with SINGLE, each page as one file to this folder. Run it in the root of the project.
import {spawnSync} from "node:child_process";
import crypto from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import zlib from "node:zlib";

import {Engine} from "./engine.mjs";
import {Files} from "./files.mjs";
import * as page from "./page.mjs";

globalThis.crypto ??= crypto.webcrypto; // Node.js 18 has it only as a module
const [wasm, target, argparse, alone] = process.argv.slice(2);
const OWN = fs.readdirSync("bindings/web").sort();

// The files below a folder whose names match, by path.
function* below(folder, pattern) {
  for (const name of fs.readdirSync(folder).sort()) {
    const at = path.join(folder, name);
    if (fs.statSync(at).isDirectory()) yield* below(at, pattern);
    else if (pattern.test(at)) yield at;
  }
}

// Lua code without the comments that help does not show. Lines keep their numbers.
const COMMENT_OR_STRING =
  /--[^\n]*|\[(=*)\[[^]*?\]\1\]|"(?:\\[^]|[^"\\\n])*"|'(?:\\[^]|[^'\\\n])*'/g;
const shortened = (code) => code.replace(
  COMMENT_OR_STRING, (part) => part.startsWith("--") && !part.startsWith("---") ? "" : part);

function add(files, at, to = at) {
  const bytes = fs.readFileSync(at);
  files.put(`/roper/${to}`,
    at.startsWith("scripts/roper/") && at.endsWith(".lua") ?
      new TextEncoder().encode(shortened(bytes.toString())) :
      new Uint8Array(bytes));
}

// The commit that scripts/roper/system/commit.lua finds elsewhere, in Lua.
function commit() {
  const git = (...words) => spawnSync("git", words, {encoding: "utf8"});
  if (git("ls-files", "--error-unmatch", "bindings/web/build.mjs").status !== 0) return "nil";
  return `"${git("describe", "--always", "--abbrev=12", "--exclude=*", "--dirty").stdout.trim()}"`;
}

const files = new Files();
const archived = /^(?!scripts\/(packaging|experiments\/[^/]*\/)).*\.(lua|css|m?js|py)$/;
for (const at of below("scripts", archived)) add(files, at);
for (const name of OWN.filter((name) => name.endsWith(".lua")))
  add(files, `bindings/web/${name}`, `web/${name}`);
for (const name of ["process.lua", "events.lua"])
  add(files, `bindings/web/system/${name}`, `scripts/roper/system/${name}`);
files.put("/roper/scripts/roper/system/commit.lua",
  new TextEncoder().encode(`return function() return ${commit()} end\n`));
files.put("/lua/argparse.lua", new Uint8Array(fs.readFileSync(argparse)));

// The comments of functions in C, from the sources, as `make` writes them for the terminal.
const module = await WebAssembly.compile(fs.readFileSync(wasm));
const sources = new Files();
sources.unpack(files.pack());
for (const folder of ["bindings", "core/kernels/operation", "tasks"])
  for (const at of below(folder, /\.[ch]$/)) add(sources, at);
let problem = "";
const engine = await Engine.start({
  module,
  files: sources,
  suspends: false,
  output: (stream, text) => problem += text,
  send: ({reply}) => problem += reply?.error ?? ""
});
engine.ask({
  execute: `
  require("roper.system.environment").change_folder "/roper"
  require("roper.system.file").make "build/library"
  require("roper.workbench.help.native").write({"bindings", "core/kernels/operation", "tasks"},
    "build/library/native.lua")`
});
if (problem) throw new Error(problem);
files.put(
  "/roper/build/library/native.lua", sources.get("/roper/build/library/native.lua").slice());

// The pages: those of this folder, and lessons with live cells.
engine.ask({run: ["lesson", "--html", "/home/lessons"]});
if (problem !== "Wrote /home/lessons/index.html\n") throw new Error(problem);
engine.ask({
  execute: `require("roper.system.file").write("/home/opening.json",
    require("roper.workbench.lesson.opening").json())`
});
const opening = JSON.parse(new TextDecoder().decode(sources.get("/home/opening.json")));
const pages = OWN.filter((name) => name.endsWith(".html"))
                .map((name) => [name, page.opened(page.source(name), opening)]);
for (const name of sources.list("/home/lessons"))
  pages.push(
    [`lessons/${name}`, page.live(new TextDecoder().decode(sources.get(`/home/lessons/${name}`)))]);

const parts = [["roper.wasm", fs.readFileSync(wasm)], ["files.bin", files.pack()]];
const scripts =
  new Set(["worker.mjs", "session.mjs"].concat(pages.flatMap(([, html]) => page.linked(html))));
const built = [
  ...parts,
  ...[...scripts].map((name) => [name, name.endsWith(".mjs") ? page.joined(name) : page.read(name)])
];
const hash = crypto.createHash("sha256");
for (const [name, bytes] of built) hash.update(name).update(bytes);
const folder = hash.digest("hex").slice(0, 12);

function write(at, bytes) {
  fs.mkdirSync(path.dirname(at), {recursive: true});
  fs.writeFileSync(at, bytes);
}

fs.rmSync(target, {recursive: true, force: true});
for (const [name, bytes] of built) write(path.join(target, folder, name), bytes);
for (const [name, html] of pages)
  write(path.join(target, name),
    page.served(html, path.posix.join(path.posix.relative(path.posix.dirname(name), "."), folder)));
for (const [name, bytes] of parts)
  console.log(
    `${name}: ${bytes.length >> 10} kB, brotli ${zlib.brotliCompressSync(bytes).length >> 10} kB`);
if (alone) {
  fs.rmSync(alone, {recursive: true, force: true});
  const engine = page.embedded(parts);
  for (const [name, html] of pages) write(path.join(alone, name), page.single(html, engine));
}

// The licences of all that the engine contains.
const sourcesOf = path.dirname(wasm);
const LICENCES = {
  roper: "LICENSE",
  Lua: `${sourcesOf}/lua-5.4.4/src/lua.h`,
  jansson: `${sourcesOf}/jansson-2.14/LICENSE`,
  argparse: "/usr/share/doc/lua-argparse/copyright",
  "wasi-libc": "/usr/share/doc/wasi-libc/copyright",
  "compiler-rt": "/usr/share/doc/libclang-rt-16-dev-wasm32/copyright"
};
const licences =
  Object.entries(LICENCES)
    .map(([name, at]) => {
      const text = fs.readFileSync(at, "utf8");
      const own = name === "Lua" ?
        text.slice(text.lastIndexOf("Copyright (C)")).replace(/^.*\*\/[^]*|^\* ?/gm, "") :
        text;
      return `${name}\n\n${own.trim()}`;
    })
    .join("\n\n");
for (const to of alone ? [target, alone] : [target]) write(path.join(to, "licences.txt"), licences);
