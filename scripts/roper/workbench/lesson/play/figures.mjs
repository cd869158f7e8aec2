// Figures of numbers: recomputes and shows them when a control changes.
import {watchMotion} from "./motion.mjs";
import {kinds} from "./numbers.mjs";
import {startAll} from "./start.mjs";
import {watchTokens} from "./tokens.mjs";

function format(value, digits = 3) {
  const rounded = Number(value.toFixed(digits)) || 0; // no −0
  return rounded
    .toLocaleString("en", {minimumFractionDigits: digits, maximumFractionDigits: digits})
    .replace("-", "−");
}

function show(element, value) {
  if (typeof value === "string") element.textContent = value;
  else if (typeof value === "number") element.textContent = format(value, element.dataset.digits);
  else {
    const [x, y, left = 0, bottom = 0] = value;
    element.setAttribute("transform", `matrix(${x} ${y} ${- y} ${x} ${left} ${bottom})`);
  }
}

function showTip(element, [x, y]) {
  const reach = element.closest(".plane").dataset.reach;
  const by = 1 + 0.1 * reach / (Math.hypot(x, y) || 1);
  element.setAttribute("x", `${50 + 50 * by * x / reach}%`);
  element.setAttribute("y", `${50 - 50 * by * y / reach}%`);
}

function stateOf(figure) {
  const state = {};
  for (const {type, name, value, checked, dataset} of figure.querySelectorAll("input")) {
    if (type === "checkbox") state[name] = checked;
    else if (type === "range") state[name] = "log" in dataset ? 10 ** value : Number(value);
    else if (checked) state[name] = value;
  }
  return state;
}

function startNumbers(figure, given) {
  const update = (progress = 1) => {
    const state = {...stateOf(figure), positions: given.positions, progress};
    const values = {...state, ...kinds[given.kind](state, given)};
    for (const element of figure.querySelectorAll("[data-show]"))
      show(element, values[element.dataset.show]);
    for (const element of figure.querySelectorAll("[data-tip]"))
      showTip(element, values[element.dataset.tip]);
    for (const bar of figure.querySelectorAll("[data-bar]"))
      bar.style.width = `${100 * values[bar.dataset.bar]}%`;
    for (const input of figure.querySelectorAll("[type=range]"))
      input.setAttribute("aria-valuetext", input.nextElementSibling.textContent);
  };
  if (given.positions) watchTokens(figure, given.positions, update);
  figure.addEventListener("input", () => update());
  if (figure.querySelector(".motion")) watchMotion(figure, update);
  update();
}

startAll(["attention", "rotation"], startNumbers);
