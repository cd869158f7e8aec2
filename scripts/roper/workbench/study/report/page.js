// Shows the value under the pointer. The page is complete without this script.
(() => {
  "use strict";
  const tip = document.getElementById("tip");
  let lit = null;

  const numbers = (element, name) => element.dataset[name].split(" ").map(Number);

  function hide() {
    tip.hidden = true;
    if (lit) lit.classList.remove("lit");
    lit = null;
  }

  function show(text, line, left, top) {
    hide();
    lit = line;
    if (lit) lit.classList.add("lit");
    tip.textContent = text;
    tip.hidden = false;
    const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
    tip.style.left = `${Math.max(8, Math.min(left + 14, room)) + window.scrollX}px`;
    tip.style.top = `${top - tip.offsetHeight - 12 + window.scrollY}px`;
  }

  // The point of all lines in a plot that is nearest to the pointer.
  function nearest(lines, x, y, scale, box, event) {
    const low = scale(x[0]), width = scale(x[1]) - low;
    let best = null;
    for (const line of lines) {
      line.x.forEach((step, i) => {
        const left = box.left + (scale(step) - low) / width * box.width;
        const top = box.bottom - (line.y[i] - y[0]) / (y[1] - y[0]) * box.height;
        const far = Math.hypot(left - event.clientX, top - event.clientY);
        if (!best || far < best.far) best = {far, left, top, line, i};
      });
    }
    return best;
  }

  function watch(plot) {
    const x = numbers(plot, "x"), y = numbers(plot, "y");
    const lines = Array.from(plot.querySelectorAll(".line"), (path) => ({
      path,
      x: numbers(path, "x"),
      y: numbers(path, "y"),
      counts: path.dataset.counts ? path.dataset.counts.split(" ") : null,
    }));
    const scale = plot.dataset.log ? Math.log : (value) => value;
    const move = (event) => {
      const found = nearest(lines, x, y, scale, plot.getBoundingClientRect(), event);
      const {line, i} = found;
      const count = line.counts ? ` of ${line.counts[i]}` : "";
      show(`${line.path.dataset.label}\n${plot.dataset.step} ${line.x[i]}: ${line.y[i]}${count}`,
        line.path, found.left, found.top);
    };
    plot.addEventListener("pointermove", move);
    plot.addEventListener("pointerdown", move);
    plot.addEventListener("pointerleave", hide);
  }

  function watchParts(plot) {
    const move = (event) => {
      const text = event.target.dataset.label;
      if (text) show(text, null, event.clientX, event.clientY);
      else hide();
    };
    plot.addEventListener("pointermove", move);
    plot.addEventListener("pointerdown", move);
    plot.addEventListener("pointerleave", hide);
  }

  // Without this script, the browser shows the titles as tooltips, which would cover ours.
  document.querySelectorAll(".plot path > title, .plot rect > title").forEach((title) => {
    title.parentNode.dataset.label = title.textContent;
    title.remove();
  });
  document.querySelectorAll(".curves").forEach(watch);
  document.querySelectorAll(".plot:not(.curves)").forEach(watchParts);
  addEventListener("beforeprint", () => {
    document.querySelectorAll("details").forEach((details) => {
      details.open = true;
    });
  });
})();
