// Pairs of numbers: arrows in a plane, and the attention weights of scores.
export const plus = ([a, b], [c, d]) => [a + c, b + d];
export const times = ([a, b], by) => [a * by, b * by];
export const dot = ([a, b], [c, d]) => a * c + b * d;
export const length = ([a, b]) => Math.hypot(a, b);
export const turn = ([x, y], angle) => [x * Math.cos(angle) - y * Math.sin(angle),
  y * Math.cos(angle) + x * Math.sin(angle),
];

export function softmax(scores) {
  const largest = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - largest));
  const total = powers.reduce((a, b) => a + b);
  return powers.map((power) => power / total);
}
