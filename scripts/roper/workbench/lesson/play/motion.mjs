// Motion of figures, over as soon as it begins if the reader prefers less motion.
const calm = matchMedia("(prefers-reduced-motion: reduce)");

// Calls draw(share) in each frame, from 0 to 1, slow at both ends, and then `done`. Returns a
// function that stops it.
export function animate(milliseconds, draw, done) {
  if (calm.matches) {
    draw(1);
    done();
    return () => {};
  }
  let begin, id;
  const frame = (now) => {
    begin ??= now;
    const time = Math.min(1, (now - begin) / milliseconds);
    draw(time < 0.5 ? 2 * time * time : 1 - 2 * (1 - time) ** 2);
    if (time < 1) id = requestAnimationFrame(frame);
    else done();
  };
  id = requestAnimationFrame(frame);
  return () => cancelAnimationFrame(id);
}

// Calls `run` once, when an element comes into view.
export function whenSeen(element, run) {
  new IntersectionObserver((entries, observer) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    run();
  }, {threshold: 0.6}).observe(element);
}

// Plays the animation of a figure, show(progress), when its button is pressed, and once when the
// predictions above it are settled.
export function watchMotion(figure, show) {
  const MILLISECONDS = 2500;
  let begin;
  const frame = (now) => {
    begin ??= now;
    const progress = Math.min(1, (now - begin) / MILLISECONDS);
    show(progress);
    if (progress < 1) requestAnimationFrame(frame);
    else begin = undefined;
  };
  const play = () => begin === undefined && requestAnimationFrame(frame);
  figure.querySelector(".motion").addEventListener("click", play);
  figure.addEventListener("opened", () => calm.matches || play());
}
