// The map of the lessons: shows the lessons of a path, and what a lesson needs.
(() => {
  "use strict";

  const cards = [...document.querySelectorAll(".card")],
        paths = [...document.querySelectorAll("[data-path]")];
  const number = (card) => Number(card.id.replace("lesson-", ""));
  const of = (wanted) => document.getElementById(`lesson-${wanted}`);
  const numbers = (text) => text.split(" ").filter(Boolean).map(Number);
  const now = document.getElementById("now"), first = now?.textContent;
  let chosen = [];

  function light(list) {
    for (const card of cards) card.classList.toggle("on", list.includes(number(card)));
  }

  function needs(wanted) {
    return [wanted, ...numbers(of(wanted).dataset.needs).flatMap(needs)];
  }

  function choose(button) {
    const isOff = button.getAttribute("aria-pressed") === "true";
    for (const one of paths) one.setAttribute("aria-pressed", one === button && !isOff);
    chosen = isOff ? [] : numbers(button.dataset.path);
    document.body.classList.toggle("chosen", !isOff);
    light(chosen);
    for (const card of cards) {
      const stop = chosen.indexOf(number(card)) + 1;
      card.querySelector(".stop").textContent =
        chosen.length > 1 && stop > 0 ? `stop ${stop} of ${chosen.length}` : "";
    }
    now.textContent = isOff ? first : "Begin with ";
    if (isOff) return;
    const {href, textContent} = of(chosen[0]).querySelector(".go");
    now.append(Object.assign(document.createElement("a"), {href, textContent}), ".");
  }

  function look(card) {
    const list = card ? needs(number(card)) : [];
    if (chosen.length > 0 || card && list.length < 2) return;
    document.body.classList.toggle("looking", list.length > 0);
    light(list);
  }

  for (const button of paths) button.addEventListener("click", () => choose(button));
  for (const card of cards) {
    const meta = card.querySelector(".meta");
    for (const name of ["pointerenter", "focusin"]) meta.addEventListener(name, () => look(card));
    for (const name of ["pointerleave", "focusout"]) meta.addEventListener(name, () => look());
  }
})();
