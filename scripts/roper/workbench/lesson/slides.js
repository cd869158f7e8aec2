// Slides: shows one at a time, as large as it fits. The arrow keys, Page Up, Page Down and Space
// change it. On a screen as narrow as a phone's, or without this script, all slides follow each
// other on one page.
(() => {
  "use strict";

  const slides = [...document.querySelectorAll("section")];
  const number = document.querySelector(".number"), label = document.createElement("span");
  const SMALLEST = 0.3, LARGEST = 2, wide = matchMedia("(min-width: 40rem)");
  let at = 0;

  // Chooses the largest size at which everything on the slide is visible.
  function fit() {
    const slide = slides[at];
    slide.removeAttribute("style");
    if (!wide.matches) return;
    const fits = (size) => {
      slide.style.fontSize = `${size * 2.4}vh`;
      slide.style.setProperty("--picture", `${size * 50}vh`);
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
  }

  function button(text, name, by) {
    const element = document.createElement("button");
    element.type = "button";
    element.textContent = text;
    element.ariaLabel = name;
    element.addEventListener("click", () => show(at + by));
    return element;
  }

  const KEYS = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, ArrowLeft: -1, ArrowUp: -1,
    PageUp: -1 };
  addEventListener("keydown", (event) => {
    if (!wide.matches || event.target.closest?.("input, button, [role=slider]")) return;
    const by = event.key === " " ? (event.shiftKey ? -1 : 1) : KEYS[event.key];
    if (event.key === "Home") show(0);
    else if (event.key === "End") show(slides.length - 1);
    else if (by) show(at + by);
    else return;
    event.preventDefault();
  });

  function arrange() {
    document.body.classList.toggle("is-shown", wide.matches);
    fit();
  }

  number.append(button("←", "previous slide", -1), label, button("→", "next slide", 1));
  addEventListener("resize", arrange);
  addEventListener("load", arrange);
  arrange();
  show(Number(location.hash.slice(1)) - 1 || 0);
})();
