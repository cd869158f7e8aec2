// Pages in headless Chromium: serves a folder, and drives a page by the protocol of the developer
// tools, through a pipe.
import {spawn} from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";

const TYPES = {
  ".html": "text/html",
  ".mjs": "text/javascript",
  ".css": "text/css",
  ".wasm": "application/wasm"
};
const LIMIT = 300_000; // milliseconds to wait for a condition, also if many other programs run

// A server of a folder, as any other: no special headers.
export function serve(folder) {
  const server = http.createServer((request, response) => {
    const name =
      decodeURIComponent(new URL(request.url, "http://x").pathname).replace(/\/$/, "/index.html");
    fs.readFile(path.join(folder, path.normalize(name)), (error, data) => {
      response.writeHead(error ? 404 : 200,
        {"content-type": TYPES[path.extname(name)] ?? "application/octet-stream"});
      response.end(data);
    });
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve({
    address: `http://127.0.0.1:${server.address().port}/`,
    close: () => server.close(),
  })));
}

// The program of the browser, or nothing.
export function find() {
  const folders = process.env.PATH.split(":");
  return ["chromium", "chromium-browser", "google-chrome"]
    .flatMap((name) => folders.map((folder) => path.join(folder, name)))
    .find((file) => fs.existsSync(file));
}

const STATE = "`${location} is ${document.readyState}, ${document.body?.dataset.state}`";

class Page {
  // What must not happen: messages on the console, exceptions, requests to other addresses.
  problems = [];
  requests = [];
  before; // code that runs in each worker before its own

  constructor(browser, session, target, origin) {
    Object.assign(this, {browser, session, target, origin});
  }

  // Reports what happens in the page, or in a worker of it.
  async watch(session) {
    const send = (method, params = {}) =>
      this.browser.send(method, params, session).catch(() => {});
    for (const domain of ["Runtime", "Log", "Network"]) await send(`${domain}.enable`);
    if (session !== this.session && this.before)
      await send("Runtime.evaluate", {expression: this.before});
    await send("Runtime.runIfWaitingForDebugger");
  }

  close() {
    return this.browser.send("Target.closeTarget", {targetId: this.target});
  }

  send(method, params) {
    return this.browser.send(method, params, this.session);
  }

  receive({method, params}) {
    if (method === "Target.attachedToTarget") {
      this.browser.listen(params.sessionId, this);
      this.watch(params.sessionId);
    } else if (method === "Runtime.consoleAPICalled")
      this.problems.push(params.args.map((a) => a.value ?? a.description).join(" "));
    else if (method === "Runtime.exceptionThrown")
      this.problems.push(
        params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    else if (method === "Log.entryAdded")
      this.problems.push(`${params.entry.text} ${params.entry.url ?? ""}`);
    else if (method === "Network.requestWillBeSent") {
      const {url} = params.request;
      this.requests.push(url);
      if (!/^(data|blob):/.test(url) && !url.startsWith(this.origin))
        this.problems.push(`request to ${url}`);
    }
  }

  async open(url) {
    const {errorText} = await this.send("Page.navigate", {url: new URL(url, this.origin).href});
    if (errorText) throw new Error(`${url} cannot be opened: ${errorText}`);
  }

  // The value of an expression in the page.
  async evaluate(expression) {
    const {result, exceptionDetails} =
      await this.send("Runtime.evaluate", {expression, awaitPromise: true, returnByValue: true});
    if (exceptionDetails)
      throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  // Waits until an expression is true; returns its value.
  async until(expression) {
    const end = Date.now() + LIMIT;
    for (;;) {
      const value = await this.evaluate(expression);
      if (value) return value;
      if (Date.now() > end)
        throw new Error(
          `waited too long for ${expression}; ${await this.evaluate(STATE)}; problems: ${
            this.problems.join("; ")}; requests: ${this.requests.join(" ")}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  // Presses a key, as a user does.
  async press(key, {modifiers = 0, code = key} = {}) {
    const CODES = {Enter: 13, Tab: 9, Escape: 27, ArrowUp: 38, ArrowDown: 40};
    const text = key === "Enter" ? "\r" : key.length === 1 && modifiers === 0 ? key : undefined;
    const event = {
      key,
      code,
      modifiers,
      text,
      windowsVirtualKeyCode: CODES[key] ?? key.toUpperCase().charCodeAt(0)
    };
    await this.send("Input.dispatchKeyEvent", {type: "keyDown", ...event});
    await this.send("Input.dispatchKeyEvent", {type: "keyUp", ...event, text: undefined});
  }

  // Types text into the element with the focus.
  async type(text) {
    await this.send("Input.insertText", {text});
  }

  async size(width, height, dark = false) {
    await this.send("Emulation.setDeviceMetricsOverride",
      {width, height, deviceScaleFactor: 1, mobile: width < 600});
    await this.send("Emulation.setEmulatedMedia",
      {features: [{name: "prefers-color-scheme", value: dark ? "dark" : "light"}]});
  }

  // Writes a picture of the whole page.
  async picture(file) {
    const {data} =
      await this.send("Page.captureScreenshot", {format: "png", captureBeyondViewport: true});
    fs.writeFileSync(file, Buffer.from(data, "base64"));
  }
}

// Removes a folder into which processes that are ending may still write.
async function remove(folder) {
  for (const end = Date.now() + LIMIT;;) {
    try {
      fs.rmSync(folder, {recursive: true, force: true});
      return;
    } catch (error) {
      if (error.code !== "ENOTEMPTY" || Date.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

class Browser {
  #waiting = new Map();
  #pages = new Map();
  #count = 0;
  #rest = "";

  constructor(program) {
    this.profile = fs.mkdtempSync(path.join(os.tmpdir(), "roper-chromium-"));
    this.process = spawn(program,
      [
        "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
        "--remote-debugging-pipe", `--user-data-dir=${this.profile}`, "about:blank"
      ],
      {stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"]});
    const decoder = new TextDecoder();
    this.process.stdio[4].on("data", (data) => {
      const parts = (this.#rest + decoder.decode(data, {stream: true})).split("\0");
      this.#rest = parts.pop();
      for (const part of parts) this.#receive(JSON.parse(part));
    });
  }

  #receive(message) {
    if (!message.id) {
      this.#pages.get(message.sessionId)?.receive(message);
      return;
    }
    const {resolve, reject} = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.error) reject(new Error(message.error.message));
    else resolve(message.result);
  }

  // Sends the events of a session to a page.
  listen(sessionId, page) {
    this.#pages.set(sessionId, page);
  }

  send(method, params = {}, sessionId = undefined) {
    const id = ++this.#count;
    this.process.stdio[3].write(`${JSON.stringify({id, method, params, sessionId})}\0`);
    return new Promise((resolve, reject) => this.#waiting.set(id, {resolve, reject}));
  }

  // A new page that may ask only `origin`.
  async page(origin) {
    const {browserContextId} = await this.send("Target.createBrowserContext");
    const {targetId} =
      await this.send("Target.createTarget", {url: "about:blank", browserContextId});
    const {sessionId} = await this.send("Target.attachToTarget", {targetId, flatten: true});
    const page = new Page(this, sessionId, targetId, origin);
    this.listen(sessionId, page);
    await page.send(
      "Target.setAutoAttach", {autoAttach: true, waitForDebuggerOnStart: true, flatten: true});
    await page.send("Page.enable");
    await page.watch(sessionId);
    return page;
  }

  async close() {
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    this.send("Browser.close").catch(() => {}); // which may end before it replies
    await ended;
    await remove(this.profile);
  }
}

export const start = (program) => new Browser(program);
