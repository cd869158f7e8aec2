// Completion at an input: a list of names, and the documentation of the chosen one beside it.
import {make} from "./output.mjs";

const MOST = 200; // names in the list

export class Completion {
  #names = [];
  #start = 0; // index in the input at which a name begins
  #chosen = -1;
  #asked = 0;

  // onInsert(): called after the input has changed
  constructor({input, list, help, box, session, onInsert}) {
    Object.assign(this, {input, list, help, box, session, onInsert});
    input.addEventListener("input", () => this.isOpen && this.open(true));
    input.addEventListener(
      "blur", () => setTimeout(() => document.activeElement !== input && this.close()));
    list.addEventListener("mousedown", (event) => {
      event.preventDefault(); // keeps the focus
      const index = [...list.children].indexOf(event.target.closest("li"));
      if (index >= 0) this.#insert(this.#names[index]);
    });
  }

  get isOpen() {
    return !this.box.hidden;
  }

  close() {
    this.#asked++;
    this.box.hidden = true;
    this.#chosen = -1;
    this.input.removeAttribute("aria-activedescendant");
  }

  // Completes the text before the cursor: inserts what all names begin with, and lists several
  // names.
  async open(isTyping = false) {
    const asked = ++this.#asked, end = this.input.selectionStart,
          before = this.input.value.slice(0, end);
    const {names = [], start = 0} = await this.session.complete(before);
    if (asked !== this.#asked || this.input.value.slice(0, this.input.selectionStart) !== before)
      return;
    this.#start = [...before].slice(0, start).join("").length;
    this.#names = names.slice(0, MOST);
    if (names.length === 0 || names.length === 1 && !isTyping) {
      if (names.length === 1) this.#insert(names[0]);
      this.close();
      return;
    }
    let common = names[0];
    for (const name of names)
      while (!name.startsWith(common)) common = common.slice(0, -1);
    if (!isTyping && common.length > end - this.#start) this.#replace(common);
    this.list.replaceChildren(...this.#names.map(
      (name, i) => make("li", {id: `name-${i}`, role: "option", textContent: name})));
    this.box.hidden = false;
    this.#choose(0);
  }

  #replace(name) {
    this.input.setRangeText(name, this.#start, this.input.selectionStart, "end");
    this.onInsert();
  }

  #insert(name) {
    this.#replace(name);
    this.close();
    this.input.focus();
  }

  async #choose(index) {
    const count = this.#names.length, asked = this.#asked;
    this.#chosen = (index + count) % count;
    for (const [i, item] of [...this.list.children].entries())
      item.ariaSelected = String(i === this.#chosen);
    const item = this.list.children[this.#chosen];
    item.scrollIntoView({block: "nearest"});
    this.input.setAttribute("aria-activedescendant", item.id);
    const name = this.#names[this.#chosen];
    const {text, error} = await this.session.inspect(this.input.value.slice(0, this.#start) + name);
    if (asked === this.#asked && name === this.#names[this.#chosen])
      this.help.textContent = text ?? error ?? "";
  }

  // Handles a key while the list is open. Returns true if it did.
  key({key, shiftKey}) {
    if (!this.isOpen) return false;
    if (key === "Escape") this.close();
    else if (key === "Enter") this.#insert(this.#names[this.#chosen]);
    else if (key === "ArrowDown" || key === "Tab" && !shiftKey) this.#choose(this.#chosen + 1);
    else if (key === "ArrowUp" || key === "Tab") this.#choose(this.#chosen - 1);
    else return false;
    return true;
  }
}
