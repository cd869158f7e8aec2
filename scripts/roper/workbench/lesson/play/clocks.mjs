// The pairs of a head as clocks: the key's hand falls back as the query moves on, each pair at its
// own frequency; what all hands add up to is the score, drawn by distance under them.
import {clamp} from "./layout.mjs";
import {animate} from "./motion.mjs";
import {frequencies} from "./numbers.mjs";
import {startAll} from "./start.mjs";
import {arrow, line, make} from "./svg.mjs";

const PLAYED = {
  distance: 60,
  milliseconds: 7000
};

// The hand of each pair at a distance: its angle from the query, its length, and what it adds to
// the score. A pair is [length, angle at distance 0]; only a fraction of the pairs turns.
export function hands(pairs, {base, fraction}, distance) {
  const turning = Math.round(fraction * pairs.length), thetas = frequencies(turning, base);
  return pairs.map(([size, start], t) => {
    const angle = start - distance * (thetas[t] ?? 0);
    return {size, angle, part: size * Math.cos(angle)};
  });
}

export const scoreOf = (list) => list.reduce((sum, {part}) => sum + part, 0);

const short = (number) => (Number(number.toFixed(1)) || 0).toFixed(1).replace("-", "−");

// The clocks in rows, from the fastest pair to the slowest.
function dials(list, width) {
  const columns = width > 620 ? 16 : 8, unit = width / columns, radius = 0.4 * unit;
  const longest = Math.max(...list.map(({size}) => size));
  const row = 2 * radius + 20, rows = Math.ceil(list.length / columns);
  const shapes = list.flatMap(({size, angle, part}, t) => {
    const x = (t % columns + 0.5) * unit, y = radius + 6 + Math.floor(t / columns) * row;
    const scale = radius / longest;
    return [
      make("circle", {class: "dial", cx: x, cy: y, r: radius}),
      make("path", {class: "arrow thin q", d: line([[x, y], [x + radius, y]])}),
      make("path", {class: "part", d: line([[x, y], [x + part * scale, y]])}), make("path", {
        class: "arrow k",
        d: arrow("k", [x, y], [size * scale * Math.cos(angle), -size * scale * Math.sin(angle)], 8)
      }),
      make("text", {x, y: y + radius + 13, "text-anchor": "middle"}, String(t))
    ];
  });
  return {shapes, height: rows * row + 6};
}

// The curve of the score up to a distance, and dashed, the one before the last change.
function chart({curve, old, reached, distance, score, most, farthest}, width, top) {
  const HEIGHT = 150, left = 34, right = width - 18;
  const low = Math.min(-most / 2, ...curve);
  const x = (p) => left + p / farthest * (right - left);
  const y = (value) => top + HEIGHT * (most - value) / (most - low);
  const points = (values) => values.map((value, p) => [x(p), y(value)]);
  const shapes = [make("path", {class: "axis", d: `M${left} ${top}V${top + HEIGHT}`})];
  for (const value of [most, most / 2, 0, -most / 2]) {
    shapes.push(make("path", {class: "axis", d: line([[left, y(value)], [right, y(value)]])}));
    shapes.push(make("text", {class: "level", x: left - 5, y: y(value) + 4, "text-anchor": "end"},
      String(Math.round(value)).replace("-", "−")));
  }
  for (let p = 0; p <= farthest; p += farthest / 4) {
    shapes.push(make(
      "text", {x: x(p), y: top + HEIGHT + 16, "text-anchor": "middle"}, String(Math.round(p))));
  }
  if (old) shapes.push(make("path", {class: "curve dashed", d: line(points(old))}));
  shapes.push(make("path", {
    class: "curve",
    d: line([
      ...points(curve.slice(0, Math.floor(reached) + 1)),
      ...reached === distance ? [[x(distance), y(score)]] : []
    ])
  }));
  shapes.push(make("circle", {class: "point", cx: x(distance), cy: y(score), r: 5}));
  shapes.push(make("text", {x: right, y: top + 14, "text-anchor": "end"}, "score by distance"));
  return {shapes, height: HEIGHT + 24};
}

