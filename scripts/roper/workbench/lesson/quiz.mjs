// Questions on pages: checks answers, shows hints, and keeps a record of right answers in the
// browser. Without this script, pages show the questions with their answers folded.
import {evaluate} from "./quiz/expression.mjs";
import {readings} from "./quiz/reading.mjs";

const isNear = (it, expected, within) => it === expected
  || Math.abs(expected) < Infinity
    && Math.abs(it - expected) <= Math.max(within * Math.abs(expected), 1e-9);

// The record: for each lesson the ids of its questions that were answered, and those whose answer
// was shown, with "shown " before them. It stays empty if the browser keeps no data.
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
    localStorage.setItem(KEY, JSON.stringify({...load(), [lesson]: ids}));
  } catch {
    // the browser keeps no data
  }
}

function make(tag, fields, ...children) {
  const element = Object.assign(document.createElement(tag), fields);
  element.append(...children);
  return element;
}

const add = (lesson, id) => change(lesson, [...new Set(load()[lesson]).add(id)]);

// A settled question was answered, or its answer was shown.
function settle(question, isSettled = true) {
  question.toggleAttribute("data-settled", isSettled);
  question.querySelector("details.answer").open = isSettled;
  if (question.querySelector("button.plain"))
    question.querySelector("button.plain").hidden = isSettled;
  question.dispatchEvent(new Event("settled", {bubbles: true}));
}

function forget(lesson) {
  change(lesson, []);
  for (const question of document.querySelectorAll(
         ".question[data-settled], .question[data-state]")) {
    delete question.dataset.state;
    question.querySelector(".status").textContent = "";
    settle(question, false);
  }
  showProgress();
}

// Shows how many questions of each lesson were answered.
function showProgress() {
  const record = load();
  for (const line of document.querySelectorAll(".progress")) {
    const {lesson, count} = line.dataset;
    const answered = (record[lesson] ?? []).filter((id) => !id.startsWith("shown ")).length;
    line.hidden = answered === 0;
    line.textContent = `${answered} of ${count} questions answered. `;
    line.closest(".card")?.classList.toggle("done", answered >= Number(count));
    if (line.closest("header")) {
      line.append(
        make("button", {type: "button", onclick: () => forget(lesson)}, "Forget my answers"));
    }
  }
}

// The hints with a condition.
const conditions = (question) => [...question.querySelectorAll(".hints > li[data-if]")];

// The hint whose condition is true of a wrong answer.
function fitting(question, it) {
  const fits = ({dataset}) => {
    try {
      return evaluate(dataset.if, {it}) === true;
    } catch {
      return false;
    }
  };
  return conditions(question).find(fits);
}

function furtherHint(question) {
  const further = [...question.querySelectorAll(".hints > li:not([data-if])")];
  const tries = Number(question.dataset.tries ?? 0);
  question.dataset.tries = tries + 1;
  return further[Math.min(tries, further.length - 1)];
}

// The verdict on a form by the choices in its menus; nothing if one is open.
function filled(question) {
  const menus = [...question.querySelectorAll(".fill select")];
  const place =
    menus.reduce((at, {options, value}) => at * (options.length - 1) + Number(value) - 1, 0);
  const verdicts = JSON.parse(question.dataset.verdicts);
  return menus.every(({value}) => value) ? verdicts[place] : undefined;
}

