// The system calls of WASI (wasi_snapshot_preview1) that the engine imports, over files in memory.
import {File, Folder, Refusal} from "./files.mjs";

const encoder = new TextEncoder(), decoder = new TextDecoder();
const DEVICE = 2, ALL_RIGHTS = 0xffffffffffffffffn, MAY_WRITE = 64n;
const CREATE = 1, FOLDER_ONLY = 2, EXCLUSIVE = 4, TRUNCATE = 8; // flags of path_open
const APPEND = 1, SET_TIME = 4;

// memory: returns the memory of the engine; write(stream, bytes): to standard output 1, or error 2
export function systemCalls({files, memory, write, environment}) {
  const descriptors = [0, 1, 2].map((stream) => ({node: {kind: DEVICE}, stream}));
  descriptors.push({node: files.root, name: encoder.encode("/")});
  const pairs =
    Object.entries(environment).map(([name, value]) => encoder.encode(`${name}=${value}\0`));

  let bytes = new Uint8Array(0), view;
  const update = () => { // the memory moves when it grows
    if (bytes.buffer !== memory().buffer) {
      bytes = new Uint8Array(memory().buffer);
      view = new DataView(memory().buffer);
    }
  };
  const text = (at, length) => decoder.decode(bytes.subarray(at, at + length));
  const put32 = (at, value) => view.setUint32(at, value, true);
  const put64 = (at, value) => view.setBigUint64(at, BigInt(value), true);
  const opened = (descriptor) => {
    if (!descriptors[descriptor]) throw new Refusal("badf");
    return descriptors[descriptor];
  };
  const file = (descriptor) => {
    const found = opened(descriptor);
    if (found.node instanceof Folder) throw new Refusal("isdir");
    return found;
  };
  const find = (descriptor, at, length) => files.find(text(at, length), opened(descriptor).node);
  const existing = (descriptor, at, length) => {
    const found = find(descriptor, at, length);
    if (!found.node) throw new Refusal("noent");
    return found;
  };
  const putStat = (node, at) => {
    bytes.fill(0, at, at + 64);
    put64(at + 8, node.inode ?? 0n);
    view.setUint8(at + 16, node.kind);
    put64(at + 24, node.links ?? 1);
    put64(at + 32, node.size ?? 0);
    for (const offset of [40, 48, 56]) put64(at + offset, node.time ?? 0n);
  };
  // Calls f with each part of a list of buffers, until it does less than asked.
  const eachPart = (list, count, f) => {
    let total = 0;
    for (let i = 0; i < count; i++) {
      const at = view.getUint32(list + 8 * i, true),
            length = view.getUint32(list + 8 * i + 4, true);
      const done = f(bytes.subarray(at, at + length));
      total += done;
      if (done < length) break;
    }
    return total;
  };
  const remove = ({folder, name, node}) => {
    folder.entries.delete(name);
    node.links--;
  };

  const calls = {
    environ_sizes_get(count, size) {
      put32(count, pairs.length);
      put32(size, pairs.reduce((sum, pair) => sum + pair.length, 0));
    },
    environ_get(list, at) {
      pairs.forEach((pair, i) => {
        put32(list + 4 * i, at);
        bytes.set(pair, at);
        at += pair.length;
      });
    },
    clock_time_get(clock, precision, at) {
      put64(at, Math.round((clock === 0 ? Date.now() : performance.now()) * 1e6));
    },
    random_get(at, length) {
      crypto.getRandomValues(bytes.subarray(at, at + length));
    },
    proc_exit(code) {
      throw new Error(`exit ${code}`);
    },
    fd_prestat_get(fd, at) {
      const {name} = opened(fd);
      if (!name) throw new Refusal("badf");
      put32(at, 0);
      put32(at + 4, name.length);
    },
    fd_prestat_dir_name(fd, at) {
      bytes.set(opened(fd).name, at);
    },
    fd_close(fd) {
      opened(fd);
      descriptors[fd] = undefined;
    },
    fd_renumber(from, to) {
      descriptors[to] = opened(from);
      descriptors[from] = undefined;
    },
    fd_sync() {},
    fd_fdstat_get(fd, at) {
      const {node, append} = opened(fd);
      put64(at, 0);
      view.setUint8(at, node.kind);
      view.setUint16(at + 2, append ? APPEND : 0, true);
      put64(at + 8, ALL_RIGHTS);
      put64(at + 16, ALL_RIGHTS);
    },
    fd_fdstat_set_flags() {},
    fd_filestat_get(fd, at) {
      putStat(opened(fd).node, at);
    },
    fd_seek(fd, offset, whence, at) {
      const found = file(fd);
      if (found.node.kind === DEVICE) throw new Refusal("spipe");
      const position = Number(offset) + [0, found.position, found.node.size][whence];
      if (position < 0) throw new Refusal("inval");
      found.position = position;
      put64(at, position);
    },
    fd_read(fd, list, count, at) {
      const found = file(fd);
      put32(at, found.node.kind === DEVICE ? 0 : eachPart(list, count, (part) => {
        const done = found.node.read(found.position, part);
        found.position += done;
        return done;
      }));
    },
    fd_pread(fd, list, count, offset, at) {
      let position = Number(offset);
      put32(at, eachPart(list, count, (part) => {
        const done = file(fd).node.read(position, part);
        position += done;
        return done;
      }));
    },
    fd_write(fd, list, count, at) {
      const found = file(fd);
      put32(at, eachPart(list, count, (part) => {
        if (found.stream !== undefined) {
          write(found.stream, part.slice());
          return part.length;
        }
        if (found.append) found.position = found.node.size;
        found.position += found.node.write(found.position, part);
        return part.length;
      }));
    },
    fd_readdir(fd, at, length, cookie, used) {
      const end = at + length;
      let position = at;
      for (const [i, [name, node]] of [...opened(fd).node.entries].entries()) {
        if (i < cookie || position >= end) continue;
        const encoded = encoder.encode(name), entry = new Uint8Array(24 + encoded.length);
        const head = new DataView(entry.buffer);
        head.setBigUint64(0, BigInt(i + 1), true);
        head.setBigUint64(8, node.inode, true);
        head.setUint32(16, encoded.length, true);
        head.setUint8(20, node.kind);
        entry.set(encoded, 24);
        const part = entry.subarray(0, end - position);
        bytes.set(part, position);
        position += part.length;
      }
      put32(used, position - at);
    },
    path_create_directory(fd, path, length) {
      const {folder, name, node} = find(fd, path, length);
      if (node) throw new Refusal("exist");
      folder.entries.set(name, new Folder());
    },
    path_filestat_get(fd, flags, path, length, at) {
      putStat(existing(fd, path, length).node, at);
    },
    path_filestat_set_times(fd, flags, path, length, access, modification, how) {
      const {node} = existing(fd, path, length);
      if (how & SET_TIME) node.time = modification;
    },
    path_link(from, flags, path, length, to, other, size) {
      const {node} = existing(from, path, length), target = find(to, other, size);
      if (target.node) throw new Refusal("exist");
      target.folder.entries.set(target.name, node);
      node.links++;
    },
    path_open(fd, follow, path, length, how, rights, inherited, flags, at) {
      const found = find(fd, path, length);
      let {node} = found;
      if (node && how & CREATE && how & EXCLUSIVE) throw new Refusal("exist");
      if (!node && !(how & CREATE)) throw new Refusal("noent");
      if (!node) found.folder.entries.set(found.name, node = new File());
      if (how & FOLDER_ONLY && !(node instanceof Folder)) throw new Refusal("notdir");
      if (node instanceof Folder && rights & MAY_WRITE) throw new Refusal("isdir");
      if (how & TRUNCATE) node.truncate();
      let free = descriptors.indexOf(undefined, 3);
      if (free < 0) free = descriptors.length;
      descriptors[free] = {node, position: 0, append: (flags & APPEND) !== 0};
      put32(at, free);
    },
    path_remove_directory(fd, path, length) {
      const found = existing(fd, path, length);
      if (!(found.node instanceof Folder)) throw new Refusal("notdir");
      if (found.node.entries.size > 0) throw new Refusal("notempty");
      remove(found);
    },
    path_unlink_file(fd, path, length) {
      const found = existing(fd, path, length);
      if (found.node instanceof Folder) throw new Refusal("isdir");
      remove(found);
    },
    path_rename(from, path, length, to, other, size) {
      const source = existing(from, path, length), target = find(to, other, size);
      if (target.node === source.node) return;
      if (target.node instanceof Folder) {
        if (!(source.node instanceof Folder)) throw new Refusal("isdir");
        if (target.node.entries.size > 0) throw new Refusal("notempty");
      } else if (target.node && source.node instanceof Folder) throw new Refusal("notdir");
      if (target.node) target.node.links--;
      source.folder.entries.delete(source.name);
      target.folder.entries.set(target.name, source.node);
    },
  };

  // Numbers of 32 bits arrive with a sign, also addresses above 2 GB.
  const numbered = (call) => (...values) => {
    update();
    try {
      call(...values.map((value) => typeof value === "number" ? value >>> 0 : value));
      return 0;
    } catch (error) {
      if (error instanceof Refusal) return error.number;
      throw error;
    }
  };
  return Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, numbered(call)]));
}
