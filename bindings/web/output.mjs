// An element that shows what code prints and draws, in order, as a terminal does.

const LIMIT = 100_000; // characters of one text; of a longer one, the end is kept

export function make(tag, fields = {}, ...children) {
  const element = Object.assign(document.createElement(tag), fields);
  element.append(...children);
  return element;
}

// SVG from roper as an element of the page.
export function picture(svg) {
  const {documentElement} = new DOMParser().parseFromString(svg, "image/svg+xml");
  return document.importNode(documentElement, true);
}

export class Output {
  #progress = make("pre", {className: "progress", hidden: true});

  constructor(element) {
    this.element = element;
    element.classList.add("output");
  }

  clear() {
    this.element.replaceChildren();
  }

  // Handlers for a request of a session.
  handlers = {
    output: (text, stream) => this.text(text, stream === 2 ? "aside" : ""),
    value: ({text}) => this.text(`${text}\n`),
    figure: ({svg}) => this.#add(make("figure", {}, picture(svg))),
    progress:
      (lines) => {
        this.#progress.textContent = lines?.join("\n") ?? "";
        this.#progress.hidden = !lines?.length;
        this.#add(this.#progress);
      },
  };

  #add(element) {
    if (this.#progress.isConnected && element !== this.#progress) this.#progress.before(element);
    else this.element.append(element);
  }

  // Appends text; className: "aside" for standard error, "error", or that of the page.
  text(text, className = "") {
    const last = this.#progress.isConnected ? this.#progress.previousElementSibling :
                                              this.element.lastElementChild;
    if (last?.matches("pre.text") && last.dataset.kind === className) {
      last.firstChild.appendData(text);
      if (last.firstChild.length > LIMIT)
        last.firstChild.deleteData(0, last.firstChild.length - LIMIT / 2);
    } else {
      const element = make("pre", {className: `text ${className}`}, document.createTextNode(text));
      element.dataset.kind = className;
      this.#add(element);
    }
  }

  error(text) {
    this.text(`${text}\n`, "error");
  }
}
