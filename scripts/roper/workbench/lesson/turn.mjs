// Arrows of a picture that turn: a control, and their motion.
const calm = matchMedia("(prefers-reduced-motion: reduce)");

// Shows a share of a motion, from 0 to 1, in 1.4 seconds; at once if the user prefers this.
export function move(show) {
  const MILLISECONDS = 1400;
  let begin;
  const frame = (now) => {
    begin ??= now;
    const share = Math.min(1, (now - begin) / MILLISECONDS);
    show(share < 0.5 ? 2 * share * share : 1 - 2 * (1 - share) ** 2);
    if (share < 1) requestAnimationFrame(frame);
  };
  if (calm.matches) show(1);
  else requestAnimationFrame(frame);
}

// Adds a control to a figure whose arrows turn. Returns a function that shows a share of it, and
// what to do; nothing if no arrow turns.
export function control(figure) {
  if (!figure.querySelector(".turned")) return undefined;
  const input = Object.assign(document.createElement("input"),
    {type: "range", min: 0, max: 100, value: 100, autocomplete: "off"});
  const label = document.createElement("label"), name = document.createElement("span");
  const now = document.createElement("span"), task = document.createElement("p");
  task.className = "do";
  Object.assign(label, {className: "range"});
  Object.assign(now, {className: "now"});
  name.textContent = "turned by";
  label.append(name, input, now);
  const show = (share) => {
    figure.style.setProperty("--turn", share);
    input.value = 100 * share;
    now.textContent = `${Math.round(100 * share)}\u{202F}%`;
    input.setAttribute("aria-valuetext", now.textContent);
  };
  input.addEventListener("input", () => show(input.value / 100));
  figure.querySelector(".pic").before(task, label);
  return (share, text) => {
    task.textContent = text ?? task.textContent;
    show(share);
  };
}
