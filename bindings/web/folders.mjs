// The files of a session in a page: shown as folders, downloaded, added, removed.
import {make} from "./output.mjs";
import {tar, untar} from "./tar.mjs";

// Lets the browser store a blob as a file.
export function download(blob, name) {
  const link = make("a", {href: URL.createObjectURL(blob), download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// Downloads a folder of a session as a tar archive.
export async function downloadFolder({files}, folder) {
  const paths = (await files.list()).filter((path) => path.startsWith(`${folder}/`));
  const contents = await Promise.all(paths.map(async (path) => [path, await files.read(path)]));
  download(tar(contents), `${folder.replaceAll("/", "-")}.tar`);
}

function size(bytes) {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(0)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

export class Folders {
  #open = new Set(); // paths of folders whose files are shown

  // list, count, status: elements of the page; onChange(): after files were added or removed
  constructor({session, list, count, status, onChange}) {
    Object.assign(this, {session, list, count, status, onChange});
  }

  // Shows the files that the session has now.
  async show() {
    const files = await this.session.files.stat().catch(() => []);
    this.count.textContent = files.length;
    this.list.replaceChildren(...this.#items(files, ""));
  }

  // The items of files whose paths begin with `before`, "" or that of a folder and a slash.
  #items(files, before) {
    const groups = new Map();
    for (const file of files) {
      const [name] = file.path.slice(before.length).match(/^[^/]+\/?/);
      groups.set(name, [...groups.get(name) ?? [], file]);
    }
    return [...groups].sort().map(([name, inside]) => {
      const path = before + name, bytes = inside.reduce((sum, file) => sum + file.size, 0);
      return name.endsWith("/") ? this.#folder(path, name, inside, bytes) :
                                  this.#file(path, name, bytes);
    });
  }

  #folder(path, name, inside, bytes) {
    const folder = path.slice(0, -1), inner = make("details", {open: this.#open.has(path)});
    inner.ontoggle = () => inner.open ? this.#open.add(path) : this.#open.delete(path);
    inner.append(make("summary", {textContent: `Files in ${folder}`}),
      make("ul", {}, ...this.#items(inside, path)));
    return make("li", {},
      this.#row(folder, name,
        `${inside.length} file${inside.length > 1 ? "s" : ""}, ${size(bytes)}`,
        () => downloadFolder(this.session, folder)),
      inner);
  }

  #file(path, name, bytes) {
    return make("li", {}, this.#row(path, name, size(bytes), async () => {
      download(new Blob([await this.session.files.read(path)]), name);
    }));
  }

  // Removing needs two clicks, since it cannot be undone.
  #row(path, name, text, load) {
    const button = (textContent, onclick) => make("button", {
      type: "button",
      className: "plain",
      textContent,
      onclick,
      ariaLabel: `${textContent} ${path}`
    });
    const remove = button("Remove", () => {
      if (remove.textContent === "Remove") remove.textContent = "Remove for good";
      else this.#change(`${path} was removed.`, () => this.session.files.remove(path));
    });
    return make("div", {className: "row"}, make("code", {textContent: name}),
      make("span", {className: "small", textContent: text}),
      button("Download", () => this.#attempt(load)), remove);
  }

  async #attempt(work) {
    this.status.textContent = "";
    try {
      this.status.textContent = await work() ?? "";
    } catch (error) {
      this.status.textContent = `${error.message}.`;
    }
  }

  #change(text, work) {
    return this.#attempt(async () => {
      await work();
      await this.onChange();
      await this.show();
      return text;
    });
  }

  // Adds the files that a user has chosen. Archives are unpacked.
  async add(chosen) {
    for (const file of chosen) {
      const bytes = new Uint8Array(await file.arrayBuffer());
      await this.#change(`${file.name} was added.`, async () => {
        const found = file.name.endsWith(".tar") ? untar(bytes) : [[file.name, bytes]];
        for (const [path, contents] of found) await this.session.files.write(path, contents);
      });
    }
  }
}
