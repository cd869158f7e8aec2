// Questions on pages: checks answers, shows hints, and keeps a record of right answers in the
// browser. Without this script, pages show the questions with their answers folded.
(() => {
  "use strict";

  const MATH = { abs: Math.abs, ceil: Math.ceil, floor: Math.floor, sqrt: Math.sqrt,
    sin: Math.sin, cos: Math.cos, tan: Math.tan, asin: Math.asin, acos: Math.acos,
    atan: (y, x = 1) => Math.atan2(y, x), exp: Math.exp, max: Math.max, min: Math.min,
    log: (x, base) => base === undefined ? Math.log(x)
      : base === 2 ? Math.log2(x) : base === 10 ? Math.log10(x) : Math.log(x) / Math.log(base),
    deg: (angle) => angle * 180 / Math.PI, rad: (angle) => angle * Math.PI / 180,
    fmod: (a, b) => a % b, pi: Math.PI, huge: Infinity };
  const NUMBER = /0[xX][\da-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/.source;
  const TOKEN = new RegExp(
    `\\s*(?:(${NUMBER})(?![\\w.])|([A-Za-z_]\\w*(?:\\.\\w+)*)|(//|[=~<>]=|[-+*/%^()<>,]))`, "y");

  const numbers = (f) => (a, b) => {
    if (typeof a !== "number" || typeof b !== "number") throw new TypeError("expected numbers");
    return f(a, b);
  };
  // Binary operators: their precedence, and what they compute. "^" is right-associative.
  const OPERATORS = {
    or: [1, (a, b) => a === false ? b : a], and: [2, (a, b) => a === false ? a : b],
    "==": [3, (a, b) => a === b], "~=": [3, (a, b) => a !== b],
    "<": [3, numbers((a, b) => a < b)], "<=": [3, numbers((a, b) => a <= b)],
    ">": [3, numbers((a, b) => a > b)], ">=": [3, numbers((a, b) => a >= b)],
    "+": [4, numbers((a, b) => a + b)], "-": [4, numbers((a, b) => a - b)],
    "*": [5, numbers((a, b) => a * b)], "/": [5, numbers((a, b) => a / b)],
    "//": [5, numbers((a, b) => Math.floor(a / b))],
    "%": [5, numbers((a, b) => a - Math.floor(a / b) * b)], "^": [7, numbers(Math.pow)] };
  const UNARY = 6;

  // Evaluates an expression of numbers in Lua. Raises an error if it is anything else.
  function evaluate(source, names) {
    const tokens = [];
    TOKEN.lastIndex = 0;
    while (source.slice(TOKEN.lastIndex).trim()) {
      const found = TOKEN.exec(source);
      if (!found) throw new SyntaxError(source);
      tokens.push(found);
    }
    let at = 0;
    const next = () => tokens[at] && (tokens[at][2] ?? tokens[at][3]);
    const take = (sign) => {
      if (next() !== sign) throw new SyntaxError(`expected ${sign}`);
      at += 1;
    };

    function named(name) {
      const value = name.startsWith("math.") ? MATH[name.slice(5)] : names[name];
      if (typeof value === "function") {
        const given = [];
        take("(");
        do given.push(expression(1)); while (next() === "," && (at += 1));
        take(")");
        return value(...given);
      }
      if (value === undefined) throw new ReferenceError(name);
      return value;
    }

    function operand() {
      const token = tokens[at++];
      if (!token) throw new SyntaxError("incomplete");
      if (token[1]) return Number(token[1]);
      const word = token[2] ?? token[3];
      if (word === "-") return -expression(UNARY);
      if (word === "not") return expression(UNARY) === false;
      if (word === "(") {
        const value = expression(1);
        take(")");
        return value;
      }
      if (word === "true" || word === "false") return word === "true";
      if (!token[2] || OPERATORS[word]) throw new SyntaxError(word);
      return named(word);
    }

    function expression(least) {
      let value = operand();
      for (let word = next(); OPERATORS[word]?.[0] >= least; word = next()) {
        const [precedence, compute] = OPERATORS[word];
        at += 1;
        value = compute(value, expression(word === "^" ? UNARY : precedence + 1));
      }
      return value;
    }

    const value = expression(1);
    if (tokens[at]) throw new SyntaxError("expected an operator");
    return value;
  }

  const isNear = (it, expected, within) => it === expected || Math.abs(expected) < Infinity
    && Math.abs(it - expected) <= Math.max(within * Math.abs(expected), 1e-9);

  // The record: for each lesson the ids of its questions that were answered. It stays empty if the
  // browser keeps no data.
  const KEY = "roper lessons";
  function load() {
    try {
      return JSON.parse(localStorage.getItem(KEY)) ?? {};
    } catch {
      return {};
    }
  }
  function change(lesson, ids) {
    try {
      localStorage.setItem(KEY, JSON.stringify({ ...load(), [lesson]: ids }));
    } catch {
      // the browser keeps no data
    }
  }

  function make(tag, fields, ...children) {
    const element = Object.assign(document.createElement(tag), fields);
    element.append(...children);
    return element;
  }

  function forget(lesson) {
    change(lesson, []);
    for (const question of document.querySelectorAll(".question[data-state]")) {
      delete question.dataset.state;
      question.querySelector(".status").textContent = "";
      question.querySelector("details.answer").open = false;
    }
    showProgress();
  }

  // Shows how many questions of each lesson were answered.
  function showProgress() {
    const record = load();
    for (const line of document.querySelectorAll(".progress")) {
      const { lesson, count } = line.dataset, answered = record[lesson]?.length ?? 0;
      line.hidden = answered === 0;
      line.textContent = `${answered} of ${count} questions answered. `;
      if (line.closest("header")) {
        line.append(make("button", { type: "button", onclick: () => forget(lesson) },
          "Forget my answers"));
      }
    }
  }

  // The hints with a condition.
  const conditions = (question) => [...question.querySelectorAll(".hints > li[data-if]")];

  // The hint for a wrong answer: one whose condition is true, or the next without a condition.
  function hintFor(question, it) {
    const fits = ({ dataset }) => {
      try {
        return evaluate(dataset.if, { it }) === true;
      } catch {
        return false;
      }
    };
    return conditions(question).find(fits) ?? furtherHint(question);
  }

  function furtherHint(question) {
    const further = [...question.querySelectorAll(".hints > li:not([data-if])")];
    const tries = Number(question.dataset.tries ?? 0);
    question.dataset.tries = tries + 1;
    return further[Math.min(tries, further.length - 1)];
  }

  // judgeLine(question, line): the verdict of the session on an answer in Lua
  function start(question, lesson, judgeLine) {
    const { kind, expect, within, names, wanted } = question.dataset;
    const expected = Number(expect), answer = question.querySelector("details.answer");
    const status = make("p", { className: "status" });
    status.setAttribute("role", "status");

    function solve(said) {
      question.dataset.state = "right";
      status.replaceChildren(said);
      answer.open = true;
    }

    function refuse(hint) {
      question.dataset.state = "wrong";
      status.replaceChildren("Not yet. ", ...hint.cloneNode(true).childNodes);
    }

    function reject(said) {
      question.dataset.state = "malformed";
      status.replaceChildren(said);
    }

    function judge(it, isRight) {
      if (isRight) {
        solve(kind === "number" && it !== expected
          ? `Right, ${Number(expected.toPrecision(4))}.` : "Right.");
        const ids = new Set(load()[lesson]).add(question.id);
        change(lesson, [...ids]);
        showProgress();
      } else refuse(hintFor(question, it));
    }

    function judgeNumber(text) {
      let it;
      try {
        it = evaluate(text, JSON.parse(names));
      } catch {
        it = NaN;
      }
      if (typeof it === "number" && !Number.isNaN(it)) {
        judge(it, isNear(it, expected, Number(within)));
      } else reject(`The question expects ${wanted}.`);
    }

    async function judgeInSession(line) {
      status.replaceChildren("…");
      const verdict = await judgeLine(question, line);
      const { error, failure, hint, shown } = verdict;
      if (verdict.kind === "right") solve(`Right.${shown ? ` ${shown}` : ""}`);
      else if (verdict.kind === "wrong") refuse(hint ? conditions(question)[hint - 1] : furtherHint(question));
      else if (verdict.kind === "incomplete") reject("The line is incomplete.");
      else reject(error ?? failure ?? `The question expects a line of Lua${shown ? `: ${shown}` : "."}`);
    }

    if (kind === "choice") {
      question.querySelectorAll(".choices > li").forEach((item, i) => {
        const name = item.querySelector("math") && item.textContent;
        item.append(make("button", { type: "button", ariaLabel: name, onclick() {
          judge(i + 1, i + 1 === expected);
        } }, ...item.childNodes));
      });
      answer.before(status);
    } else {
      const input = make("input", { type: "text", autocomplete: "off", spellcheck: false,
        ariaLabel: "Your answer", placeholder: judgeLine ? "a line of Lua" : "0.5 or math.cos(1)" });
      const form = make("form", { onsubmit(event) {
        event.preventDefault();
        (judgeLine ? judgeInSession : judgeNumber)(input.value);
      } }, input, make("button", {}, "Check"));
      answer.before(form, status);
    }
    if (load()[lesson]?.includes(question.id)) solve("You answered this before.");
  }

  const { lesson } = document.querySelector("main").dataset;
  for (const question of document.querySelectorAll(".question[data-kind]")) start(question, lesson);
  showProgress();

  // Live cells bring a session, which judges lines of Lua.
  addEventListener("session", ({ detail }) => {
    for (const question of document.querySelectorAll(".question[data-check]")) {
      question.querySelector("p.check").remove();
      start(question, lesson, detail.judge);
    }
  });

  // Only what scrolls is a stop of the Tab key.
  function markScrolling() {
    for (const box of document.querySelectorAll(".scroll, pre, .formula")) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  }
  addEventListener("resize", markScrolling);
  markScrolling();

  // Paper shows all answers, and what else is folded.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const part of folded) part.open = true;
  });
  addEventListener("afterprint", () => {
    for (const part of folded) part.open = false;
  });
})();
