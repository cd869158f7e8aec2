// Starts the interactive figures of a page. Without this script, pages show static pictures.

// start(figure, given): given are the options of the figure
export function startAll(kinds, start) {
  for (const figure of document.querySelectorAll(".play")) {
    const given = JSON.parse(figure.dataset.play);
    if (!kinds.includes(given.kind)) continue;
    if (!given.beside) figure.previousElementSibling.hidden = true;
    figure.hidden = false;
    start(figure, given);
  }
}
