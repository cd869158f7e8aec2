// Tokens that the reader drags along a line, one by one, or all of them with a slider.

// Updates `positions` and calls `changed`.
export function watchTokens(figure, positions, changed) {
  const tokens = figure.querySelectorAll(".token"), all = figure.querySelector("[name=first]");
  const last = Number(all.max);

  function place() {
    const first = Math.min(...positions);
    all.max = last - Math.max(...positions) + first;
    all.value = first;
    tokens.forEach((token, i) => {
      token.style.left = `${100 * positions[i] / last}%`;
      token.setAttribute("aria-valuenow", positions[i]);
    });
  }

  function move(i, position) {
    positions[i] = Math.max(0, Math.min(last, Math.round(position)));
    place();
    changed();
  }

  all.addEventListener("input", () => {
    const by = all.value - Math.min(...positions);
    positions.forEach((_, i) => {
      positions[i] += by;
    });
    place();
  });
  tokens.forEach((token, i) => {
    token.addEventListener("pointerdown", (down) => {
      if (down.button !== 0) return; // a menu may open and swallow the release
      const stop = new AbortController(), {signal} = stop;
      addEventListener("pointermove", (event) => {
        const box = token.parentElement.getBoundingClientRect();
        if (event.pointerId === down.pointerId)
          move(i, last * (event.clientX - box.left) / box.width);
      }, {signal});
      addEventListener("pointerup", () => stop.abort(), {signal});
      addEventListener("pointercancel", () => stop.abort(), {signal});
    });
    token.addEventListener("keydown", (event) => {
      const step = {
        ArrowLeft: -1,
        ArrowDown: -1,
        ArrowRight: 1,
        ArrowUp: 1,
        PageDown: -5,
        PageUp: 5,
        Home: -last,
        End: last
      }[event.key];
      if (!step) return;
      event.preventDefault();
      move(i, positions[i] + step);
    });
  });
  place();
}
