// Pages of lessons: what a prediction answers is shown when it is settled; the bar shows the step
// that is read and the predictions to make; arrows can be turned. Without this script, pages show
// everything.
(() => {
  "use strict";

  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const sections = all("section.step"), marks = all(".steps li");
  const here = document.querySelector(".bar .here");
  const open = (section) => all(".prediction:not([data-settled])", section).length;
  let at = 0; // index of the step that is read

  function showBar() {
    const total = sections.reduce((sum, section) => sum + open(section), 0);
    if (document.querySelector(".prediction")) here.textContent = total === 0
      ? "all predictions made" : `${total} ${total === 1 ? "prediction" : "predictions"} to make`;
    marks.forEach((mark, i) => {
      mark.classList.toggle("done", open(sections[i]) === 0
        && (i < at || sections[i].querySelector(".prediction") !== null));
      if (i === at) mark.setAttribute("aria-current", "step");
      else mark.removeAttribute("aria-current");
    });
  }

  addEventListener("scroll", () => {
    const line = innerHeight * 0.4;
    at = Math.max(0, sections.filter((one) => one.getBoundingClientRect().top < line).length - 1);
    showBar();
  }, { passive: true });

  // Shows a share of a motion, from 0 to 1, in 1.4 seconds; at once if the user prefers this.
  function move(show) {
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
  // what to do.
  function control(figure) {
    const input = Object.assign(document.createElement("input"), { type: "range", min: 0, max: 100,
      value: 100, autocomplete: "off" });
    const label = document.createElement("label"), name = document.createElement("span");
    const now = document.createElement("span"), task = document.createElement("p");
    task.className = "do";
    Object.assign(label, { className: "range" });
    Object.assign(now, { className: "now" });
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

  const controls = new Map(all(".figures figure:not(.play)")
    .filter((figure) => figure.querySelector(".turned")).map((figure) => [figure, control(figure)]));

  // Lets the results of a step wait for its predictions, or shows them.
  function update(section, moves) {
    const waits = open(section) > 0, waited = "waits" in section.dataset;
    section.toggleAttribute("data-waits", waits);
    const inputs = all(".figures input, .figures button, .figures [role=slider]", section);
    for (const input of waits === waited ? [] : inputs) {
      input.disabled = waits;
      if (input.role === "slider") input.tabIndex = waits ? -1 : 0;
    }
    for (const [figure, show] of controls) if (section.contains(figure)) {
      const task = waits ? "Answer the question. Then turn the arrows." : "Turn the arrows.";
      if (waited && !waits && moves) move((share) => show(share, task));
      else show(waits ? 0 : 1, task);
    }
    if (!waited || waits || !moves) return;
    for (const figure of all(".play", section)) figure.dispatchEvent(new Event("opened"));
  }

  for (const section of sections) {
    section.addEventListener("settled", () => {
      update(section, true);
      showBar();
    });
    update(section, false);
  }
  showBar();

  // Only what scrolls is a stop of the Tab key.
  function markScrolling() {
    for (const box of all(".scroll, pre, .formula")) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  }
  for (const name of ["resize", "settled", "toggle"]) addEventListener(name, markScrolling, true);
  document.fonts.ready.then(markScrolling);
  markScrolling();

  // Paper shows all answers, and what else is folded.
  let folded = [], waiting = [];
  addEventListener("beforeprint", () => {
    folded = all("details:not([open])");
    waiting = all("[data-waits]");
    for (const part of folded) part.open = true;
    for (const section of waiting) section.removeAttribute("data-waits");
  });
  addEventListener("afterprint", () => {
    for (const part of folded) part.open = false;
    for (const section of waiting) section.toggleAttribute("data-waits", true);
  });
})();
