// Pages of lessons: what a prediction answers is shown when it is settled; the bar shows the step
// that is read and the predictions to make; arrows can be turned. Without this script, pages show
// everything.
import {control, move} from "./turn.mjs";

(() => {
  "use strict";

  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const sections = all("section.step"), marks = all(".steps li");
  const here = document.querySelector(".bar .here");
  const open = (section) => all(".prediction:not([data-settled])", section).length;
  let at = 0; // index of the step that is read

  function showBar() {
    const total = sections.reduce((sum, section) => sum + open(section), 0);
    if (document.querySelector(".prediction"))
      here.textContent = total === 0 ?
        "all predictions made" :
        `${total} ${total === 1 ? "prediction" : "predictions"} to make`;
    marks.forEach((mark, i) => {
      mark.classList.toggle("done",
        open(sections[i]) === 0 && (i < at || sections[i].querySelector(".prediction") !== null));
      if (i === at) mark.setAttribute("aria-current", "step");
      else mark.removeAttribute("aria-current");
    });
  }

  addEventListener("scroll", () => {
    const line = innerHeight * 0.4;
    at = Math.max(0, sections.filter((one) => one.getBoundingClientRect().top < line).length - 1);
    showBar();
  }, {passive: true});

  const controls =
    new Map(all(".figures figure:not(.play)").map((figure) => [figure, control(figure)]).filter(([,
      show]) => show));

  // Lets the results of a step wait for its predictions, or shows them.
  function update(section, moves) {
    const waits = open(section) > 0, waited = "waits" in section.dataset;
    section.toggleAttribute("data-waits", waits);
    const inputs = all(".figures input, .figures button, .figures [role=slider]", section);
    for (const input of waits === waited ? [] : inputs) {
      input.disabled = waits;
      if (input.role === "slider") input.tabIndex = waits ? -1 : 0;
    }
    for (const [figure, show] of controls)
      if (section.contains(figure)) {
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

  // Paper shows all that is folded, but for the details of checks.
  let folded = [], waiting = [];
  addEventListener("beforeprint", () => {
    folded = all("details:not([open], .results *)");
    waiting = all("[data-waits]");
    for (const part of folded) part.open = true;
    for (const section of waiting) {
      section.removeAttribute("data-waits");
      for (const figure of all(".play", section)) figure.dispatchEvent(new Event("printed"));
    }
  });
  addEventListener("afterprint", () => {
    for (const part of folded) part.open = false;
    for (const section of waiting) section.toggleAttribute("data-waits", true);
  });
})();
