// The picture of a sentence on a ruler: each word with its query, key and value as arrows; dashed,
// those before the move, and as a thin line, the way from there.
import {forward, keep, METHODS, wave} from "./attend.mjs";
import {placesOf} from "./layout.mjs";
import {length, plus, times} from "./pair.mjs";
import {arrow, line, make} from "./svg.mjs";
import {numbers} from "./word.mjs";

const LABELS =
  new Map([[keep, "not turned"], [wave, "plus a wave"], [forward, "turned 30° per position"]]);
const HEAD = 9; // pixels
const DRAWN = {
  match: 2.25,
  value: 1.45,
  waves: 1.35
}; // lengths that fill a dial, and their growth

const text = (x, y, words, attributes) =>
  make("text", {x, y, "text-anchor": "middle", ...attributes}, words);

// The other words of a text, as grey bars of any length.
const bar = (x, seed, {unit}) => {
  const width = unit * (0.34 + 0.4 * numbers(seed)());
  return make("rect", {class: "pill", x: x - width / 2, y: 50, width, height: 10, rx: 5});
};

function ruler(state, size, at, [left, right], old) {
  const {unit} = size, every = unit < 56 ? 2 : 1, list = [];
  const first = Math.max(0, Math.ceil(state.start - left / unit - 1));
  const last = Math.floor(state.start + (size.width - left) / unit);
  const ticks = [];
  for (let place = first; place <= last; place++) {
    const x = at(place);
    ticks.push(`M${x.toFixed(1)} 24V30`);
    if (place % every === 0) list.push(text(x, 17, String(place)));
    const isFree = x + 0.4 * unit < left || x - 0.4 * unit > right;
    if (isFree && !old.some((one) => Math.abs(one - place) < 0.5))
      list.push(bar(x, `pill ${place}`, size));
  }
  if (first === 0) ticks.push(`M${(at(0) - unit / 2 - 8).toFixed(1)} 0V${size.height}`);
  return [make("path", {class: "tick", d: ticks.join("")}), ...list];
}

// The letters of a word that fit: a bold letter is about 10 pixels wide.
const shortened = (word, unit) =>
  10 * word.length > unit ? `${word.slice(0, Math.max(1, unit / 10 - 2))}…` : word;

// The sentence before the move: its outline and its words.
function ghost({words}, size, at, old) {
  const {unit, top, height} = size, x = at(old[0]) - unit / 2 - 6;
  const width = at(old.at(-1)) - at(old[0]) + unit + 12;
  return [
    make("rect", {class: "box dashed", rx: 13, x, y: top, width, height: height - top - 8}),
    ...old.map(
      (place, j) => text(at(place), 60, shortened(words[j].text, unit), {class: "word-before"})),
    text(x + width / 2, height - 21, "before")
  ];
}

// One arrow of a word: now, before, and its tip on the way.
function hand(kind, centre, scale, [now, was, way], isSeen) {
  const [x, y] = centre, end = ([a, b]) => [x + a * scale, y - b * scale];
  const still = length(plus(now, times(was, -1))) < 1e-6;
  const list = [];
  if (!still && isSeen) {
    list.push(make("path", {class: `trail ${kind}`, d: line(way.map(end))}));
    list.push(make("path", {class: `arrow dashed ${kind}`, d: line([centre, end(was)])}));
  }
  list.push(make("path", {
    class: `arrow ${kind}${isSeen ? "" : " unseen"}`,
    d: arrow(kind, centre, [now[0] * scale, -now[1] * scale], HEAD)
  }));
  return list;
}

function dials({words, query, method, hot}, size, at, places, {now, was, way}) {
  const {radius, matches, values} = size, grown = method === "waves" ? DRAWN.waves : 1;
  return words.flatMap((word, j) => {
    const x = at(places[j]), isSeen = j <= query;
    const one = (kind, y, full, get) =>
      hand(kind, [x, y], radius / (full * grown), [get(now), get(was), way.map(get)], isSeen);
    return make("g", {class: hot >= 0 && hot !== j ? "dim" : ""},
      make("circle", {class: "dial", cx: x, cy: matches, r: radius}),
      make("circle", {class: "dial", cx: x, cy: values, r: radius}),
      ...one("k", matches, DRAWN.match, ({keys}) => keys[j]),
      ...j === query ? one("q", matches, DRAWN.match, (found) => found.query) : [],
      ...one("v", values, DRAWN.value, (found) => found.values[j]),
      text(
        x, 60, shortened(word.text, size.unit), {class: j === query ? "word-now q" : "word-now"}));
  });
}

const letter = (name) => make("tspan", {class: name}, name);

// The place of a position on the stage, in pixels.
export const placing = (state, {inset, unit}) => (place) =>
  inset + state.x + (place - state.start + 0.5) * unit;

// What is drawn for a state; found: { now, was, way }, the attention now, before, and on the way.
export function picture(state, size, found) {
  const {unit, radius, top, height} = size, at = placing(state, size);
  const places = placesOf(state), old = placesOf(state.before);
  const left = at(places[0]) - unit / 2 - 6, right = at(places.at(-1)) + unit / 2 + 6;
  const {match, value} = METHODS[state.method];
  const between =
    state.gaps.flatMap((gap, j) => Array.from({length: j > 0 ? Math.round(gap) : 0},
                         (_, n) => bar(at(places[j - 1] + n + 1), `gap ${j} ${n}`, size)));
  const label = (y, ...parts) => make("text", {x: left + 10, y}, ...parts);
  return [
    ...ruler(state, size, at, [left, right], old), ...ghost(state, size, at, old),
    make("rect",
      {class: "box", rx: 13, x: left, y: top, width: right - left, height: height - top - 8}),
    ...between,
    label(size.matches - radius - 9, letter("q"), ", ", letter("k"), ` ${LABELS.get(match)}`),
    label(size.values - radius - 9, letter("v"), ` ${LABELS.get(value)}`),
    ...dials(state, size, at, places, found)
  ];
}
