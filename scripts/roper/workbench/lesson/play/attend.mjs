// Attention of a word to itself and to the words before it. Vectors are single pairs.
import {dot, plus, softmax, times, turn} from "./pair.mjs";

export const THETA = Math.PI / 6; // radians per position: the hour hand of a clock
const WAVE = 0.7; // length of the waves that are added

export const keep = (x) => x;
export const forward = (x, p) => turn(x, p * THETA);
export const back = (x, p) => turn(x, -p * THETA);
export const wave = (x, p) => plus(x, turn([WAVE, 0], p * THETA));

// What each method does to queries and keys, to values, and to the weighted sum of the values.
export const METHODS = {
  none: {match: keep, value: keep, sum: keep},
  waves: {match: wave, value: wave, sum: keep},
  rope: {match: forward, value: keep, sum: keep},
  forward: {match: forward, value: forward, sum: keep}, // RoPER without its last rotation
  roper: {match: forward, value: forward, sum: back},
};

// words: [{ q, k, v }]; places: their positions; i: the query's index. The scores, weights and
// parts of the sum are those of the words up to the query; `carried` are the parts in the output.
export function attend(words, places, i, name) {
  const method = METHODS[name], seen = words.slice(0, i + 1);
  const query = method.match(words[i].q, places[i]);
  const keys = words.map(({k}, j) => method.match(k, places[j]));
  const values = words.map(({v}, j) => method.value(v, places[j]));
  const scores = seen.map((_, j) => dot(query, keys[j]) / Math.SQRT2);
  const weights = softmax(scores);
  const parts = seen.map((_, j) => times(values[j], weights[j]));
  const sum = parts.reduce(plus), output = method.sum(sum, places[i]);
  const carried = parts.map((part) => method.sum(part, places[i]));
  return {query, keys, values, scores, weights, parts, sum, carried, output};
}
