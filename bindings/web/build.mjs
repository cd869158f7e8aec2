// node build.mjs ENGINE FOLDER ARGPARSE: writes the pages to FOLDER, and the engine, the scripts, the
// modules and the style to FOLDER/HASH, where HASH depends on all of their contents. Run it in the
// root of the project.
import crypto from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import zlib from "node:zlib";
import { Engine } from "./engine.mjs";
import { Files } from "./files.mjs";

const [wasm, target, argparse] = process.argv.slice(2);
const OWN = fs.readdirSync("bindings/web").sort();
const MODULES = OWN.filter((name) => /\.(mjs|css)$/.test(name) && name !== "build.mjs");

// A page loads nothing from elsewhere, and code of a user cannot become a script of the page.
const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; "
  + "style-src 'self' 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

// The files below a folder whose names match, by path.
function* below(folder, pattern) {
  for (const name of fs.readdirSync(folder).sort()) {
    const at = path.join(folder, name);
    if (fs.statSync(at).isDirectory()) yield* below(at, pattern);
    else if (pattern.test(at)) yield at;
  }
}

function add(files, at, to = at) {
  files.put(`/roper/${to}`, new Uint8Array(fs.readFileSync(at)));
}

const files = new Files();
const scripts = /^(?!scripts\/(packaging|experiments\/along_the_way)).*\.(lua|css|js)$/;
for (const at of below("scripts", scripts)) add(files, at);
for (const name of OWN.filter((name) => name.endsWith(".lua"))) add(files, `bindings/web/${name}`, `web/${name}`);
for (const name of ["process.lua", "events.lua"])
  add(files, `bindings/web/system/${name}`, `scripts/roper/system/${name}`);
files.put("/lua/argparse.lua", new Uint8Array(fs.readFileSync(argparse)));

// The comments of functions in C, from the sources, as `make` writes them for the terminal.
const module = await WebAssembly.compile(fs.readFileSync(wasm));
const sources = new Files();
sources.unpack(files.pack());
for (const folder of ["bindings", "core/kernels/operation", "tasks"])
  for (const at of below(folder, /\.[ch]$/)) add(sources, at);
let problem = "";
const engine = await Engine.start({ module, files: sources, suspends: false,
  output: (stream, text) => problem += text, send: ({ reply }) => problem += reply?.error ?? "" });
engine.ask({ execute: `
  require("roper.system.environment").change_folder "/roper"
  require("roper.system.file").make "build/library"
  require("roper.workbench.help.native").write({"bindings", "core/kernels/operation", "tasks"},
    "build/library/native.lua")` });
if (problem) throw new Error(problem);
files.put("/roper/build/library/native.lua", sources.get("/roper/build/library/native.lua").slice());

const built = new Map([["roper.wasm", fs.readFileSync(wasm)], ["files.bin", files.pack()],
  ...MODULES.map((name) => [name, fs.readFileSync(`bindings/web/${name}`)])]);
const hash = crypto.createHash("sha256");
for (const [name, bytes] of built) hash.update(name).update(bytes);
const digits = hash.digest("hex").slice(0, 12), folder = path.join(target, digits);
fs.rmSync(target, { recursive: true, force: true });
fs.mkdirSync(folder, { recursive: true });
for (const [name, bytes] of built) {
  fs.writeFileSync(path.join(folder, name), bytes);
  if (bytes.length > 1e5)
    console.log(`${name}: ${bytes.length >> 10} kB, brotli ${zlib.brotliCompressSync(bytes).length >> 10} kB`);
}
for (const name of OWN.filter((name) => name.endsWith(".html")))
  fs.writeFileSync(path.join(target, name), fs.readFileSync(`bindings/web/${name}`, "utf8")
    .replace(/(href|src)="([^":]+\.(css|mjs))"/g, `$1="${digits}/$2"`)
    .replace('<meta charset="utf-8">', `$&<meta http-equiv="Content-Security-Policy" content="${POLICY}">`));
