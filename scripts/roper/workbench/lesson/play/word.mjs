// Query, key and value of any word, decided by its letters alone, so the same word always has the
// same. A trained model has learned them instead.
const SALT = "/415175"; // chosen for scores that differ well in the first sentence

// Numbers from 0 to 1: FNV-1a of the text, then a mixing step for each number.
export function numbers(text) {
  let hash = 2166136261;
  for (const letter of text) hash = Math.imul(hash ^ letter.codePointAt(0), 16777619);
  return () => {
    hash = Math.imul(hash ^ hash >>> 15, 2246822519) + 0x9e3779b9 | 0;
    hash = Math.imul(hash ^ hash >>> 13, 3266489917);
    return ((hash ^ hash >>> 16) >>> 0) / 2 ** 32;
  };
}

// given: { q, k, v } of some words, by word
export function word(text, given = {}) {
  const next = numbers(text.toLowerCase() + SALT);
  const arrow = (least, most) => {
    const angle = 2 * Math.PI * next(), size = least + (most - least) * next();
    return [size * Math.cos(angle), size * Math.sin(angle)];
  };
  return {
    text,
    q: arrow(1.5, 2),
    k: arrow(1, 1.5),
    v: arrow(0.9, 1.4),
    ...given[text.toLowerCase()]
  };
}
