// One instance of roper.wasm, with one session of Lua.
import {systemCalls} from "./wasi.mjs";

const encoder = new TextEncoder();

export const canSuspend = "Suspending" in WebAssembly;

export class Engine {
  // module: the compiled roper.wasm; files: of files.mjs, with the archive; output(stream, text)
  // and send(message): called with what code prints and sends; environment: variables; suspends:
  // pause with JavaScript Promise Integration; rest(): awaited in each pause
  static async start(
    {module, files, output, send, environment = {}, suspends = canSuspend, rest = () => {}}) {
    const engine = new Engine();
    const streams = [null, new TextDecoder(), new TextDecoder()];
    const wait = suspends && canSuspend ? new WebAssembly.Suspending(rest) : rest;
    for (const folder of ["/home", "/tmp"]) files.make(folder);
    const instance = await WebAssembly.instantiate(module, {
      wasi_snapshot_preview1: systemCalls({
        files,
        environment: {HOME: "/home", ...environment},
        memory: () => engine.exports.memory,
        write: (stream, bytes) => output(stream, streams[stream].decode(bytes, {stream: true}))
      }),
      roper:
        {rest: wait, send: (at, length) => send(JSON.parse(engine.text(at >>> 0, length >>> 0)))},
    });
    Object.assign(engine, {exports: instance.exports, suspends, rest});
    engine.exports._initialize();
    const script = engine.place("/roper/web/start.lua\0");
    if (engine.exports.rpw_start(script.at) !== 0) throw new Error("the engine did not start");
    engine.exports.rpw_free(script.at);
    return engine;
  }

  text(at, length) {
    return new TextDecoder().decode(new Uint8Array(this.exports.memory.buffer, at, length));
  }

  // Copies a text into the memory of the engine.
  place(text) {
    const bytes = encoder.encode(text), at = this.exports.rpw_malloc(bytes.length) >>> 0;
    if (at === 0) throw new Error("out of memory");
    new Uint8Array(this.exports.memory.buffer).set(bytes, at);
    return {at, length: bytes.length};
  }

  // Answers a request without a pause.
  ask(request) {
    const {at, length} = this.place(JSON.stringify(request));
    try {
      return this.exports.rpw_ask(at, length, 0, false);
    } finally {
      this.exports.rpw_free(at);
    }
  }

  // Answers a request, with a pause about every `pause` milliseconds.
  async work(request, pause) {
    const {at, length} = this.place(JSON.stringify(request));
    const ask = this.suspends && canSuspend ? WebAssembly.promising(this.exports.rpw_ask) :
                                              this.exports.rpw_ask;
    let state = await ask(at, length, pause, this.suspends);
    while (state === 1) {
      await this.rest();
      state = this.exports.rpw_resume();
    }
    this.exports.rpw_free(at);
    return state;
  }

  interrupt() {
    this.exports.rpw_interrupt();
  }
}
