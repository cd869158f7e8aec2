// Live cells of a lesson's page: each block of code becomes an editor with buttons, which shows the
// recorded output until it is run. All cells share one session, which starts at the first Run. A
// cell first runs the cells above it that have not run; afterwards its claims are checked and its
// figure is drawn with the variables of the session.
import {KeptFiles, KeptTexts} from "./keep.mjs";
import {make, Output, picture} from "./output.mjs";
import {Session} from "./session.mjs";

const PATIENCE = 1000; // milliseconds until a session that does not stop can be ended

const {lesson} = document.querySelector("main").dataset;
const edits = new KeptTexts(`roper cells ${lesson}`);
const cells = [];
let session, files, opened;

// The session, when it is ready.
async function open() {
  session ??= new Session({onFailure: forget});
  files ??= new KeptFiles(session);
  opened ??= files.restore();
  await opened;
}

function end() {
  session.restart();
  opened = files.restore();
  forget();
}

// The session has no variables any more.
function forget() {
  for (const cell of cells) cell.spoil("The session was started again.");
}

function button(label, title, onclick, className = "") {
  return make("button", {type: "button", title, onclick, className}, label);
}

class Cell {
  #ran; // the code that the session has run
  #good = []; // what the last run without an error has shown

  constructor(listing) {
    this.section = listing.closest("section");
    this.source = listing.dataset.source;
    this.number = Number(this.section.id.match(/\d+/));
    this.claims = [...this.section.querySelectorAll("p.claim[data-source]")];
    this.recorded = this.claims.map((claim) => claim.innerHTML);
    this.figure = this.section.querySelector("figure[data-source]");
    this.played = this.section.querySelector("figure.play");
    this.drawn = this.figure?.querySelector("svg");
    this.printed =
      [...listing.querySelectorAll("samp")].map((sample) => sample.textContent).join("");

    this.editor = make("textarea", {
      className: "code",
      spellcheck: false,
      autocapitalize: "off",
      ariaLabel: `Code of step ${this.number}`,
      value: edits.get(this.section.id) ?? this.source,
      oninput: () => this.#edited(),
      onkeydown: (event) => this.#key(event)
    });
    this.run = button("Run", "Ctrl+Enter", () => run(this), "main");
    this.stop = button("Stop", "interrupt the code", () => this.#interrupt());
    this.end = button("End the session", "variables are lost", end);
    this.reset =
      button("Reset", "the code and the output of the lesson", () => this.#reset(), "plain");
    this.status = make("span", {role: "status"});
    this.output = new Output(make("div"));
    const tools = make("div", {className: "tools"}, make("span", {}, "Lua"), this.status,
      this.reset, this.stop, this.end, this.run);
    this.element = make("div", {className: "cell"}, tools, this.editor, this.output.element);
    listing.replaceWith(this.element);
    this.#show(false);
    this.#edited();
    if (this.printed) this.output.text(this.printed);
  }

  get hasRun() {
    return this.#ran !== undefined;
  }

  #show(isBusy) {
    this.run.hidden = isBusy;
    this.stop.hidden = !isBusy;
    this.end.hidden = true;
    this.reset.disabled = isBusy;
  }

  #edited() {
    const {value} = this.editor;
    this.editor.rows = value.split("\n").length;
    edits.set(this.section.id, value === this.source ? undefined : value);
    if (this.hasRun) this.say(value === this.#ran ? "" : "Changed since its last run.");
    else if (value !== this.source) this.say("Changed; the output is that of the lesson.");
  }

  #key(event) {
    if (event.key === "Escape") this.editor.blur();
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      run(this);
    }
  }

  #interrupt() {
    session.interrupt();
    setTimeout(() => this.end.hidden = this.stop.hidden, PATIENCE);
  }

  #reset() {
    const below = this.hasRun && this.#ran !== this.source;
    Object.assign(this.editor, {value: this.source});
    this.#ran = undefined;
    this.#edited();
    this.output.clear();
    this.element.classList.remove("has-run");
    this.output.element.classList.remove("stale");
    if (this.printed) this.output.text(this.printed);
    this.claims.forEach((claim, i) => claim.innerHTML = this.recorded[i]);
    if (this.drawn) this.figure.querySelector("svg").replaceWith(this.drawn);
    if (this.played?.dataset.given) {
      const detail = JSON.parse(this.played.dataset.given);
      this.played.dispatchEvent(new CustomEvent("data", {detail}));
    }
    this.say("");
    if (below) spoilBelow(this);
  }

  say(text) {
    this.status.textContent = text;
  }

  // The cell must run again before those below it.
  spoil(reason) {
    if (!this.hasRun) return;
    this.#ran = undefined;
    this.output.element.classList.add("stale");
    this.say(reason);
  }

  // Runs the code, checks the claims and draws the figure. Returns whether the code ran.
  async execute() {
    const code = this.editor.value, before = this.#ran;
    this.#show(true);
    this.say("Running …");
    this.element.classList.add("has-run"); // shows its output before a prediction is settled
    this.output.clear();
    this.output.element.classList.remove("stale");
    await open();
    const begin = performance.now();
    await session.run("roper.seed(1)"); // as when the lesson was recorded
    const {error} = await session.run(code, this.output.handlers);
    const milliseconds = performance.now() - begin;
    this.#ran = error === undefined ? code : undefined;
    if (error === undefined) {
      this.#good = [...this.output.element.childNodes];
      const failing = await this.#check();
      await this.#draw();
      this.say(`Ran in ${duration(milliseconds)}${verdict(this.claims.length, failing)}.`);
    } else {
      this.output.error(error);
      if (this.#good.length > 0)
        this.output.element.append(make("div", {className: "stale"},
          make("p", {}, "The last run without an error:"), ...this.#good));
      for (const claim of this.claims) note(claim, "", "not checked, because the code fails");
      this.say("The code fails.");
    }
    if (before !== undefined && before !== this.#ran) spoilBelow(this);
    this.#show(false);
    await files.save();
    return error === undefined;
  }

  // Checks the claims. Returns how many do not hold.
  async #check() {
    let failing = 0;
    for (const claim of this.claims) {
      const {holds, value, error} = await session.lesson({claim: claim.dataset.source});
      if (!holds) failing++;
      note(claim, holds ? "✓" : "✗",
        error ? `cannot be checked: ${error}` :
                `${holds ? "holds" : "fails"} here and now, measured: ${value}`);
    }
    return failing;
  }

  async #draw() {
    if (!this.figure) return;
    const {svg, error} = await session.lesson({figure: this.figure.dataset.source});
    if (error) this.output.error(`The figure cannot be drawn: ${error}`);
    else {
      const made = picture(svg), old = this.figure.querySelector("svg");
      made.setAttribute("aria-label", old.getAttribute("aria-label") ?? "");
      old.replaceWith(made);
    }
    await this.#feed();
  }

  // Shows data of the session in the interactive figure, if it has some.
  async #feed() {
    const source = this.played && JSON.parse(this.played.dataset.play).data;
    if (!source) return;
    const {data, error} = await session.lesson({data: source});
    if (error) this.output.error(`The figure has no data: ${error}`);
    else this.played.dispatchEvent(new CustomEvent("data", {detail: data}));
  }
}

