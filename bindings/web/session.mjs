// A session of roper in a worker.
//
//   const session = new Session({ onState: (state) => ... });
//   await session.ready;
//   const { error } = await session.run("roper.randn{2, 2}", { value: ({ text }) => show(text) });
//
// Requests are answered one after another; `run` and `command` pass what the code shows to
// handlers:
//   output(text, stream)  a piece of standard output (1) or standard error (2)
//   value({ text, html }) the value of an expression; html, a table, for tensors only
//   figure({ text, svg }) a chart
//   progress(lines)       the current lines of a long job, none at its end
// Text and HTML come from roper, which escapes what it takes from data.

import {part, script} from "./parts.mjs";

export const CANNOT_LOAD =
  "The engine cannot be loaded. The page needs a browser with WebAssembly SIMD and exceptions.";

// The sentence for onFailure.
export function restarted(reason) {
  return `The engine stopped and was started again: ${reason}.`;
}

export class Session {
  #worker;
  #options;
  #waiting = new Map();
  #count = 0;

  // onState(state): "loading"; "ready"; "busy", while requests are answered; "failed", if the
  //   engine cannot be loaded
  // onFailure(reason): the engine died, by an error in it or without memory, and was started again.
  //   Variables are lost; files are not
  // suspends: false stops only Lua code, as in browsers without JavaScript Promise Integration
  constructor({onState = () => {}, onFailure = () => {}, environment = {}, suspends = true} = {}) {
    this.#options = {onState, onFailure, environment, suspends};
    this.#start();
  }

  #start() {
    const {onState} = this.#options;
    onState("loading");
    this.#worker = undefined;
    this.ready = new Promise((resolve, reject) => this.#open(resolve, reject).catch(reject));
    this.ready.catch(() => onState("failed"));
  }

  async #open(resolve, reject) {
    const {environment, suspends} = this.#options;
    const [address, engine, archive] =
      await Promise.all([script("worker.mjs"), part("roper.wasm"), part("files.bin")]);
    const type = address.startsWith("blob:") ?
      "classic" :
      "module"; // a page from disk starts no module of a blob
    const worker = new Worker(address, {type, name: "roper"});
    worker.onmessage = ({data}) => this.#receive(data, resolve, reject);
    worker.onerror = (event) =>
      this.#receive({state: "failed", error: event.message}, resolve, reject);
    worker.postMessage({engine, archive, environment, suspends});
    this.#worker = worker;
  }

  #receive(data, resolve, reject) {
    const {onState, onFailure} = this.#options;
    if (data.state) {
      if (data.state === "ready") {
        onState("ready");
        resolve({suspends: data.suspends});
      } else reject(new Error(data.error));
    } else if (data.failure) onFailure(data.failure);
    else {
      const request = this.#waiting.get(data.id);
      if (data.output !== undefined) request?.handlers.output?.(data.output, data.stream);
      else if (data.message) this.#show(data.message, request?.handlers ?? {});
      else {
        this.#settle(data.id, {...data.reply, milliseconds: data.milliseconds});
        if (request?.isWork && ![...this.#waiting.values()].some(({isWork}) => isWork))
          onState("ready");
      }
    }
  }

  #settle(id, reply) {
    this.#waiting.get(id)?.resolve(reply);
    this.#waiting.delete(id);
  }

  #show({kind, data, lines, ...more}, handlers) {
    const text = data?.["text/plain"];
    if (kind === "execute_result") handlers.value?.({text, html: data["text/html"]});
    else if (kind === "display_data") handlers.figure?.({text, svg: data["image/svg+xml"]});
    else if (kind === "progress") handlers.progress?.(lines);
    else handlers[kind]?.(more);
  }

  async #request(request, handlers = {}) {
    const id = this.#count++;
    const answer =
      new Promise((resolve) => this.#waiting.set(id, {resolve, handlers, isWork: !request.files}));
    this.ready.then(() => {
      if (!this.#waiting.has(id)) return;
      if (!request.files) this.#options.onState("busy");
      this.#worker.postMessage({id, ...request});
    }, ({message}) => this.#settle(id, {error: `the engine cannot be loaded: ${message}`}));
    return answer;
  }

  // Runs code as at the prompt. Resolves to { error, milliseconds }; error is the text that the
  // terminal would print, absent without one.
  run(code, handlers) {
    return this.#request({ask: {execute: code}}, handlers);
  }

  // Runs a command line of roper, such as ["train", "copy", "steps=10"]. Resolves to
  // { status, error, milliseconds }.
  command(words, handlers) {
    return this.#request({ask: {run: words}}, handlers);
  }

  // Does code need no more lines? Resolves to { complete }.
  isComplete(code) {
    return this.#request({ask: {is_complete: code}});
  }

  // Trains position schemes in turns: race.lua describes the options and the messages, which go to
  // the handler `race`. Resolves as `run` does.
  race(options, handlers) {
    return this.#request({ask: {race: options}}, handlers);
  }

  // Completes the text before the cursor. Resolves to { names, start }: each name replaces the text
  // from this character on.
  complete(text) {
    return this.#request({ask: {complete: text}});
  }

  // The help of the name at the end of a text: { text }.
  inspect(text) {
    return this.#request({ask: {inspect: text}});
  }

  // What cells of lessons ask, { claim }, { figure } or { line: { line, check, conditions } }:
  // scripts/roper/workbench/lesson/live.lua describes the replies.
  lesson(request) {
    return this.#request({ask: {lesson: request}});
  }

  // Stops the running code, which then fails with the error "interrupted". A second call during the
  // same request also stops code that catches the error.
  interrupt() {
    this.#worker?.postMessage({interrupt: true});
  }

  // Starts a new engine: no variables, the same files.
  reset() {
    return this.#request({reset: true});
  }

  // Ends the worker and starts another. Variables and files are lost. For code that `interrupt`
  // cannot stop.
  restart() {
    this.#worker?.terminate();
    for (const {resolve} of this.#waiting.values()) resolve({error: "the session was ended"});
    this.#waiting.clear();
    this.#start();
  }

  // The files of the session, all below /home. Answered also while code runs.
  files = {
    list: () => this.#files("list", "/home"),
    stat: () => this.#files("stat", "/home"), // path, size, time of the last change of each
    read: (path) => this.#files("read", `/home/${path}`),
    write: (path, bytes) => this.#files("write", `/home/${path}`, bytes),
    remove: (path) => this.#files("remove", `/home/${path}`),
  };

  async #files(...request) {
    const {error, result} = await this.#request({files: request});
    if (error) throw new Error(error);
    return result;
  }
}
