// Elements and paths of SVG.
const NS = "http://www.w3.org/2000/svg";

const short = (number) => number.toFixed(1);

export function make(name, attributes = {}, ...children) {
  const element = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes))
    element.setAttribute(key, typeof value === "number" ? short(value) : value);
  element.append(...children);
  return element;
}

export const line = (points) =>
  points.length === 0 ? "" : `M${points.map(([x, y]) => `${short(x)} ${short(y)}`).join("L")}`;

// The path of an arrow. Its head tells the quantity, as its colour does: an open triangle for k, a
// diamond for v, a filled triangle for q and o.
export function arrow(kind, [x, y], [dx, dy], size) {
  const long = Math.hypot(dx, dy);
  if (long < 0.5) return "";
  const head = Math.min(size, 0.7 * long), wide = 0.45 * head, ux = dx / long, uy = dy / long;
  // a point at a distance before the tip, and at a distance beside the arrow
  const at = (before,
    beside = 0) => [x + dx - ux * before - uy * beside, y + dy - uy * before + ux * beside];
  if (kind === "k") return line([[x, y], at(0)]) + line([at(head, wide), at(0), at(head, -wide)]);
  if (kind === "v") {
    return `${line([[x, y], at(1.1 * head)])}${
      line([at(0), at(0.55 * head, wide), at(1.1 * head), at(0.55 * head, -wide)])}Z`;
  }
  return `${line([[x, y], at(head)])}${line([at(0), at(head, wide), at(head, -wide)])}Z`;
}
