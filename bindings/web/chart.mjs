// The losses of a race as curves that grow, each with its name at its end.
const SVG = "http://www.w3.org/2000/svg";
const MARGIN = {
  left: 44,
  right: 92,
  top: 28,
  bottom: 40
};
const COLORS = 4; // in page.css
const GAP = 16; // pixels between two names

function add(parent, tag, attributes, text = "") {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.textContent = text;
  parent.append(element);
  return element;
}

// Round numbers from low to high, about `count`.
function ticks(low, high, count) {
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((value) => value >= rough);
  const list = [];
  for (let i = Math.ceil(low / step); i * step <= high + 1e-9; i++) list.push(i * step);
  return {list, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9))};
}

export class Chart {
  #svg;
  #curves = new Map();
  #names = [];
  #isDue = false;

  // title: of the method of a curve
  constructor(svg, title) {
    this.#svg = svg;
    this.title = title;
    new ResizeObserver(() => this.#plan()).observe(svg);
  }

  // steps: the last of the axis; floor: the least possible loss, if known; seed: of the curves in
  // bold
  set(settings) {
    Object.assign(this, settings);
    this.#plan();
  }

  clear() {
    this.#curves.clear();
    this.#names = [];
    this.#plan();
  }

  // Adds a point, or replaces those from its step on, which were trained again.
  add({position, seed, step, loss}) {
    const key = `${position} ${seed}`;
    if (!this.#curves.has(key)) this.#curves.set(key, {position, seed, points: []});
    if (!this.#names.includes(position)) this.#names.push(position);
    const {points} = this.#curves.get(key);
    points.length = Math.min(points.length, step - 1);
    points.push(loss);
    this.#plan();
  }

  get rows() {
    return [...this.#curves.values()].flatMap(
      ({position, seed, points}) => points.map((loss, i) => [seed, position, i + 1, loss]));
  }

  #plan() {
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame(() => {
      this.#isDue = false;
      this.#draw();
    });
  }

  #draw() {
    const svg = this.#svg, width = svg.clientWidth || 640, height = svg.clientHeight || 320;
    const curves = [...this.#curves.values()].filter(({points}) => points.length > 0);
    const losses = curves.flatMap(({points}) => points).concat(this.floor ?? []);
    const low = losses.length > 1 ? Math.min(...losses) * .95 : 0,
          high = losses.length > 1 ? Math.max(...losses) * 1.02 : 2;
    const right = width - MARGIN.right, bottom = height - MARGIN.bottom, steps = this.steps ?? 50;
    const x = (step) => MARGIN.left + (right - MARGIN.left) * (step - 1) / (steps - 1);
    const y = (loss) => bottom - (bottom - MARGIN.top) * (loss - low) / (high - low);
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const {list, digits} = ticks(low, high, 5);
    for (const value of list) {
      add(svg, "line", {class: "grid", x1: MARGIN.left, x2: right, y1: y(value), y2: y(value)});
      add(svg, "text", {x: MARGIN.left - 8, y: y(value) + 4, "text-anchor": "end"},
        value.toFixed(digits));
    }
    for (const step of [1, ...ticks(1, steps, 5).list.filter((value) => value > steps / 12)])
      add(svg, "text", {x: x(step), y: bottom + 18, "text-anchor": "middle"}, step);
    add(
      svg, "text", {x: (MARGIN.left + right) / 2, y: height - 6, "text-anchor": "middle"}, "step");
    add(svg, "text", {x: 8, y: 16}, "loss");
    if (this.floor !== undefined) {
      add(svg, "line",
        {class: "floor", x1: MARGIN.left, x2: right, y1: y(this.floor), y2: y(this.floor)});
      add(svg, "text", {x: MARGIN.left + 4, y: y(this.floor) - 5},
        `least possible ${this.floor.toFixed(2)}`);
    }
    curves.sort((a, b) => (a.seed === this.seed) - (b.seed === this.seed));
    const ends = [];
    for (const {position, seed, points} of curves) {
      const color = this.#names.indexOf(position) % COLORS + 1, isNow = seed === this.seed;
      add(svg, "polyline", {
        class: `curve s${color} ${isNow ? "now" : ""}`,
        points: points.map((loss, i) => `${x(i + 1).toFixed(1)},${y(loss).toFixed(1)}`).join(" ")
      });
      if (isNow) ends.push({color, position, x: x(points.length), y: y(points.at(-1))});
    }
    this.#label(ends);
  }

  // Writes the names at the ends of the curves, apart from each other.
  #label(ends) {
    ends.sort((a, b) => a.y - b.y);
    let before = -Infinity;
    for (const {color, position, x, y} of ends) {
      add(this.#svg, "circle", {class: `end s${color}`, cx: x, cy: y, r: 4});
      before = Math.max(y + 4, before + GAP);
      add(this.#svg, "text", {class: `name s${color}`, x: x + 9, y: before}, this.title(position));
    }
  }
}
