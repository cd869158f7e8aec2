// The sentence that moves: the reader's words on a ruler, moved as a whole or pulled apart, and
// what each way to use positions makes of the move.
import {attend} from "./attend.mjs";
import {watchHands} from "./hands.mjs";
import {between, clamp, copy, isSame, LAST, measure, moveTo, placesOf, total, whole, widest} from "./layout.mjs";
import {animate, whenSeen} from "./motion.mjs";
import {fillRow, outputPicture, pictureName, sumPicture} from "./results.mjs";
import {moved, say, verdict, wordName} from "./say.mjs";
import {picture, placing} from "./stage.mjs";
import {startAll} from "./start.mjs";
import {compare, table} from "./verdict.mjs";
import {word} from "./word.mjs";

const FEWEST = 2, MOST = 6; // words
const TIMES = {
  step: 220,
  far: 900,
  replay: 1400,
  opening: 1800
}; // milliseconds
const TRAIL = 24, LONGEST = 12; // points of a trail, and positions: a full turn
const FIRST_MOVE = 6; // positions

function startSentence(figure, given) {
  const find = (selector) => figure.querySelector(selector);
  const all = (selector) => [...figure.querySelectorAll(selector)];
  const stage = find(".stage"), drawing = find(".stage svg"), rows = find(".scores tbody");
  const texts = find(".say"), grip = find(".grip"), own = find("[name=own]"),
        back = find("[name=back]");
  // query: index of a word; kind: of the last move; pulled: the word of a pull; hot: the word below
  // the mouse
  const state = {
    words: [],
    gaps: [],
    start: 0,
    x: 0,
    query: 0,
    method: "roper",
    kind: "whole",
    pulled: 0,
    hot: -1
  };
  let size, target, stop = () => {}, buttons = [];

  // ---- What is shown ----
  function found() {
    const at = (layout) => attend(state.words, placesOf(layout), state.query, state.method);
    const by = state.start - state.before.start;
    const from = Math.abs(by) > LONGEST ?
      {start: state.start - LONGEST * Math.sign(by), gaps: state.gaps} :
      state.before;
    const way = isSame(state, state.before) ?
      [] :
      Array.from({length: TRAIL + 1}, (_, t) => at(between(from, state, t / TRAIL)));
    return {now: at(state), was: at(state.before), way};
  }

  function drawWords(places) {
    const {unit} = size, at = placing(state, size);
    for (const [j, button] of buttons.entries()) {
      const isQuery = j === state.query;
      button.style.transform = `translate(${(at(places[j]) - unit / 2 + 3).toFixed(1)}px, 38px)`;
      button.style.width = `${(unit - 6).toFixed(1)}px`;
      button.classList.toggle("narrow", unit < 56);
      button.classList.toggle("unseen", j > state.query);
      button.setAttribute("aria-pressed", isQuery);
      button.ariaLabel =
        wordName(state.words[j].text, Math.round(places[j]), {isQuery, isFirst: j === 0});
    }
    const left = at(places[0]) - unit / 2 - 6, right = at(places.at(-1)) + unit / 2 + 6;
    Object.assign(grip.style, {
      transform: `translate(${left.toFixed(1)}px, ${size.top}px)`,
      width: `${(right - left).toFixed(1)}px`,
      height: `${size.height - size.top - 8}px`
    });
    grip.ariaValueNow = Math.round(state.start);
    grip.ariaValueText = `begins at position ${Math.round(state.start)}`;
  }

  function drawVerdicts() {
    const isMoved = !isSame(state, state.before);
    const changes =
      compare(state.words, state.query, state.method, placesOf(state.before), placesOf(state));
    for (const tag of all("[data-tag]")) {
      const change = changes[tag.dataset.tag];
      tag.textContent = isMoved ? verdict(change) : "not moved yet";
      tag.classList.toggle("moved", change > 0);
    }
    find(".moved").textContent =
      moved(Math.round(10 * state.start) / 10, Math.round(state.before.start));
    find(".far").textContent = state.start < 0.9 * LAST ? `begin at ${LAST}` : "begin at 0";
  }

  function draw() {
    const places = placesOf(state), seen = found();
    drawing.replaceChildren(...picture(state, size, seen));
    drawWords(places);
    for (const [j, row] of [...rows.rows].entries()) fillRow(row, j, state, places, seen);
    const {now, was} = seen;
    for (const [name, shapes] of [["sum", sumPicture(state, seen)],
           ["output", outputPicture(state, places[state.query], seen)]]) {
      const plane = find(`.${name} svg`);
      plane.replaceChildren(...shapes);
      plane.ariaLabel = pictureName(now[name], was[name]);
    }
    drawVerdicts();
  }

  // Words of a quantity in its colour.
  function colored(text) {
    return text.split(/\b(quer(?:y|ies)|keys?|values?|output)\b/i).map((part, i) => {
      if (i % 2 === 0) return part;
      const name = /^out/i.test(part) ? "o" : part[0].toLowerCase();
      return Object.assign(document.createElement("b"), {className: name, textContent: part});
    });
  }

  // The sentence on the last move, and all methods beside each other.
  function tell() {
    const before = placesOf(state.before), now = placesOf(state);
    const text = isSame(state, state.before) ?
      "Nothing has moved yet." :
      say(state.kind, compare(state.words, state.query, state.method, before, now), {
        by: state.start - state.before.start,
        isSeen: state.kind === "whole" || state.pulled <= state.query
      });
    if (texts.textContent !== text) texts.replaceChildren(...colored(text));
    find(".query-name").textContent = state.words[state.query].text;
    for (const formula of all("[data-method]"))
      formula.hidden = !formula.dataset.method.split(" ").includes(state.method);
    const places = state.words.map((_, j) => j), last = state.words.length - 1;
    const methods = all(".all-methods tbody tr").map(({dataset}) => dataset.row);
    const cells = table(state.words, last, methods, {
      places,
      moved: places.map((place) => place + FIRST_MOVE),
      pulled: places.map((place) => place === last ? place + 2 : place)
    });
    for (const [i, row] of all(".all-methods tbody tr").entries()) {
      cells[i].forEach((text, n) => {
        row.cells[n + 1].textContent = text;
      });
      row.classList.toggle("hot", row.dataset.row === state.method);
    }
  }

  function refit() {
    size = measure(stage.clientWidth, state);
    stage.style.height = `${size.height}px`;
    drawing.setAttribute("viewBox", `0 0 ${size.width} ${size.height}`);
    state.x = clamp(state.start * size.slope, 0,
      Math.max(0, size.room - (state.words.length + total(state.gaps)) * size.unit));
    draw();
  }

  // ---- Moves ----
  function place({start, gaps}) {
    state.gaps = gaps;
    moveTo(state, start, size);
  }

  function glide(to, milliseconds) {
    stop();
    const from = copy(state);
    stop = animate(milliseconds,
      (share) => {
        place(between(from, to, share));
        draw();
      },
      () => {
        target = undefined;
        tell();
      });
  }

  // A move begins; the state before it is the present one, or that before a move of the same kind.
  function begin(kind, isNew, j = 0) {
    stop();
    if (isNew || kind !== state.kind) {
      place(whole(state));
      state.before = copy(state);
      target = undefined;
    }
    Object.assign(state, {kind, pulled: j, hot: -1});
    target ??= copy(state);
  }

  function step(by) {
    begin("whole", false);
    target.start = clamp(Math.round(target.start + by), 0, LAST);
    glide(copy(target), TIMES.step);
  }

  function stretch(j, by) {
    if (j === 0) return step(by);
    begin("gap", false, j);
    target.gaps[j] = Math.round(clamp(target.gaps[j] + by, 0, widest(target, j, size)));
    glide(copy(target), TIMES.step);
  }

  // The same move again, with another method.
  function replay() {
    stop();
    const now = whole(state);
    place(copy(state.before));
    target = undefined;
    tell();
    glide(now, TIMES.replay);
  }

  function choose(j) {
    state.query = j;
    draw();
    tell();
  }

  function watchWord(button, row, j) {
    let from;
    watchHands(button, {
      click: () => choose(j),
      step: (by) => stretch(j, by),
      drop: () => glide(whole(state), TIMES.step),
      begin() {
        begin(j > 0 ? "gap" : "whole", true, j);
        from = copy(state);
      },
      drag(pixels) {
        const gaps = [...state.gaps];
        if (j > 0) gaps[j] = clamp(from.gaps[j] + pixels / size.unit, 0, widest(state, j, size));
        place({start: j > 0 ? state.start : from.start + pixels / size.slope, gaps});
        draw();
      }
    });
    for (const element of [button, row]) {
      const light = (hot) => ({pointerType, buttons: pressed}) => {
        if (pointerType !== "mouse" || pressed || target) return;
        state.hot = hot;
        draw();
      };
      element.addEventListener("pointerenter", light(j));
      element.addEventListener("pointerleave", light(-1));
    }
  }

  // ---- Words ----
  // Takes a sentence, if it has enough words.
  function read(sentence) {
    const list = sentence.trim().split(/\s+/).slice(0, MOST);
    if (list.length < FEWEST) return;
    stop();
    target = undefined;
    const start = Math.round(state.start);
    Object.assign(state, {
      words: list.map((text) => word(text, given.vectors)),
      gaps: list.map(() => 0),
      start,
      query: list.length - 1,
      kind: "whole",
      hot: -1
    });
    state.before = {
      start: start < FIRST_MOVE ? start + FIRST_MOVE : start - FIRST_MOVE,
      gaps: list.map(() => 0)
    };
    for (const button of buttons) button.remove();
    rows.replaceChildren();
    const pattern = find("template").content.firstElementChild;
    buttons = state.words.map(({text}, j) => {
      const button = Object.assign(document.createElement("button"), {
        type: "button",
        className: "word",
        textContent: text,
        title: "Drag: pull it away. Click: make it the query."
      });
      const row = pattern.cloneNode(true);
      row.cells[0].textContent = text;
      rows.append(row);
      watchWord(button, row, j);
      return button;
    });
    stage.append(...buttons);
    refit();
    tell();
  }

  // ---- Controls ----
  let from;
  watchHands(grip, {
    step,
    drop: () => glide(whole(state), TIMES.step),
    begin() {
      begin("whole", true);
      from = state.start;
    },
    drag(pixels) {
      place({start: from + pixels / size.slope, gaps: state.gaps});
      draw();
    }
  });
  for (const button of all("[data-step]"))
    button.addEventListener("click", () => step(Number(button.dataset.step)));
  find(".far").addEventListener("click", () => {
    begin("whole", true);
    glide({start: state.start < 0.9 * LAST ? LAST : 0, gaps: [...state.gaps]}, TIMES.far);
  });
  for (const form of all("form")) {
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("change", ({target: input}) => {
      if (input === own) return;
      const {value} = find("[name=how]:checked");
      back.closest("label").hidden = value !== "roper";
      state.method = value === "roper" && !back.checked ? "forward" : value;
      replay();
    });
  }
  own.addEventListener("input", () => read(own.value));

  read(given.words.join(" "));
  state.before = copy(state);
  draw();
  tell();
  new ResizeObserver(() => {
    if (stage.clientWidth !== size.width) refit();
  }).observe(stage);
  // It moves by itself once, unless it is touched before.
  const touched = new AbortController();
  for (const name of ["pointerdown", "keydown", "input"])
    figure.addEventListener(name, () => touched.abort(), {signal: touched.signal, capture: true});
  whenSeen(stage, () => {
    if (!touched.signal.aborted) glide({start: FIRST_MOVE, gaps: [...state.gaps]}, TIMES.opening);
  });
}

startAll(["sentence"], startSentence);
