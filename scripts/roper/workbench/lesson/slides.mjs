// Slides: shows one at a time, as large as it fits. The arrow keys, Page Up, Page Down and Space
// change it; N shows the notes of the speaker. On a screen as narrow as a phone's, or without this
// script, all slides follow each other on one page, each with its notes.
import {control, move} from "./turn.mjs";

(() => {
  "use strict";

  const slides = [...document.querySelectorAll("section")];
  const number = document.querySelector(".number"), label = document.createElement("span");
  const SMALLEST = 0.3, LARGEST = 2, wide = matchMedia("(min-width: 40rem)");
  const turns = new Map([...document.querySelectorAll(".drawn figure:not(.play)")]
                          .map((figure) => [figure, control(figure)])
                          .filter(([, show]) => show));
  let at = 0;

  // Chooses the largest size at which everything on the slide is visible.
  function fit() {
    const slide = slides[at].firstElementChild;
    slide.removeAttribute("style");
    if (!wide.matches) return;
    const fits = (size) => {
      slide.style.fontSize = `${size * 2.4}vh`;
      slide.style.setProperty("--picture", `${size * 50}vh`);
      slide.style.setProperty("--zoom", Math.min(1, size * 0.8));
      return slide.scrollHeight <= slide.clientHeight && slide.scrollWidth <= slide.clientWidth;
    };
    let low = SMALLEST, high = LARGEST;
    for (let i = 0; i < 6; i += 1) {
      const middle = (low + high) / 2;
      if (fits(middle)) low = middle;
      else high = middle;
    }
    fits(low);
  }

  // What a slide shows moves when the slide comes.
  function start(slide) {
    for (const [figure, show] of turns) {
      if (!slide.contains(figure) || figure.hidden) continue;
      show(0, "Turn the arrows.");
      move(show);
    }
    for (const figure of slide.querySelectorAll(".play")) figure.dispatchEvent(new Event("opened"));
  }

  function show(index) {
    slides[at].classList.remove("current");
    at = Math.max(0, Math.min(slides.length - 1, index));
    slides[at].classList.add("current");
    label.textContent = `${at + 1} / ${slides.length}`;
    try {
      history.replaceState(null, "", `#${at + 1}`);
    } catch {
      // a page inside another has no address of its own
    }
    fit();
    start(slides[at]);
  }

  function button(text, name, onclick) {
    const element = document.createElement("button");
    return Object.assign(element, {type: "button", textContent: text, ariaLabel: name, onclick});
  }

  const noter = button("Notes", "notes (N)", () => {
    noter.ariaPressed = document.body.classList.toggle("has-notes");
    fit();
  });
  noter.ariaPressed = false;

  const KEYS = {ArrowRight: 1, ArrowDown: 1, PageDown: 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1};
  addEventListener("keydown", (event) => {
    const isTyped = event.target.closest?.("input, select, [role=slider]");
    const isPressed = event.key === " " && event.target.closest?.("button");
    if (!wide.matches || isTyped || isPressed || event.ctrlKey || event.metaKey) return;
    const by = event.key === " " ? (event.shiftKey ? -1 : 1) : KEYS[event.key];
    if (event.key === "Home") show(0);
    else if (event.key === "End") show(slides.length - 1);
    else if (event.key === "n" || event.key === "N") noter.click();
    else if (by) show(at + by);
    else return;
    event.preventDefault();
  });

  function arrange() {
    document.body.classList.toggle("is-shown", wide.matches);
    fit();
  }

  number.append(noter, button("←", "previous slide", () => show(at - 1)), label,
    button("→", "next slide", () => show(at + 1)));
  addEventListener("resize", arrange);
  addEventListener("load", arrange);
  addEventListener("beforeprint", () => {
    for (const one of slides) one.firstElementChild.removeAttribute("style");
    for (const [, one] of turns) one(1);
  });
  addEventListener("afterprint", arrange);
  arrange();
  const named = document.getElementById(location.hash.slice(1));
  show(named ? slides.indexOf(named) : Number(location.hash.slice(1)) - 1 || 0);
})();
