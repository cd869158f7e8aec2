// What a move of words changes, found by comparing the numbers before and after it.
import {attend, forward, keep, THETA, wave} from "./attend.mjs";
import {length, plus, times, turn} from "./pair.mjs";

const TINY = 1e-9; // above rounding, below what is shown

const apart = (a, b) => length(plus(a, times(b, -1)));
const farthest = (as, bs) => Math.max(...as.map((a, j) => apart(a, bs[j])));

// How values arrive in the output, apart from their weights: the first name that fits all of them.
const ARRIVALS = {
  asIs: keep,
  byDistance: (v, place, own) => forward(v, place - own),
  byPosition: forward,
  withWave: wave,
};

function arrivalOf(words, places, i, {carried, weights}) {
  return Object.keys(ARRIVALS).find(
    (name) => carried.every(
      (part, j) =>
        apart(part, times(ARRIVALS[name](words[j].v, places[j], places[i]), weights[j])) < TINY));
}

// The largest change of a score, of the sum, of the output, and of the arrows (`matches`,
// `values`); that of the arrows if everything moved by one position more (`step`); whether the
// output has turned by as many positions as the query has moved; and how values arrive.
export function compare(words, i, name, before, after) {
  const was = attend(words, before, i, name), now = attend(words, after, i, name);
  const next = attend(words, after.map((place) => place + 1), i, name);
  const largest = (...changes) => {
    const change = Math.max(...changes);
    return change < TINY ? 0 : change;
  };
  const by = after[i] - before[i];
  return {
    scores: largest(...now.scores.map((score, j) => Math.abs(score - was.scores[j]))),
    sum: largest(apart(now.sum, was.sum)),
    output: largest(apart(now.output, was.output)),
    matches: largest(farthest(now.keys, was.keys), apart(now.query, was.query)),
    step: largest(farthest(next.keys, now.keys), apart(next.query, now.query)),
    values: largest(farthest(now.values, was.values)),
    turns: apart(now.output, was.output) >= TINY
      && apart(now.output, turn(was.output, by * THETA)) < TINY,
    arrival: arrivalOf(words, after, i, now),
  };
}

const STAY = (change) => change ? "change" : "stay";
const ARRIVE = {
  asIs: "as it is",
  byDistance: "turned by its distance",
  byPosition: "turned by its position",
  withWave: "with its wave"
};

// What stays and what changes, for each method, if the whole sentence moves, and if the query is
// pulled away from the words before it: rows of texts.
export function table(words, i, methods, {places, moved, pulled}) {
  return methods.map((name) => {
    const whole = compare(words, i, name, places, moved);
    const gap = compare(words, i, name, places, pulled);
    const output = whole.output === 0 ? "stays" : whole.turns ? "turns with the text" : "changes";
    return [STAY(whole.scores), output, STAY(gap.scores), ARRIVE[gap.arrival]];
  });
}
