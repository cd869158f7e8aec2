// What a sentence's attention computes, as bars with their numbers and as sums of arrows.
import {back, METHODS, THETA} from "./attend.mjs";
import {length, plus, times, turn} from "./pair.mjs";
import {arrow, line, make} from "./svg.mjs";

const RANGE = {
  waves: 3.6,
  other: 1.9
}; // the score of a whole bar
const SCALE = {
  waves: 35,
  other: 62
}; // pixels per unit of the planes
const HALF = [124, 96]; // of a plane, in pixels

const inKind = (kinds, method) => kinds[method] ?? kinds.other;

export const shown = (x, digits = 2) =>
  (Number(x.toFixed(digits)) || 0).toFixed(digits).replace("-", "−");

const tenths = (x) => String(Math.round(10 * x) / 10).replace("-", "−");

function fill(bar, now, was, isSigned) {
  for (const [name, value] of [["now", now], ["was", was]]) {
    const share = Math.max(-1, Math.min(1, value)), {style} = bar.querySelector(`.${name}`);
    style.left = isSigned ? `${50 + 50 * Math.min(0, share)}%` : "0";
    style.width = `${Math.abs(share) * (isSigned ? 50 : 100)}%`;
  }
}

// A row of the table: word, distance, score, weight.
export function fillRow(row, j, {method, query, hot}, places, {now, was}) {
  const isSeen = j <= query, range = inKind(RANGE, method), {cells} = row;
  cells[1].textContent = tenths(places[j] - places[query]);
  fill(cells[2], isSeen ? now.scores[j] / range : 0, isSeen ? was.scores[j] / range : 0, true);
  cells[3].textContent = isSeen ? shown(now.scores[j]) : "–";
  fill(cells[4], isSeen ? now.weights[j] : 0, isSeen ? was.weights[j] : 0, false);
  cells[5].textContent = isSeen ? shown(now.weights[j]) : "–";
  row.classList.toggle("unseen", !isSeen);
  row.classList.toggle("hot", hot === j);
}

function named(words, [x, y], scale) {
  const long = Math.hypot(x, y) || 1, far = scale + 13 / long;
  return make("text", {class: "name", "text-anchor": "middle", x: x * far, y: -y * far + 4}, words);
}

// Arrows tip to tail, their sum, and the sum before the move.
function chain(parts, [now, was, way], scale, {hot}, name) {
  const end = ([x, y]) => [x * scale, -y * scale];
  let from = [0, 0];
  const links = parts.map((part, j) => {
    const link = make("path", {
      class: `arrow v${hot >= 0 && hot !== j ? " dim" : ""}`,
      d: arrow("v", end(from), end(part), 7)
    });
    from = plus(from, part);
    return link;
  });
  const still = length(plus(now, times(was, -1))) < 1e-6;
  return [
    make("path", {class: "axis", d: `M${- HALF[0]} 0H${HALF[0]}M0 ${- HALF[1]}V${HALF[1]}`}),
    make("circle", {class: "dial", r: 62}),
    ...still ? [] :
               [
                 make("path", {class: "trail o", d: line(way.map(end))}),
                 make("path", {class: "arrow dashed o", d: line([[0, 0], end(was)])})
               ],
    ...links, make("path", {class: "arrow sum o", d: arrow("o", [0, 0], end(now), 12)}),
    named(name, now, scale)
  ];
}

// The picture of the weighted sum of the values.
export function sumPicture(state, {now, was, way}) {
  const scale = inKind(SCALE, state.method);
  return chain(now.parts, [now.sum, was.sum, way.map(({sum}) => sum)], scale, state,
    METHODS[state.method].sum === back ? "ô" : "o");
}

// The picture of the output; if the sum is rotated back, also the sum and the way back.
export function outputPicture(state, place, {now, was, way}) {
  const scale = inKind(SCALE, state.method);
  const list =
    chain(now.carried, [now.output, was.output, way.map(({output}) => output)], scale, state, "o");
  if (METHODS[state.method].sum !== back) return list;
  const angle = place * THETA % (2 * Math.PI), radius = 26 / (length(now.sum) || 1);
  const arc = Array.from({length: 41}, (_, t) => times(turn(now.sum, -angle * t / 40), radius));
  return [
    ...list, make("path", {class: "trail o", d: line(arc.map(([x, y]) => [x, -y]))}),
    make("path",
      {class: "arrow thin o", d: arrow("k", [0, 0], [now.sum[0] * scale, -now.sum[1] * scale], 8)}),
    named("ô", now.sum, scale)
  ];
}

export const pictureName = ([x, y], [oldX, oldY]) =>
  `An arrow to ${shown(x)}, ${shown(y)}; before the move to ${shown(oldX)}, ${shown(oldY)}.`;
