// The prompt: an input with history and completion, above it what the session printed and drew.
// For scripts that drive the page: <body data-state> is loading, ready, busy or failed; #input,
// where Enter runs; #output.
import {Completion} from "./completion.mjs";
import {Folders} from "./folders.mjs";
import {KeptFiles, KeptTexts} from "./keep.mjs";
import {make, Output} from "./output.mjs";
import {CANNOT_LOAD, restarted, Session} from "./session.mjs";

const EXAMPLES = {
  "a tensor": "roper.tensor{1, 2, 3}:softmax()",
  "a plot": "roper.plot.line{{1, 4, 2, 8, 5, 7}}",
  "a rotation": `q = roper.randn{1, 1, 6, 4}
rope = roper.position.rope{dim = 4}
twice = rope:rotate(rope:rotate(q, 1), 2)
(rope:rotate(q, 3) - twice):abs():max() < 1e-6`,
  "a model": `task = roper.tasks.copy{length = 33, letters = 5, seed = 1}
model = roper.nn.Transformer{vocabulary = task:vocabulary(), d_model = 32, heads = 2,
  position = "roper"}
roper.train{model = model, task = task, steps = 100, batch = 8,
  optimizer = roper.optim.Adam{rate = 1e-2}}.loss`,
  "the help": "?roper.attention",
};
const PATIENCE = 2000; // milliseconds after Stop until the end of the session is offered
const MOST_HISTORY = 200;

const $ = (id) => document.getElementById(id);
const input = $("input"), body = document.body;

const session = new Session({onState: show, onFailure});
const files = new KeptFiles(session);
const folders = new Folders(
  {session, list: $("folders"), count: $("count"), status: $("changed"), onChange: keep});
let restored = restore();

async function restore() {
  await files.restore();
  await folders.show();
}

// Keeps the files, and says so if the browser does not.
async function keep() {
  $("unkept").hidden = await files.save();
}

function show(state) {
  body.dataset.state = state;
  $("state").textContent = state;
  $("stop").disabled = state !== "busy";
  if (state === "failed") offer(CANNOT_LOAD);
  else if (state === "ready") $("ended").hidden = true;
}

function offer(reason) {
  $("reason").textContent = reason;
  $("ended").hidden = false;
}

function onFailure(reason) {
  offer(`${restarted(reason)} Variables are lost; files and history are not.`);
}

// History, kept by the browser if it allows that. Behind its end is what was typed last.
const history = {
  kept: new KeptTexts("roper prompt"),
  list: [],
  at: 0,
  draft: "",
  load() {
    this.list = this.kept.get("history") ?? [];
    this.at = this.list.length;
  },
  add(code) {
    if (this.list.at(-1) !== code) this.list.push(code);
    this.list = this.list.slice(-MOST_HISTORY);
    this.at = this.list.length;
    this.kept.set("history", this.list);
  },
  move(step, now) {
    if (this.at === this.list.length) this.draft = now;
    this.at = Math.max(0, Math.min(this.list.length, this.at + step));
    return this.list[this.at] ?? this.draft;
  },
  // The input before the shown one that contains what was typed; `now` if there is none.
  find(now) {
    if (this.list[this.at] !== now) {
      this.at = this.list.length;
      this.draft = now;
    }
    for (let at = this.at - 1; at >= 0; at--)
      if (this.list[at].includes(this.draft)) return this.list[this.at = at];
    return now;
  },
};

function put(code) {
  input.value = code;
  grow();
}

// As high as its lines.
function grow() {
  input.rows = Math.min(12, input.value.split("\n").length);
}

const completion = new Completion(
  {input, list: $("names"), help: $("help"), box: $("completion"), session, onInsert: grow});

function insert(text) {
  input.setRangeText(text, input.selectionStart, input.selectionEnd, "end");
  input.dispatchEvent(new Event("input"));
}

async function run() {
  const code = input.value.trimEnd();
  if (!code.trim() || body.dataset.state === "busy") return;
  completion.close();
  if (!(await session.isComplete(code)).complete) {
    insert("\n");
    return;
  }
  history.add(code);
  put("");
  $("linked").hidden = true;
  const entry = make("div", {className: "entry"});
  entry.append(
    make("pre", {className: "typed", textContent: `> ${code.replaceAll("\n", "\n>> ")}`}));
  const output = new Output(make("div"));
  entry.append(output.element);
  $("output").append(entry);
  if (body.dataset.state === "ready") show("busy"); // while files are restored
  await restored;
  const {error} = await session.run(code, output.handlers);
  if (error) output.error(error === "interrupted" ? error : `error: ${error}`);
  await keep();
  await folders.show();
}

let impatience;
function interrupt() {
  if (body.dataset.state !== "busy") return;
  session.interrupt();
  clearTimeout(impatience);
  impatience = setTimeout(() => {
    if (body.dataset.state === "busy")
      offer("The code does not stop. A new session ends it; variables are lost.");
  }, PATIENCE);
}

// Is the cursor in the first line, or in the last?
const isFirst = () => !input.value.slice(0, input.selectionStart).includes("\n");
const isLast = () => !input.value.slice(input.selectionEnd).includes("\n");

const KEYS = {
  Enter(event) {
    if (event.shiftKey || event.isComposing) return false;
    run();
    return true;
  },
  ArrowUp: () => isFirst() && (put(history.move(-1, input.value)), true),
  ArrowDown: () => isLast() && (put(history.move(1, input.value)), true),
  r: (event) => event.ctrlKey && (put(history.find(input.value)), true),
  Tab(event) {
    if (event.shiftKey || !input.value.slice(0, input.selectionStart).trim()) return false;
    completion.open();
    return true;
  },
  c(event) {
    if (!event.ctrlKey || input.selectionStart !== input.selectionEnd
      || body.dataset.state !== "busy")
      return false;
    interrupt();
    return true;
  },
};

input.addEventListener("keydown", (event) => {
  if (completion.key(event) || KEYS[event.key]?.(event)) event.preventDefault();
});
input.addEventListener("input", grow);
$("form").addEventListener("submit", (event) => {
  event.preventDefault();
  run();
  input.focus();
});
$("stop").addEventListener("click", interrupt);
$("restart").addEventListener("click", () => {
  session.restart();
  restored = restore();
  $("ended").hidden = true;
  input.focus();
});

// Code in the address is shown, never run.
function read() {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (!code) return;
  put(code);
  $("linked").hidden = false;
  input.focus();
}
window.addEventListener("hashchange", read);

$("add").addEventListener("click", () => $("chosen").click());
$("chosen").addEventListener("change", async () => {
  await folders.add($("chosen").files);
  $("chosen").value = "";
});

for (const [name, code] of Object.entries(EXAMPLES)) {
  const button = make("button", {type: "button", className: "plain", textContent: name});
  button.addEventListener("click", () => {
    put(code);
    input.focus();
  });
  $("examples").append(button);
}
// The last lines stay in view.
new MutationObserver(() => $("output").scrollTop = $("output").scrollHeight)
  .observe($("output"), {childList: true, characterData: true, subtree: true});
history.load();
input.focus({preventScroll: true});
read();
