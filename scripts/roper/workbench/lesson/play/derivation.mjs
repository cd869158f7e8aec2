// The derivation of RoPER: a line of algebra whose pieces move from line to line, and the weighted
// values as arrows, which do the same.
import {clamp} from "./layout.mjs";
import {animate} from "./motion.mjs";
import {length, plus, times, turn} from "./pair.mjs";
import {startAll} from "./start.mjs";
import {arrow, line, make} from "./svg.mjs";

const ONE = 1000; // milliseconds from line to line
const HEIGHT = 300, SMALLEST = 200;
const STEPS = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  PageDown: -1,
  PageUp: 1,
  Home: -Infinity,
  End: Infinity
};

// What the lines do to the arrows: whether they are rotated forward and back; whether they are
// apart, each from the origin, or tip to tail; whether the two rotations have become one; the name
// of their sum.
const LINES = [
  {forward: 0, back: 0, apart: 0, joined: 0, name: "o"},
  {forward: 1, back: 0, apart: 0, joined: 0, name: "ô"},
  {forward: 1, back: 1, apart: 0, joined: 0, name: "o"},
  {forward: 1, back: 1, apart: 1, joined: 0, name: "o"},
  {forward: 1, back: 1, apart: 0, joined: 1, name: "o"}
];
const LAST = LINES.length - 1;

// Where the lines are at a number between theirs.
function between(at) {
  const before = Math.min(Math.floor(at), LAST - 1), share = at - before;
  return Object.fromEntries(["forward", "back", "apart", "joined"].map((key) => {
    const from = LINES[before][key];
    return [key, from + share * (LINES[before + 1][key] - from)];
  }));
}

// The arrows of the tokens of a text that begins at `first`; the query is the last of them.
export function arrowsOf({weighted, theta}, first, {forward, back}) {
  const query = first + weighted.length - 1;
  const angles = weighted.map((_, i) => theta * (forward * (first + i) - back * query));
  return weighted.map((value, i) => turn(value, angles[i]));
}

const sumOf = (arrows) => arrows.reduce(plus);

const number = (value, digits = 2) =>
  (Number(value.toFixed(digits)) || 0).toFixed(digits).replace("-", "−");

const pair = ([x, y]) => `(${number(x)}, ${number(y)})`;

// The points of an arc.
function arc(center, radius, from, to) {
  const count = Math.max(1, Math.ceil(Math.abs(to - from) / 0.1));
  return Array.from({length: count + 1}, (_, t) => {
    const angle = from + t / count * (to - from);
    return plus(center, [radius * Math.cos(angle), radius * Math.sin(angle)]);
  });
}

// The shapes of the picture. `before` is the sum of the line before.
function picture({setting, first, state, before, name}, width, [left, bottom, right, top]) {
  const {weighted, theta} = setting, arrows = arrowsOf(setting, first, state);
  const unit = Math.min(HEIGHT / (top - bottom), width / (right - left));
  const at = ([
    x, y
  ]) => [width / 2 + unit * (x - (left + right) / 2), HEIGHT / 2 - unit * (y - (bottom + top) / 2)];
  const over = ([x, y]) => [unit * x, -unit * y];
  const draw = (kind, tail, tip, style, size) =>
    make("path", {class: `arrow ${kind} ${style}`, d: arrow(kind, at(tail), over(tip), size)});
  const label = (text, point, kind) =>
    make("text", {class: kind, x: point[0], y: point[1] + 4, "text-anchor": "middle"}, text);
  const shapes =
    [make("path", {class: "axis", d: `M0 ${at([0, 0])[1]}H${width}M${at([0, 0])[0]} 0V${HEIGHT}`})];
  const query = first + weighted.length - 1, turned = Math.max(state.apart, state.joined);
  let tail = [0, 0];
  arrows.forEach((tip, i) => {
    const from = times(tail, 1 - state.apart), start = Math.atan2(weighted[i][1], weighted[i][0]);
    tail = plus(tail, tip);
    if (turned > 0) {
      const radius = 0.75 * length(tip), far = start + theta * (first + i) * (1 - state.joined);
      const points = [
        ...arc(from, radius, start, far),
        ...arc(from, 0.85 * radius, far, start + theta * (first + i - query))
      ];
      shapes.push(make("path", {class: "way", opacity: turned, d: line(points.map(at))}));
      const dashed = draw("v", from, weighted[i], "dashed", 8);
      dashed.setAttribute("opacity", turned);
      shapes.push(dashed);
    }
    shapes.push(draw("v", from, tip, "", 11));
    const [x, y] = at(plus(from, times(tip, 0.5))), [dx, dy] = over(tip), long = Math.hypot(dx, dy);
    shapes.push(label(String(first + i), [x - 12 * dy / long, y + 12 * dx / long], "v"));
  });
  if (length(plus(before, times(tail, -1))) > 1e-9)
    shapes.push(draw("o", [0, 0], before, "dashed", 10));
  const [dx, dy] = over(tail), long = Math.hypot(dx, dy) || 1, [x, y] = at(times(tail, 0.6));
  shapes.push(
    draw("o", [0, 0], tail, "sum", 15), label(name, [x + 14 * dy / long, y - 14 * dx / long], "o"));
  return shapes;
}

