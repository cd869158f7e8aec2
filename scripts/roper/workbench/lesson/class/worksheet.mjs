// The page for answers: keeps them in the browser, says how numbers are read, and saves them to a
// file. It does not know which are right.
import {evaluate} from "../quiz/expression.mjs";
import {readings} from "../quiz/reading.mjs";

(() => {
  "use strict";

  const result = document.getElementById("result"), name = document.getElementById("name");
  const kit = JSON.parse(result.dataset.kit), asked = [...document.querySelectorAll(".ask")];
  const KEY = `${kit.format} ${Object.values(kit.lessons).join(" ")}`;

  const menus = (ask) => [...ask.querySelectorAll("select")];
  const field = (ask) => ask.querySelector("input[type=text], textarea");

  // The answer to a question as files have it; nothing if it is open.
  function answerOf(ask) {
    if (ask.dataset.kind === "choice") return ask.querySelector(":checked")?.value;
    if (ask.dataset.kind !== "form") return field(ask).value.trim() || undefined;
    const chosen = menus(ask).map(({value}) => Number(value));
    return chosen.every(Boolean) ? chosen : undefined;
  }

  function fill(ask, answer) {
    if (ask.dataset.kind === "choice") {
      for (const input of ask.querySelectorAll("input")) input.checked = input.value === answer;
    } else if (ask.dataset.kind === "form") {
      menus(ask).forEach((menu, i) => {
        menu.value = answer?.[i] ?? "";
      });
    } else field(ask).value = typeof answer === "string" ? answer : "";
  }

  function valueOf(source, names) {
    try {
      const value = evaluate(source, names);
      return typeof value === "number" && !Number.isNaN(value) ? value : undefined;
    } catch {
      return undefined;
    }
  }

  const short = (value) => String(Number(value.toPrecision(4))).replace("-", "−");

  // Says how a number was read.
  function say(ask) {
    if (ask.dataset.kind !== "number") return;
    const said = ask.querySelector(".said"), text = answerOf(ask) ?? "";
    const names = JSON.parse(ask.dataset.names);
    const sources = readings(text, (one) => one in names);
    const values =
      sources.map((source) => valueOf(source, names)).filter((one) => one !== undefined);
    const isPlain = /^-?\d*\.?\d+$/.test(text);
    said.textContent = text === "" || isPlain ? "" :
      values.length === 0 ? `Not understood: the question expects ${ask.dataset.wanted}.` :
                            `Read as ${values.map(short).join(" or as ")}.`;
  }

  function collect() {
    const answers = {};
    for (const ask of asked) {
      const answer = answerOf(ask);
      if (answer !== undefined) answers[ask.dataset.id] = answer;
    }
    return {...kit, student: name.value.trim(), answers};
  }

  function show() {
    const count = Object.keys(collect().answers).length;
    document.querySelector(".count").textContent = `${count} of ${asked.length} answered`;
  }

  function restore({student, answers}) {
    name.value = typeof student === "string" ? student : "";
    for (const ask of asked) {
      fill(ask, answers?.[ask.dataset.id]);
      say(ask);
    }
    show();
  }

  function keep() {
    try {
      localStorage.setItem(KEY, JSON.stringify(collect()));
    } catch {
      // the browser keeps no data
    }
  }

  document.addEventListener("input", ({target}) => {
    const ask = target.closest(".ask");
    if (ask) say(ask);
    show();
    keep();
  });

  document.getElementById("save").addEventListener("click", () => {
    const saved = collect(), count = Object.keys(saved.answers).length;
    if (!saved.student || count === 0) {
      result.textContent = saved.student ? "There are no answers to save yet." :
                                           "Type your name first: it is saved with your answers.";
      if (!saved.student) name.focus();
      return;
    }
    const text = JSON.stringify({...saved, saved: new Date().toISOString()}, null, 1);
    const file = `answers-${saved.student.replace(/[^\p{L}\p{N}]+/gu, "-")}.json`;
    const href = URL.createObjectURL(new Blob([text], {type: "application/json"}));
    const link = Object.assign(document.createElement("a"), {href, download: file});
    document.body.append(link);
    link.click();
    link.remove();
    result.textContent = `Saved ${count} of ${asked.length} answers to ${file}, in the folder of ` +
      "your downloads. Hand in this file. If you change something, save again.";
  });

  document.getElementById("open").addEventListener("change", async ({target}) => {
    try {
      const found = JSON.parse(await target.files[0].text());
      if (found.format !== kit.format) throw new TypeError("another file");
      restore(found);
      keep();
      result.textContent = `The answers of ${found.student} are open.`;
    } catch {
      result.textContent = "This is not a file that this page saved.";
    }
  });

  try {
    restore(JSON.parse(localStorage.getItem(KEY)) ?? {});
  } catch {
    show();
  }
})();
