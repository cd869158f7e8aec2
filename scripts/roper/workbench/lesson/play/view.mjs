// What the figure of a sentence shows of its state, and the words and rows that it has.
//
// A state has the words; their layout (layout.mjs), and `before`, that before the last move; query,
// the index of a word; method; kind of the last move, "whole" or "gap"; pulled, the index of the
// word of a gap; hot, the index of the word below the mouse, or -1.
import {attend} from "./attend.mjs";
import {between, clamp, isSame, LAST, measure, placesOf, total} from "./layout.mjs";
import {fillRow, outputPicture, pictureName, sumPicture} from "./results.mjs";
import {moved, say, verdict, wordName} from "./say.mjs";
import {picture, placing} from "./stage.mjs";
import {compare, table} from "./verdict.mjs";

const TRAIL = 24, LONGEST = 12; // points of a trail, and positions: a full turn
const TABLE = {
  whole: 6,
  gap: 2
}; // positions that the moves of the table of all methods have
const FAR = 0.9 * LAST;

export const farthest = ({start}) => start < FAR ? LAST : 0;

// The attention now, before the last move, and on the way.
function attentions(state) {
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

const changes = (state) =>
  compare(state.words, state.query, state.method, placesOf(state.before), placesOf(state));

// Words of a quantity in its colour.
function colored(text) {
  return text.split(/\b(quer(?:y|ies)|keys?|values?|output)\b/i).map((part, i) => {
    if (i % 2 === 0) return part;
    const name = /^out/i.test(part) ? "o" : part[0].toLowerCase();
    return Object.assign(document.createElement("b"), {className: name, textContent: part});
  });
}

export class View {
  buttons = [];

  constructor(figure) {
    const find = (selector) => figure.querySelector(selector);
    const all = (selector) => [...figure.querySelectorAll(selector)];
    Object.assign(this, {
      find,
      all,
      stage: find(".stage"),
      drawing: find(".stage svg"),
      grip: find(".grip"),
      rows: find(".scores tbody"),
      text: find(".say")
    });
  }

  // Shows other words; watch(button, row, j) for each.
  build(words, watch) {
    for (const button of this.buttons) button.remove();
    this.rows.replaceChildren();
    const pattern = this.find("template").content.firstElementChild;
    this.buttons = words.map(({text}, j) => {
      const button = Object.assign(document.createElement("button"), {
        type: "button",
        className: "word",
        textContent: text,
        title: "Drag: pull it away. Click: make it the query."
      });
      const row = pattern.cloneNode(true);
      row.cells[0].textContent = text;
      this.rows.append(row);
      watch(button, row, j);
      return button;
    });
    this.stage.append(...this.buttons);
  }

  // Measures the stage, and places the sentence on it.
  fit(state) {
    const size = measure(this.stage.clientWidth, state);
    const taken = (state.words.length + total(state.gaps)) * size.unit;
    this.size = size;
    this.stage.style.height = `${size.height}px`;
    this.drawing.setAttribute("viewBox", `0 0 ${size.width} ${size.height}`);
    state.x = clamp(state.start * size.slope, 0, Math.max(0, size.room - taken));
    this.draw(state);
  }

  draw(state) {
    const places = placesOf(state), seen = attentions(state), {now, was} = seen;
    this.drawing.replaceChildren(...picture(state, this.size, seen));
    this.#placeWords(state, places);
    for (const [j, row] of [...this.rows.rows].entries()) fillRow(row, j, state, places, seen);
    for (const [name, shapes] of [["sum", sumPicture(state, seen)],
           ["output", outputPicture(state, places[state.query], seen)]]) {
      const plane = this.find(`.${name} svg`);
      plane.replaceChildren(...shapes);
      plane.ariaLabel = pictureName(now[name], was[name]);
    }
    this.#judge(state);
  }

  #placeWords(state, places) {
    const {unit, top, height} = this.size, at = placing(state, this.size);
    for (const [j, button] of this.buttons.entries()) {
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
    Object.assign(this.grip.style, {
      transform: `translate(${left.toFixed(1)}px, ${top}px)`,
      width: `${(right - left).toFixed(1)}px`,
      height: `${height - top - 8}px`
    });
    this.grip.ariaValueNow = Math.round(state.start);
    this.grip.ariaValueText = `begins at position ${Math.round(state.start)}`;
  }

  #judge(state) {
    const isMoved = !isSame(state, state.before), found = changes(state);
    for (const tag of this.all("[data-tag]")) {
      const change = found[tag.dataset.tag];
      tag.textContent = isMoved ? verdict(change) : "not moved yet";
      tag.classList.toggle("moved", change > 0);
    }
    this.find(".moved").textContent =
      moved(Math.round(10 * state.start) / 10, Math.round(state.before.start));
    this.find(".far").textContent = `begin at ${farthest(state)}`;
  }

  // What the last move has done, in words, and all methods beside each other.
  tell(state) {
    const text =
      isSame(state, state.before) ? "Nothing has moved yet." : say(state.kind, changes(state), {
        by: state.start - state.before.start,
        isSeen: state.kind === "whole" || state.pulled <= state.query
      });
    if (this.text.textContent !== text) this.text.replaceChildren(...colored(text));
    this.find(".query-name").textContent = state.words[state.query].text;
    for (const formula of this.all("[data-method]"))
      formula.hidden = !formula.dataset.method.split(" ").includes(state.method);
    this.#fillTable(state);
  }

  #fillTable({words, method}) {
    const places = words.map((_, j) => j), last = words.length - 1;
    const rows = this.all(".all-methods tbody tr");
    const cells = table(words, last, rows.map(({dataset}) => dataset.row), {
      places,
      moved: places.map((place) => place + TABLE.whole),
      pulled: places.map((place) => place === last ? place + TABLE.gap : place)
    });
    for (const [i, row] of rows.entries()) {
      cells[i].forEach((text, n) => {
        row.cells[n + 1].textContent = text;
      });
      row.classList.toggle("hot", row.dataset.row === method);
    }
  }
}