// Places the pieces of the lines at a number between theirs: those that two lines share move, the
// others fade; those that become one piece move to it.
function moveLines(items, at) {
  const before = Math.min(Math.floor(at), LAST - 1), share = at - before;
  const named = (i) => new Map(
    [...items[i].querySelectorAll("[data-piece]")].map((piece) => [piece.dataset.piece, piece]));
  const old = named(before), next = named(before + 1);
  const place = (piece, target, part, opacity) => {
    const x = target ? part * (target.offsetLeft - piece.offsetLeft) : 0;
    const y = target ? part * (target.offsetTop - piece.offsetTop) : 0;
    Object.assign(piece.style, {transform: `translate(${x}px, ${y}px)`, opacity});
  };
  items.forEach((item, i) => {
    item.classList.toggle("off", i !== before && i !== before + 1);
    item.ariaHidden = i !== Math.round(at);
  });
  for (const [name, piece] of next)
    place(piece, old.get(name), 1 - share, old.has(name) ? 1 : share);
  for (const [name, piece] of old) {
    const made = [...next.values()].find(({dataset}) => dataset.from?.split(" ").includes(name));
    place(piece, made, share, next.has(name) ? 0 : 1 - share);
  }
}

function startDerivation(figure, given) {
  const find = (selector) => figure.querySelector(selector);
  const items = [...figure.querySelectorAll(".lines > li")];
  const words = items.map((item) => item.querySelector(".words").textContent);
  const stage = find(".stage"), drawing = find(".stage svg"), slider = find("[name=line]");
  const box = JSON.parse(stage.dataset.box), begins = find("[name=first]"),
        rows = [...figure.querySelectorAll("table tr")];
  const setting = {
    theta: given.degrees * Math.PI / 180,
    weighted: given.values.map((value, i) => times(value, given.weights[i]))
  };
  let at = 0, from = 0, stop = () => {};
  const sum = (i, first = Number(begins.value)) => sumOf(arrowsOf(setting, first, LINES[i]));

  function draw(next) {
    at = next;
    const width = Math.max(stage.clientWidth, SMALLEST), first = Number(begins.value);
    drawing.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    const {name} = LINES[Math.round(at)];
    drawing.replaceChildren(
      ...picture({setting, first, state: between(at), before: sum(from), name}, width, box));
    moveLines(items, at);
    slider.value = at;
    begins.nextElementSibling.textContent = first;
  }

  // What the line has done, in words and numbers.
  function tell(text) {
    const i = Math.round(at), {forward, back, name} = LINES[i], first = Number(begins.value);
    const degrees = (by) => `${number(by * given.degrees, 0)}°`;
    const last = first + setting.weighted.length - 1;
    setting.weighted.forEach((_, n) => {
      const angles = [forward * (first + n), -back * last];
      [...angles, angles[0] + angles[1]].forEach((angle, column) => {
        rows[n + 1].cells[column + 1].textContent = degrees(angle);
      });
    });
    find(".total").textContent = `${name} = ${pair(sum(i))}`;
    const moved = length(plus(sum(i), times(sum(from), -1)));
    const verdict = from === i ? "" :
      moved < 1e-9             ? " The sum stays where it is." :
                                 ` The sum moves by ${number(moved)}.`;
    const said = text ?? words[i] + verdict;
    if (find(".say").textContent !== said) find(".say").textContent = said;
    slider.ariaValueText = `line ${i + 1} of ${LAST + 1}`;
    begins.ariaValueText = `position ${first}`;
    find(".back").disabled = i === 0;
    find(".next").disabled = i === LAST;
  }

  function go(to) {
    const target = clamp(to, 0, LAST), start = at;
    stop();
    if (target === start) return tell();
    from = Math.round(start) === target ? from : Math.round(start);
    stop = animate(ONE * Math.min(1, Math.abs(target - start)),
      (share) => draw(start + share * (target - start)), () => tell());
  }

  // Goes through all lines, one after the other.
  function play(next = 1) {
    stop();
    if (next === 1) draw(0);
    from = next - 1;
    stop = animate(ONE, (share) => draw(next - 1 + share), () => {
      tell();
      if (next < LAST) {
        const wait = setTimeout(() => play(next + 1), 0.6 * ONE);
        stop = () => clearTimeout(wait);
      }
    });
  }

  slider.addEventListener("input", () => {
    stop();
    const next = Number(slider.value);
    if (Math.abs(next - from) > 1) from = Math.round(at);
    draw(next);
  });
  slider.addEventListener("change", () => go(Math.round(slider.value)));
  slider.addEventListener("keydown", (event) => {
    const by = STEPS[event.key];
    if (by === undefined) return;
    event.preventDefault();
    go(Math.round(at) + by);
  });
  find(".back").addEventListener("click", () => go(Math.round(at) - 1));
  find(".next").addEventListener("click", () => go(Math.round(at) + 1));
  find(".motion").addEventListener("click", () => play());
  begins.addEventListener("input", () => {
    const i = Math.round(at);
    stop();
    draw(i);
    const turned = length(plus(sum(i), times(sum(i, 0), -1))) > 1e-9;
    tell(`The text begins at ${begins.value}. ${LINES[i].name} `
      + (turned ? "turns with the text." : "stays: it does not depend on where the text begins."));
  });
  figure.addEventListener("opened", () => play());

  for (const part of figure.querySelectorAll(".live")) part.hidden = false;
  figure.classList.add("moves");
  draw(0);
  tell();
  new ResizeObserver(() => draw(at)).observe(stage);
  document.fonts.ready.then(() => draw(at));
}

startAll(["derivation"], startDerivation);