function startClocks(figure, {farthest}) {
  const find = (selector) => figure.querySelector(selector);
  const stage = find(".stage"), drawing = find(".stage svg"),
        heads = JSON.parse(stage.dataset.heads);
  const slider = find("[name=distance]");
  let reached = 0, setting, pairs, curve, old, stop = () => {};

  function settingOf() {
    return {
      base: 10 ** find("[name=base]").value,
      fraction: Number(find("[name=fraction]").value),
      head: Number(find("[name=head]:checked").value)
    };
  }

  // Takes the setting of the controls; the curve of the former setting stays, dashed.
  function take() {
    old = setting && setting.head === settingOf().head ? curve.slice(0, Math.floor(reached) + 1) :
                                                         undefined;
    setting = settingOf();
    pairs = heads[setting.head];
    curve = Array.from({length: farthest + 1}, (_, p) => scoreOf(hands(pairs, setting, p)));
  }

  function draw(distance) {
    const list = hands(pairs, setting, distance), score = scoreOf(list);
    const most = pairs.reduce((sum, [size]) => sum + size, 0),
          width = Math.max(stage.clientWidth, 200);
    reached = Math.max(reached, distance);
    const above = dials(list, width);
    const below =
      chart({curve, old, reached, distance, score, most, farthest}, width, above.height + 14);
    const height = above.height + 14 + below.height;
    stage.style.height = `${height}px`;
    drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    drawing.replaceChildren(...above.shapes, ...below.shapes);
    const share = clamp(score / most, -1, 1), {style} = find(".now");
    style.left = `${50 + 50 * Math.min(0, share)}%`;
    style.width = `${50 * Math.abs(share)}%`;
    find(".score").textContent = short(score);
    find(".limit").textContent = ` of at most ${short(most)}`;
    for (const [name, text] of [["distance", String(Math.round(distance))],
           ["base", Math.round(setting.base).toLocaleString("en")],
           ["fraction", setting.fraction.toFixed(3)]])
      find(`output[data-show=${name}]`).textContent = text;
    slider.value = Math.round(distance);
    return list;
  }

  function tell(distance) {
    const list = draw(distance), still = list.length - Math.round(setting.fraction * list.length);
    const adding = list.filter(({part}) => part > 0).length;
    const text =
      `At distance ${distance}, ${adding} of ${list.length} hands point towards the query ` +
      `and add to the score; ${list.length - adding} point away and subtract.`
      + (still ? ` ${still} do not turn.` : "");
    if (find(".say").textContent !== text) find(".say").textContent = text;
    for (const input of figure.querySelectorAll("[type=range]"))
      input.ariaValueText = input.nextElementSibling.textContent;
  }

  figure.addEventListener("input", ({target}) => {
    stop();
    if (target !== slider) take();
    tell(Number(slider.value));
  });
  function play() {
    stop();
    const from = Number(slider.value) < PLAYED.distance ? Number(slider.value) : 0;
    const to = Math.min(PLAYED.distance, farthest);
    if (from === 0) reached = 0;
    stop =
      animate(PLAYED.milliseconds, (share) => draw(from + share * (to - from)), () => tell(to));
  }
  find(".motion").addEventListener("click", play);
  figure.addEventListener("opened", play); // a prediction is settled
  figure.addEventListener("printed", () => {
    draw(farthest);
    tell(Math.min(PLAYED.distance, farthest));
  });
  figure.addEventListener("data", ({detail}) => { // other heads, before that of ones
    detail.forEach(([, list], i) => {
      heads[i] = list;
    });
    take();
    tell(Number(slider.value));
  });
  take();
  tell(0);
  new ResizeObserver(() => draw(Number(slider.value))).observe(stage);
}

startAll(["clocks"], startClocks);
