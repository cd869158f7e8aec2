// The sentence that moves: the reader's words on a ruler, moved as a whole or pulled apart, and
// what each way to use positions makes of the move.
import {attend} from "./attend.mjs";
import {watchHands} from "./hands.mjs";
import {between, clamp, copy, LAST, moveTo, placesOf, whole, widest} from "./layout.mjs";
import {animate, whenSeen} from "./motion.mjs";
import {shown} from "./results.mjs";
import {startAll} from "./start.mjs";
import {farthest, View} from "./view.mjs";
import {word} from "./word.mjs";

const FEWEST = 2, MOST = 6; // words
const TIMES = {
  step: 220,
  far: 900,
  replay: 1400,
  opening: 1800,
  pause: 1800
}; // milliseconds
const FIRST_MOVE = 6; // positions

function startSentence(figure, given) {
  const view = new View(figure), {find, all, stage, grip} = view;
  const own = find("[name=own]"), back = find("[name=back]");
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
  let target, stop = () => {}; // the layout at the end of the motion, and what ends it

  const draw = () => view.draw(state);
  const tell = () => view.tell(state);

  // ---- Moves ----
  function place({start, gaps}) {
    state.gaps = gaps;
    moveTo(state, start, view.size);
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
    target.gaps[j] = Math.round(clamp(target.gaps[j] + by, 0, widest(target, j, view.size)));
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
        if (j > 0)
          gaps[j] = clamp(from.gaps[j] + pixels / view.size.unit, 0, widest(state, j, view.size));
        place({start: j > 0 ? state.start : from.start + pixels / view.size.slope, gaps});
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
    view.build(state.words, watchWord);
    view.fit(state);
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
      place({start: from + pixels / view.size.slope, gaps: state.gaps});
      draw();
    }
  });
  for (const button of all("[data-step]"))
    button.addEventListener("click", () => step(Number(button.dataset.step)));
  find(".far").addEventListener("click", () => {
    begin("whole", true);
    glide({start: farthest(state), gaps: [...state.gaps]}, TIMES.far);
  });
  for (const form of all("form")) {
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("change", ({target: input}) => {
      if (input === own) return;
      takeMethod();
      replay();
    });
  }
  function takeMethod() {
    const {value} = find("[name=how]:checked");
    back.closest("label").hidden = value !== "roper";
    state.method = value === "roper" && !back.checked ? "forward" : value;
  }

  // ---- Questions ----
  function take(method, isBack = true) {
    find(`[name=how][value=${method}]`).checked = true;
    back.checked = isBack;
    takeMethod();
    draw();
    tell();
  }

  // The scores of the first word that occurs again.
  function twins() {
    const texts = state.words.map(({text}) => text);
    const twice = texts.find((text, j) => texts.indexOf(text) < j);
    const {scores} = attend(state.words, placesOf(state), state.query, state.method);
    return scores.filter((_, j) => texts[j] === twice).map((score) => shown(score)).join(" and ");
  }

  const tries = {
    twice() {
      take("none");
      const same = twins(), id = setTimeout(() => {
        take("rope");
        find(".say").textContent = `The same word has the same key. With nothing, the scores are ${
          same}. RoPE turns the two keys by different angles: ${twins()}.`;
      }, TIMES.pause);
      stop = () => clearTimeout(id);
    },
    pull() {
      const j = state.words.length - 1;
      take("roper");
      begin("gap", true, j);
      stretch(j, 2);
    },
    forward() {
      take("roper", false);
      begin("whole", true);
      glide({start: state.start + FIRST_MOVE, gaps: [...state.gaps]}, TIMES.replay);
    }
  };
  for (const button of all("[data-try]")) {
    button.addEventListener("click", () => {
      read(own.value = given.words.join(" "));
      state.before = copy(state);
      tries[button.dataset.try]();
      stage.scrollIntoView({block: "nearest"});
    });
  }
  own.addEventListener("input", () => read(own.value));

  read(given.words.join(" "));
  state.before = copy(state);
  draw();
  tell();
  new ResizeObserver(() => {
    if (stage.clientWidth !== view.size.width) view.fit(state);
  }).observe(stage);
  // It moves by itself once, unless it is touched before.
  const touched = new AbortController();
  for (const name of ["pointerdown", "keydown", "input"])
    figure.addEventListener(name, () => touched.abort(), {signal: touched.signal, capture: true});
  const open = () => {
    if (!touched.signal.aborted) glide({start: FIRST_MOVE, gaps: [...state.gaps]}, TIMES.opening);
  };
  whenSeen(stage, () => figure.closest("[data-waits]") ? undefined : open());
  figure.addEventListener("opened", open); // a prediction is settled
}

startAll(["sentence"], startSentence);
