// Files in memory. The engine reaches them through the system calls of wasi.mjs; the page reads and
// writes them directly.

const ERRNO = {
  badf: 8,
  exist: 20,
  inval: 28,
  isdir: 31,
  noent: 44,
  notdir: 54,
  notempty: 55,
  spipe: 70
};

// An error of a system call.
export class Refusal extends Error {
  constructor(name, path = "") {
    super(`${name} ${path}`);
    this.number = ERRNO[name];
  }
}

let inodes = 0n;
const now = () => BigInt(Math.round(Date.now() * 1e6));

class Node {
  inode = ++inodes;
  time = now();
  links = 1;
}

export class Folder extends Node {
  kind = 3;
  entries = new Map();
}

export class File extends Node {
  kind = 4;

  // The bytes are copied when the file is first written.
  constructor(bytes = new Uint8Array(0)) {
    super();
    this.buffer = bytes;
    this.size = bytes.length;
    this.owned = false;
  }

  get bytes() {
    return this.buffer.subarray(0, this.size);
  }

  read(position, to) {
    const part = this.buffer.subarray(
      Math.min(position, this.size), Math.min(position + to.length, this.size));
    to.set(part);
    return part.length;
  }

  write(position, from) {
    const end = position + from.length;
    if (!this.owned || end > this.buffer.length) {
      const grown = new Uint8Array(Math.max(end, this.owned ? 2 * this.buffer.length : this.size));
      grown.set(this.bytes);
      this.buffer = grown;
      this.owned = true;
    }
    this.buffer.set(from, position);
    this.size = Math.max(this.size, end);
    this.time = now();
    return from.length;
  }

  truncate() {
    Object.assign(this, {buffer: new Uint8Array(0), size: 0, owned: true, time: now()});
  }
}

export class Files {
  root = new Folder();

  // The folder, name and node of a path; the node is undefined if nothing is there.
  find(path, from = this.root) {
    let trail = [from], name = ".", node = from;
    for (const part of path.split("/")) {
      if (part === "" || part === ".") continue;
      if (!node) throw new Refusal("noent", path);
      if (!(node instanceof Folder)) throw new Refusal("notdir", path);
      if (part === "..") {
        if (trail.length > 1) trail.pop();
        [name, node] = [".", trail.at(-1)];
        continue;
      }
      name = part;
      node = node.entries.get(part);
      if (node instanceof Folder) trail.push(node);
    }
    const folder = node instanceof Folder && name !== "." ? trail.at(-2) : trail.at(-1);
    return {folder, name, node};
  }

  // The node of a path.
  node(path, from) {
    const {node} = this.find(path, from);
    if (!node) throw new Refusal("noent", path);
    return node;
  }

  // Makes a folder and its parents, unless they exist.
  make(path) {
    let folder = this.root;
    for (const part of path.split("/").filter(Boolean)) {
      if (!folder.entries.has(part)) folder.entries.set(part, new Folder());
      folder = folder.entries.get(part);
    }
    return folder;
  }

  put(path, bytes) {
    const at = path.lastIndexOf("/");
    this.make(path.slice(0, at)).entries.set(path.slice(at + 1), new File(bytes));
  }

  get(path) {
    return this.node(path).bytes;
  }

  // The paths of all files below a folder, relative to it.
  list(path) {
    const paths = [];
    const walk = (folder, before) => {
      for (const [name, node] of folder.entries)
        if (node instanceof Folder) walk(node, `${before}${name}/`);
        else paths.push(before + name);
    };
    walk(this.node(path), "");
    return paths.sort();
  }

  remove(path) {
    const {folder, name} = this.find(path);
    folder.entries.delete(name);
  }

  // All files as an archive: four bytes with the length of an index in JSON, [[path, size], ...],
  // the index, the contents.
  pack() {
    const paths = this.list("/"), parts = paths.map((path) => this.get(path));
    const index =
      new TextEncoder().encode(JSON.stringify(paths.map((path, i) => [path, parts[i].length])));
    const archive =
      new Uint8Array(parts.reduce((sum, part) => sum + part.length, 4 + index.length));
    new DataView(archive.buffer).setUint32(0, index.length, true);
    let at = 4;
    for (const part of [index, ...parts]) {
      archive.set(part, at);
      at += part.length;
    }
    return archive;
  }

  // Adds the files of an archive.
  unpack(archive) {
    const length = new DataView(archive.buffer, archive.byteOffset).getUint32(0, true);
    let at = 4 + length;
    for (const [path, size] of JSON.parse(new TextDecoder().decode(archive.subarray(4, at)))) {
      this.put(`/${path}`, archive.subarray(at, at + size));
      at += size;
    }
  }
}
