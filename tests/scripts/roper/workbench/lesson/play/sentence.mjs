// node sentence.mjs: attention of random sentences, as the modules of the figure compute it, and
// their tables of what stays. node sentence.mjs PAGE: what the figure shows in Chromium while it is
// used. Both print JSON: lists of { words, places, query, method, ... }.
import path from "node:path";
import {pathToFileURL} from "node:url";

import {attend, METHODS} from "../../../../../../scripts/roper/workbench/lesson/play/attend.mjs";
import {say} from "../../../../../../scripts/roper/workbench/lesson/play/say.mjs";
import {compare, table} from "../../../../../../scripts/roper/workbench/lesson/play/verdict.mjs";
import {numbers, word} from "../../../../../../scripts/roper/workbench/lesson/play/word.mjs";
import {find, start} from "../../../../../web/chromium.mjs";

const SENTENCES =
  ["the dog bites the man", "man bites dog", "a rose is a rose", "yes no", "ÄÖ ü ß € 文字 x"];
const LAYOUTS =
  [(j) => j, (j) => j + 6, (j) => 1000 + j, (j, last) => j === last ? j + 3 : j, (j) => 2 * j + 7];
const methods = Object.keys(METHODS);

function* computed() {
  for (const sentence of SENTENCES) {
    const words = sentence.split(" ").slice(0, 6).map((text) => word(text)),
          last = words.length - 1;
    for (const layout of LAYOUTS) {
      const places = words.map((_, j) => layout(j, last));
      for (const query of new Set([last, last - 1, 0])) {
        for (const method of methods)
          yield {...attend(words, places, query, method), words, places, query, method};
      }
    }
  }
}

// Tables for sentences of random words at random positions.
function* tables() {
  const next = numbers("tables");
  for (let round = 0; round < 40; round++) {
    const words = Array.from({length: 5}, (_, j) => word(`word ${round} ${j}`));
    const from = Math.floor(900 * next()),
          by = 1 + Math.floor(11 * next()); // less than a full turn
    const gap =
      (from + 7) % 12 === 0 ? 2 : 1; // the query is not at a full turn, where nothing is turned
    const places = [0, 1, 2, 5, 6].map((place) => from + place);
    yield table(words, 4, methods, {
      places,
      moved: places.map((place) => place + by),
      pulled: places.map((place, j) => j === 4 ? place + gap : place)
    });
  }
}

// What is said of a move by a full turn, by method.
function fullTurns() {
  const words = SENTENCES[0].split(" ").slice(0, 6).map((text) => word(text));
  const places = words.map((_, j) => j), moved = places.map((place) => place + 12);
  const told = (name) =>
    say("whole", compare(words, words.length - 1, name, places, moved), {by: 12, isSeen: true});
  return Object.fromEntries(methods.map((name) => [name, told(name)]));
}

// What the figure shows; `given` are the vectors of some words.
const SEEN = `(() => {
  const figure = document.querySelector(".sentence");
  const all = (selector) => [...figure.querySelectorAll(selector)];
  const number = (text) => text === "–" ? null : Number(text.replace("−", "-"));
  const pair = (name) => figure.querySelector("." + name + " svg").ariaLabel.match(/[−\\d.]+\\d/g).slice(0, 2).map(number);
  const rows = all(".scores tbody tr").map(({ cells }) => [...cells].map((cell) => cell.textContent));
  const { value } = figure.querySelector("[name=how]:checked");
  return {
    given: JSON.parse(figure.dataset.play).vectors,
    texts: all(".word").map((word) => word.textContent),
    places: all(".word").map((word) => Number(word.ariaLabel.match(/position (\\d+)/)[1])),
    query: all(".word").findIndex((word) => word.ariaPressed === "true"),
    method: value === "roper" && !figure.querySelector("[name=back]").checked ? "forward" : value,
    distances: rows.map((row) => number(row[1])),
    scores: rows.map((row) => number(row[3])), weights: rows.map((row) => number(row[5])),
    sum: pair("sum"), output: pair("output"), say: figure.querySelector(".say").textContent,
    tags: Object.fromEntries(all("[data-tag]").map(({ dataset, textContent }) => [dataset.tag, textContent])),
    table: all(".all-methods tbody tr").map(({ cells }) => [...cells].slice(1).map((cell) => cell.textContent)),
  };
})()`;