// judgeLine(question, line): the verdict of the session on an answer in Lua
function start(question, lesson, judgeLine) {
  const {kind, expect, within, names, wanted} = question.dataset;
  const expected = Number(expect), answer = question.querySelector("details.answer");
  const status = make("p", {className: "status"});
  status.setAttribute("role", "status");
  question.dataset.live = "";
  const shower = make("button", {
    type: "button",
    className: "plain",
    onclick() {
      add(lesson, `shown ${question.id}`);
      status.replaceChildren();
      settle(question);
    }
  },
    "Show without an answer");

  function solve(said) {
    question.dataset.state = "right";
    status.replaceChildren(make("b", {}, said));
    settle(question);
  }

  function refuse(hint) {
    question.dataset.state = "wrong";
    status.replaceChildren(make("b", {}, "Not yet."), " ", ...hint.cloneNode(true).childNodes);
  }

  function reject(said) {
    question.dataset.state = "malformed";
    status.replaceChildren(said);
  }

  function succeed(said) {
    solve(said);
    add(lesson, question.id);
    showProgress();
  }

  function judge(it, isRight) {
    if (isRight) {
      succeed(kind === "number" && it !== expected ? `Right, ${Number(expected.toPrecision(4))}.` :
                                                     "Right.");
    } else refuse(fitting(question, it) ?? furtherHint(question));
  }

  // The value of an expression, or nothing if it is not a number.
  function valueOf(source) {
    try {
      const value = evaluate(source, JSON.parse(names));
      return typeof value === "number" && !Number.isNaN(value) ? value : undefined;
    } catch {
      return undefined;
    }
  }

  // Some reading must be right. The hint is that for the first one that has a hint of its own.
  function judgeNumber(text) {
    const own = JSON.parse(names);
    const sources = readings(text, (name) => name in own);
    const found =
      sources.map((source) => ({source, it: valueOf(source)})).filter(({it}) => it !== undefined);
    const right = found.find(({it}) => isNear(it, expected, Number(within)));
    if (!found.length) return reject(`The question expects ${wanted}.`);
    const it = (right ?? found.find(({it}) => fitting(question, it)) ?? found[0]).it;
    judge(it, right !== undefined);
    if (sources[0] !== text) {
      status.prepend("Read as ", make("code", {}, right?.source ?? sources.join(" or as ")), ". ");
    }
  }

  function judgeForm() {
    const verdict = filled(question);
    if (verdict === undefined) reject("Choose something for each blank.");
    else if (verdict === 0) succeed("Right.");
    else refuse(conditions(question)[verdict - 1] ?? furtherHint(question));
  }

  async function judgeInSession(line) {
    status.replaceChildren("…");
    const verdict = await judgeLine(question, line);
    const {error, failure, hint, shown} = verdict;
    if (verdict.kind === "right") succeed(`Right.${shown ? ` ${shown}` : ""}`);
    else if (verdict.kind === "wrong")
      refuse(hint ? conditions(question)[hint - 1] : furtherHint(question));
    else if (verdict.kind === "incomplete") reject("The line is incomplete.");
    else
      reject(error ?? failure ?? `The question expects a line of Lua${shown ? `: ${shown}` : "."}`);
  }

  if (kind === "choice") {
    question.querySelectorAll(".choices > li").forEach((item, i) => {
      const name = item.querySelector("math") && item.textContent;
      item.append(make("button", {
        type: "button",
        ariaLabel: name,
        onclick({currentTarget}) {
          for (const one of question.querySelectorAll(".choices button"))
            one.ariaPressed = one === currentTarget;
          judge(i + 1, i + 1 === expected);
        }
      },
        ...item.childNodes));
    });
    question.querySelector(".choices").after(shower, status);
  } else if (kind === "form" && !judgeLine) {
    answer.before(
      make("form", {
        onsubmit(event) {
          event.preventDefault();
          judgeForm();
        }
      },
        question.querySelector(".fill"), make("button", {className: "main"}, "Check"), shower),
      status);
  } else {
    const input = make("input", {
      type: "text",
      autocomplete: "off",
      spellcheck: false,
      ariaLabel: "Your answer",
      placeholder: judgeLine ? "a line of Lua" : "0.5, 1/2 or cos(60°)"
    });
    const form = make("form", {
      onsubmit(event) {
        event.preventDefault();
        (judgeLine ? judgeInSession : judgeNumber)(input.value);
      }
    },
      input, make("button", {className: "main"}, "Check"), shower);
    answer.before(form, status);
  }
  if (load()[lesson]?.includes(question.id)) solve("You answered this before.");
  else if (load()[lesson]?.includes(`shown ${question.id}`)) settle(question);
}

const {lesson} = document.querySelector("main").dataset;
for (const question of document.querySelectorAll(".question[data-kind]")) start(question, lesson);
for (const question of document.querySelectorAll(".question:not([data-kind])")) {
  question.querySelector("details.answer").addEventListener("toggle", ({target}) => {
    if (target.open && !("settled" in question.dataset)) settle(question);
  });
}
showProgress();

// Live cells bring a session, which judges lines of Lua.
addEventListener("session", ({detail}) => {
  for (const question of document.querySelectorAll(".question[data-check]")) {
    for (const old of question.querySelectorAll("p.check, form, .status")) old.remove();
    start(question, lesson, detail.judge);
  }
});
