// Interactive figures: recomputes and shows their numbers when a control changes. Without this
// script, pages show static pictures.
(() => {
  "use strict";

  const dot = ([a, b], [c, d]) => a * c + b * d;
  const sum = ([a, b], [c, d]) => [a + c, b + d];
  const scale = ([a, b], by) => [a * by, b * by];
  const turn = ([x, y], angle) => [
    x * Math.cos(angle) - y * Math.sin(angle),
    y * Math.cos(angle) + x * Math.sin(angle),
  ];

  // Frequencies of `count` pairs, in radians per position.
  const frequencies = (count, base) =>
    Array.from({ length: count }, (_, t) => base ** (-t / count));

  function softmax(scores) {
    const largest = Math.max(...scores);
    const powers = scores.map((score) => Math.exp(score - largest));
    const total = powers.reduce((a, b) => a + b);
    return powers.map((power) => power / total);
  }

  // The fields of several objects in one object; the number of the object is added to each name.
  const numbered = (list) => Object.fromEntries(list.flatMap((fields, i) =>
    Object.entries(fields).map(([name, value]) => [name + (i + 1), value])));

  // The values that figures of each kind show, by name: numbers, arrows as [x, y] or
  // [x, y, from x, from y], and curves as lists of points. `progress` is that of the animation,
  // from 0 to 1, at which it ends.
  const kinds = {
    rotation({ position, base, theta, progress }, { vectors }) {
      const thetas = theta === undefined ? frequencies(vectors.length, base) : [theta];
      return numbered(thetas.map((speed, t) => {
        const angle = position * speed * progress, [x, y] = turn(vectors[t], angle);
        return { start: vectors[t], arrow: [x, y], x, y, theta: speed, turn: angle,
          degrees: angle * 180 / Math.PI };
      }));
    },

    distance({ distance, base, fraction }, { pairs, farthest }) {
      const turning = Math.round(fraction * pairs), thetas = frequencies(turning, base);
      const score = (p) => 2 * thetas.reduce((total, theta) => total + Math.cos(p * theta),
        pairs - turning);
      return { score: score(distance), point: [[distance, score(distance)]],
        curve: Array.from({ length: farthest + 1 }, (_, p) => [p, score(p)]) };
    },

    // The animation first rotates forward, then back.
    attention({ positions, turns, causal, progress }, { theta, query, keys, values }) {
      const forward = Math.min(1, 2 * progress), backward = Math.max(0, 2 * progress - 1);
      const times = (letter) => turns.split(letter).length - 1;
      const turned = (letter, pair, position, by) => turn(pair,
        (times(letter) - times(letter.toUpperCase())) * position * theta * by);
      const own = positions.at(-1), asking = turned("q", query, own, 1);
      const back = (pair) => turned("o", pair, -own, backward);
      const scores = positions.map((position, i) => causal && position > own ? -Infinity
        : dot(asking, turned("k", keys[i], position, 1)) / Math.sqrt(2));
      const weights = softmax(scores);
      let total = [0, 0];
      const tokens = positions.map((position, i) => {
        const value = turned("v", values[i], position, forward), weight = weights[i];
        const part = scale(value, weight), from = total;
        total = sum(total, part);
        return { position, distance: position - own, score: scores[i], weight, value,
          key: turned("k", keys[i], position, forward), moved: back(value),
          part: [...part, ...from], back: [...back(part), ...back(from)] };
      });
      const output = back(total);
      return { ...numbered(tokens), query: turned("q", query, own, forward), sum: total, output,
        output_x: output[0], output_y: output[1] };
    },
  };

  function format(value, digits = 3) {
    if (value === -Infinity) return "−∞";
    const rounded = Number(value.toFixed(digits)) || 0; // no −0
    return rounded.toLocaleString("en", { minimumFractionDigits: digits,
      maximumFractionDigits: digits }).replace("-", "−");
  }

  // A curve as an SVG path in the units of its plot. The plot has the ends of its axes as data.
  function path(points, plot) {
    const [[left, right], [low, high]] = [plot.dataset.x, plot.dataset.y]
      .map((ends) => ends.split(" ").map(Number));
    return "M" + points.map(([x, y]) =>
      `${1000 * (x - left) / (right - left)} ${1000 * (high - y) / (high - low)}`).join("L") + "h0";
  }

  function show(element, value) {
    if (typeof value === "number") element.textContent = format(value, element.dataset.digits);
    else if (element.closest(".curves")) {
      element.setAttribute("d", path(value, element.closest(".curves")));
    } else {
      const [x, y, left = 0, bottom = 0] = value;
      element.setAttribute("transform", `matrix(${x} ${y} ${-y} ${x} ${left} ${bottom})`);
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
    for (const { type, name, value, checked, dataset } of figure.querySelectorAll("input")) {
      if (type === "checkbox") state[name] = checked;
      else if (type === "range") state[name] = "log" in dataset ? 10 ** value : Number(value);
      else if (checked) state[name] = value;
    }
    return state;
  }

  // Lets the user drag the tokens of a figure, or move all of them with a slider. Updates
  // `positions` and calls `changed`.
  function watchTokens(figure, positions, changed) {
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
      positions.forEach((_, i) => { positions[i] += by; });
      place();
    });
    tokens.forEach((token, i) => {
      token.addEventListener("pointerdown", (down) => {
        if (down.button !== 0) return; // a menu may open and swallow the release
        const stop = new AbortController(), { signal } = stop;
        addEventListener("pointermove", (event) => {
          const box = token.parentElement.getBoundingClientRect();
          if (event.pointerId === down.pointerId)
            move(i, last * (event.clientX - box.left) / box.width);
        }, { signal });
        addEventListener("pointerup", () => stop.abort(), { signal });
        addEventListener("pointercancel", () => stop.abort(), { signal });
      });
      token.addEventListener("keydown", (event) => {
        const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -5,
          PageUp: 5, Home: -last, End: last }[event.key];
        if (!step) return;
        event.preventDefault();
        move(i, positions[i] + step);
      });
    });
    place();
  }

  // Plays the animation of a figure when its button is pressed, and once when it comes into view,
  // unless the user prefers less motion.
  function watchMotion(figure, show) {
    const button = figure.querySelector(".motion"), MILLISECONDS = 2500;
    let begin;
    const frame = (now) => {
      begin ??= now;
      const progress = Math.min(1, (now - begin) / MILLISECONDS);
      show(progress);
      if (progress < 1) requestAnimationFrame(frame);
      else begin = undefined;
    };
    const play = () => begin === undefined && requestAnimationFrame(frame);
    button.addEventListener("click", play);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    new IntersectionObserver((entries, observer) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      play();
    }, { threshold: 0.6 }).observe(figure);
  }

  function start(figure) {
    const given = JSON.parse(figure.dataset.play);
    const update = (progress = 1) => {
      const state = { ...stateOf(figure), positions: given.positions, progress };
      const values = { ...state, ...kinds[given.kind](state, given) };
      for (const element of figure.querySelectorAll("[data-show]"))
        show(element, values[element.dataset.show]);
      for (const element of figure.querySelectorAll("[data-tip]"))
        showTip(element, values[element.dataset.tip]);
      for (const input of figure.querySelectorAll("[type=range]"))
        input.setAttribute("aria-valuetext", input.nextElementSibling.textContent);
    };
    if (given.positions) watchTokens(figure, given.positions, update);
    figure.addEventListener("input", () => update());
    if (figure.querySelector(".motion")) watchMotion(figure, update);
    update();
    figure.previousElementSibling.hidden = true;
    figure.hidden = false;
  }

  document.querySelectorAll(".play").forEach(start);
})();
