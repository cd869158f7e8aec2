// Starts the interactive figures of a page. Without this script, pages show static pictures.

// start(figure, given, data): the options of the figure, and the value of its option `data`, which
// an event "data" replaces. An event "opened" starts its motion; at "printed", it shows the end.
export function startAll(kinds, start) {
  for (const figure of document.querySelectorAll(".play")) {
    const given = JSON.parse(figure.dataset.play);
    if (!kinds.includes(given.kind)) continue;
    if (!given.beside) figure.previousElementSibling.hidden = true;
    figure.hidden = false;
    start(figure, given, JSON.parse(figure.dataset.given ?? "null"));
  }
}
