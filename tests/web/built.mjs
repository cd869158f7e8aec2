// The engine that make web has built, for tests in Node.js.
import {webcrypto} from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import {fileURLToPath} from "node:url";

import {Engine} from "../../bindings/web/engine.mjs";
import {Files} from "../../bindings/web/files.mjs";

export {Engine, Files};

export const root = path.resolve(fileURLToPath(import.meta.url), "../../..");
export const folder = path.join(root, "build/web",
  fs.readdirSync(path.join(root, "build/web")).find((name) => /^[0-9a-f]{12}$/.test(name)));
globalThis.crypto ??= webcrypto; // Node.js 18 has it only as a module

const bytes = (name) => new Uint8Array(fs.readFileSync(path.join(folder, name)));
const module = await WebAssembly.compile(bytes("roper.wasm"));
const archive = bytes("files.bin");

// An engine, with what it prints and sends.
export async function start(options = {}) {
  const files = options.files ?? new Files();
  files.unpack(archive);
  const found = {files, printed: "", messages: []};
  found.engine = await Engine.start({
    module,
    suspends: false,
    output: (stream, text) => found.printed += text,
    send: (message) => found.messages.push(message),
    ...options,
    files
  });
  // The reply to a request, and what was shown.
  found.ask = (request) => {
    found.messages.length = 0;
    const state = found.engine.ask(request);
    return reply(found, state);
  };
  return found;
}

export function reply({messages}, state) {
  const last = messages.at(-1)?.reply;
  if (state !== 0 || !last) throw new Error(`the engine has failed: state ${state}`);
  return {
    ...last,
    shown: messages.flatMap(({data}) => data?.["text/plain"] ?? []),
    messages: [...messages]
  };
}

// Copies a folder of this computer to the files of an engine.
export function copy(files, from, to) {
  for (const name of fs.readdirSync(from)) {
    const at = path.join(from, name), stat = fs.statSync(at, {throwIfNoEntry: false});
    if (stat?.isDirectory()) copy(files, at, `${to}/${name}`);
    else if (stat?.isFile()) files.put(`${to}/${name}`, new Uint8Array(fs.readFileSync(at)));
  }
}

// The files of the project, with what its specs use.
export function project() {
  const files = new Files(),
        put = (name, data) => files.put(`/roper/${name}`, new Uint8Array(data));
  for (const name of ["bindings", "core", "scripts", "tasks", "tests"])
    copy(files, path.join(root, name), `/roper/${name}`);
  for (const name of ["README.md", "Makefile", "CHANGELOG.md", "LICENSE"])
    put(name, fs.readFileSync(path.join(root, name)));
  put("roper", 0); // specs find the program, and then that none can be started
  for (const name of ["luassert", "say"]) copy(files, `/usr/share/lua/5.4/${name}`, `/lua/${name}`);
  return files;
}