function duration(milliseconds) {
  return milliseconds < 1000 ? `${milliseconds.toFixed(0)} ms` :
                               `${(milliseconds / 1000).toFixed(1)} s`;
}

function verdict(count, failing) {
  if (count === 0) return "";
  if (failing === 0) return count === 1 ? "; its claim holds" : `; its ${count} claims hold`;
  return count === 1 ? "; its claim fails" : `; ${failing} of its ${count} claims fail`;
}

// Shows the result of a claim.
function note(claim, sign, text) {
  const mark = claim.querySelector("b");
  mark.textContent = sign;
  mark.className = sign === "✓" ? "good" : "bad";
  claim.querySelector("span").textContent = text;
}

function spoilBelow(cell) {
  for (const later of cells.slice(cells.indexOf(cell) + 1))
    later.spoil("The code above has changed.");
}

const {dataset} = document.body; // data-state: ready, busy

// Runs the cells above that have not run, then the cell. Returns whether all of them ran.
async function run(cell) {
  if (dataset.state === "busy") return false;
  dataset.state = "busy";
  try {
    const list =
      cells.slice(0, cells.indexOf(cell)).filter((earlier) => !earlier.hasRun).concat(cell);
    for (const one of list) {
      if (one !== cell) cell.say(`Running step ${one.number} first …`);
      if (!await one.execute()) {
        if (one !== cell) cell.say(`Step ${one.number} fails; this step needs it.`);
        return false;
      }
    }
    return true;
  } finally {
    dataset.state = "ready";
  }
}

// The verdict on a line of Lua that answers a question, after the code of its step.
async function judge(question, line) {
  const step = Number(question.closest("section").id.match(/\d+/));
  const above = cells.filter((cell) => cell.number <= step && !cell.hasRun);
  if (above.length > 0 && !await run(above.at(-1)))
    return {error: "The code above fails, or is running."};
  await open();
  const conditions =
    [...question.querySelectorAll(".hints > li[data-if]")].map((hint) => hint.dataset.if);
  return session.lesson({line: {line, check: question.dataset.check, conditions}});
}

for (const listing of document.querySelectorAll("section pre.code[data-source]")) {
  cells.push(new Cell(listing));
}
dataset.state = "ready";
dispatchEvent(new CustomEvent("session", {detail: {judge}}));
