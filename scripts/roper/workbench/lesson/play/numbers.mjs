// The values that figures of rotations and tokens show, by name: numbers, texts, and arrows as
// [x, y] or [x, y, from x, from y]. `progress` is that of the animation, from 0 to 1, at which it
// ends.
import {dot, plus, softmax, times, turn} from "./pair.mjs";

// Frequencies of `count` pairs, in radians per position.
export const frequencies = (count, base) =>
  Array.from({length: count}, (_, t) => base ** (-t / count));

// The fields of several objects in one object; the number of the object is added to each name.
const numbered = (list) => Object.fromEntries(list.flatMap(
  (fields, i) => Object.entries(fields).map(([name, value]) => [name + (i + 1), value])));

export const kinds = {
  rotation({position, base, theta, progress}, {vectors}) {
    const thetas = theta === undefined ? frequencies(vectors.length, base) : [theta];
    return numbered(thetas.map((speed, t) => {
      const angle = position * speed * progress, [x, y] = turn(vectors[t], angle);
      return {
        start: vectors[t],
        arrow: [x, y],
        x,
        y,
        theta: speed,
        turn: angle,
        degrees: angle * 180 / Math.PI
      };
    }));
  },

  // The animation first rotates forward, then back.
  attention({positions, turns, causal, progress}, {theta, query, keys, values}) {
    const forward = Math.min(1, 2 * progress), backward = Math.max(0, 2 * progress - 1);
    const count = (letter) => turns.split(letter).length - 1;
    const turned = (letter, pair, position, by) =>
      turn(pair, (count(letter) - count(letter.toUpperCase())) * position * theta * by);
    const own = positions.at(-1), asking = turned("q", query, own, 1);
    const back = (pair) => turned("o", pair, -own, backward);
    const scores = positions.map((position, i) => causal && position > own ?
        -Infinity :
        dot(asking, turned("k", keys[i], position, 1)) / Math.sqrt(2));
    const weights = softmax(scores);
    let total = [0, 0];
    const tokens = positions.map((position, i) => {
      const value = turned("v", values[i], position, forward), weight = weights[i];
      const part = times(value, weight), from = total;
      total = plus(total, part);
      return {
        position,
        distance: position - own,
        weight,
        value,
        score: scores[i] === -Infinity ? "not seen" : scores[i],
        key: turned("k", keys[i], position, forward),
        moved: back(value),
        part: [...part, ...from],
        back: [...back(part), ...back(from)]
      };
    });
    const output = back(total), [x, y] = output;
    const ending = count("o") ? "Rotated back" :
      count("O")              ? "Rotated forward" :
                                "Not rotated back";
    return {
      ...numbered(tokens),
      query: turned("q", query, own, forward),
      sum: total,
      output,
      output_x: x,
      output_y: y,
      ending: `${ending}: output o`
    };
  },
};
