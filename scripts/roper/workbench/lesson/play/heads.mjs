// The weights of heads by distance, as training goes on: RoPE beside RoPER.
import {animate} from "./motion.mjs";
import {startAll} from "./start.mjs";
import {line, make} from "./svg.mjs";

const PLAYED = 4000; // milliseconds
const ROW = 74, TOP = 24, BOTTOM = 22, GAP = 22, SMALLEST = 240;
const TICK = 4; // distances

// The weights of a head between two states, from 0 to 1.
export function weightsAt(states, head, at) {
  const before = Math.min(Math.floor(at), states.length - 2), share = at - before;
  return states[before][head].map(
    (weight, p) => (weight + share * (states[before + 1][head][p] - weight)) / 1000);
}

// Where a head has its largest weight.
export function largest(weights) {
  const weight = Math.max(...weights);
  return {distance: weights.indexOf(weight), weight};
}

// A column of a method: a curve for each head; dashed, that before training.
function column({name, states, at}, left, right) {
  const heads = states[0].length, count = states[0][0].length;
  const x = (p) => left + p / (count - 1) * (right - left);
  const shapes = [make("text", {class: "name", x: left, y: 15}, name)];
  for (let head = 0; head < heads; head++) {
    const base = TOP + (head + 1) * ROW, y = (weight) => base - weight * (ROW - 16);
    const curve = (weights) => line(weights.map((weight, p) => [x(p), y(weight)]));
    shapes.push(make("path", {class: "axis", d: `M${left} ${base}H${right}`}),
      make("text", {x: right, y: base - ROW + 26, "text-anchor": "end"}, `head ${head + 1}`),
      make("path", {class: "curve was", d: curve(weightsAt(states, head, 0))}),
      make("path", {class: "curve now", d: curve(weightsAt(states, head, at))}));
  }
  for (let p = 0; p < count; p += TICK) {
    shapes.push(
      make("text", {x: x(p), y: TOP + heads * ROW + 16, "text-anchor": "middle"}, String(p)));
  }
  return shapes;
}

function startHeads(figure, given, data) {
  const find = (selector) => figure.querySelector(selector);
  const stage = find(".stage"), drawing = find(".stage svg"), slider = find("[name=state]");
  const rows = [...figure.querySelectorAll("table tr")].slice(1);
  let at = 0, stop = () => {};
  const last = () => data.weights[0].length - 1;
  const found = () =>
    data.weights.map((states) => states[0].map((_, head) => largest(weightsAt(states, head, at))));

  function draw(next) {
    at = next;
    const count = data.methods.length, width = Math.max(stage.clientWidth, SMALLEST);
    const height = TOP + data.weights[0][0].length * ROW + BOTTOM;
    const room = (width - 28 - (count - 1) * GAP) / count;
    drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    drawing.replaceChildren(...data.methods.flatMap((name, i) => {
      const left = 14 + i * (room + GAP);
      return column({name, states: data.weights[i], at}, left, left + room);
    }));
    slider.value = at;
    slider.nextElementSibling.textContent = Math.round(at * data.every);
    found().flat().forEach(({distance, weight}, i) => {
      const [, where, bar, number] = rows[i].cells;
      where.textContent = distance;
      bar.firstElementChild.style.width = `${100 * weight}%`;
      number.textContent = weight.toFixed(2);
    });
  }

  function tell() {
    const list = (numbers) => numbers.length < 2 ?
      `${numbers}` :
      `${numbers.slice(0, -1).join(", ")} and ${numbers.at(-1)}`;
    const each = found().map(
      (heads, i) => `${data.methods[i]} at ${list(heads.map(({distance}) => distance))}`);
    const step = Math.round(at * data.every);
    const text = `${step === 0 ? "Before training" : `After ${step} steps`}, the heads have their `
      +
      `largest weight at these distances: ${each.join("; ")}.`;
    if (find(".say").textContent !== text) find(".say").textContent = text;
    slider.ariaValueText = `step ${step}`;
  }

  function play() {
    stop();
    const from = at < last() ? at : 0;
    stop = animate(PLAYED, (share) => draw(from + share * (last() - from)), tell);
  }

  slider.addEventListener("input", () => {
    stop();
    draw(Number(slider.value));
    tell();
  });
  find(".motion").addEventListener("click", play);
  figure.addEventListener("opened", play);
  figure.addEventListener("printed", () => {
    draw(last());
    tell();
  });
  figure.addEventListener("data", ({detail}) => { // the heads of models that were trained here
    data = detail;
    stop();
    at = 0;
    play();
  });
  draw(0);
  tell();
  new ResizeObserver(() => draw(at)).observe(stage);
}

startAll(["heads"], startHeads);