async function use(page) {
  const seen = [];
  const note = async (act) => {
    const {given, texts, ...found} = await page.evaluate(SEEN);
    seen.push({act, words: texts.map((text) => word(text, given)), ...found});
  };
  const point = (selector, n) => page.evaluate(`(() => {
    const element = document.querySelectorAll(".sentence ${selector}")[${n}];
    element.scrollIntoView({ block: "center" });
    const { x, y, width, height } = element.getBoundingClientRect();
    return [x + width / 2, y + height - 8];
  })()`);
  const mouse = (type, [x, y], more) =>
    page.send("Input.dispatchMouseEvent", {type, x, y, button: "left", clickCount: 1, ...more});
  const drag = async (selector, n, by) => {
    const [x, y] = await point(selector, n);
    await mouse("mousePressed", [x, y]);
    for (const share of [0.1, 0.5, 1]) await mouse("mouseMoved", [x + share * by, y], {buttons: 1});
    await mouse("mouseReleased", [x + by, y]);
    await note(`drag ${selector} ${n} ${by}`);
  };
  const click = async (selector, n = 0) => {
    await drag(selector, n, 0);
  };
  const press = async (selector, n, key) => {
    await page.evaluate(`document.querySelectorAll(".sentence ${selector}")[${n}].focus()`);
    await page.press(key);
    await note(`press ${selector} ${n} ${key}`);
  };
  const write = async (text) => {
    await page.evaluate(
      `(() => { const own = document.querySelector(".sentence [name=own]"); own.focus(); own.select(); })()`);
    await page.type(text);
    await note(`write ${text}`);
  };

  await note("open");
  for (let n = 0; n < 4; n++) {
    await click(".switch label", n);
    await drag(".grip", 0, 90);
    await drag(".word", 4, 120);
    await press(".word", 2, "ArrowRight");
    await click(".word", 3);
    await press(".word", 4, "ArrowLeft");
    await press(".word", 4, "Enter");
    await press(".grip", 0, "PageUp");
    await drag(".grip", 0, -60);
  }
  await click(".back");
  // The next moves are no full turns, however far the drags went.
  await press(".grip", 0, "Home");
  await press(".word", 4, "ArrowRight");
  await press(".grip", 0, "End");
  await click("[data-step]", 0);
  await click(".far");
  await click("[data-step]", 1);
  await click(".back");
  await write("dog bites");
  await click(".word", 0);
  await write("one"); // too few words: the sentence stays
  await write("one two three four five six seven");
  await press(".word", 5, "ArrowRight");
  // A finger that drags, and the page does not scroll.
  const [x, y] = await point(".word", 5);
  const touch = (type, points) =>
    page.send("Input.dispatchTouchEvent", {type, touchPoints: points});
  await touch("touchStart", [{x, y}]);
  for (const by of [10, 40, 70]) await touch("touchMove", [{x: x + by, y}]);
  await touch("touchEnd", []);
  await note("touch");
  for (const name of ["pull", "forward", "twice"]) {
    await page.evaluate(`document.querySelector("[data-try=${name}]").click()`);
    if (name === "twice")
      await page.until(`document.querySelector(".sentence .say").textContent.includes("two keys")`);
    await note(`try ${name}`);
  }
  return seen;
}

if (process.argv[2] === undefined) {
  console.log(JSON.stringify({
    attention: [...computed()],
    tables: [...tables()],
    methods,
    fullTurns: fullTurns(),
  }));
} else {
  const browser = start(find());
  const page = await browser.page("file:///");
  await page.send("Emulation.setDeviceMetricsOverride",
    {width: 1000, height: 900, deviceScaleFactor: 1, mobile: false});
  await page.send(
    "Emulation.setEmulatedMedia", {features: [{name: "prefers-reduced-motion", value: "reduce"}]});
  await page.open(pathToFileURL(path.resolve(process.argv[2])).href);
  await page.until(
    `document.querySelector(".sentence .say")?.textContent.includes("output")`); // it has moved by
                                                                                 // itself
  const seen = await use(page);
  console.log(JSON.stringify({seen, problems: page.problems}));
  await browser.close();
}
