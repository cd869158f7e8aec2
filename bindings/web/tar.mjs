// Tar archives of files: [path, bytes] each.

// An archive for `tar xf`.
export function tar(files) {
  const encoder = new TextEncoder(), parts = [];
  for (const [path, bytes] of files) {
    const header = new Uint8Array(512);
    const put = (at, text) => header.set(encoder.encode(text), at);
    const octal = (at, size, value) => put(at, value.toString(8).padStart(size - 1, "0"));
    const name = encoder.encode(path), cut = path.length > 100 ? path.lastIndexOf("/", 155) : -1;
    if (name.length !== path.length || cut < 0 && path.length > 100 || path.length - cut - 1 > 100)
      throw new Error(`the name ${path} does not fit into a tar archive`);
    put(0, path.slice(cut + 1));
    if (cut > 0) put(345, path.slice(0, cut));
    octal(100, 8, 0o644);
    octal(108, 8, 0);
    octal(116, 8, 0);
    octal(124, 12, bytes.length);
    octal(136, 12, Math.floor(Date.now() / 1000));
    put(148, "        ");
    put(156, "0");
    put(257, "ustar\u000000");
    octal(148, 7, header.reduce((sum, byte) => sum + byte, 0));
    parts.push(header, bytes, new Uint8Array(-bytes.length & 511));
  }
  return new Blob([...parts, new Uint8Array(1024)], {type: "application/x-tar"});
}

// The files in an archive, also of GNU tar and in pax format. Links, and paths that lead out of the
// folder, are left out.
export function untar(bytes) {
  const decoder = new TextDecoder(), files = [];
  const text = (at, size) => decoder.decode(bytes.subarray(at, at + size)).replace(/\0[^]*/, "");
  let long;
  for (let at = 0; bytes[at];) {
    const size = parseInt(text(at + 124, 12), 8), kind = text(at + 156, 1);
    const begin = at + 512, end = begin + size;
    if (!(end <= bytes.length) || !text(at + 257, 5).startsWith("ustar"))
      throw new Error("expected a tar archive");
    if (kind === "L") long = text(begin, size); // GNU's long name of the next file
    else if (kind === "x") long = text(begin, size).match(/^\d+ path=(.*)$/m)?.[1];
    else {
      const prefix = bytes[at + 262] === 0 ? text(at + 345, 155) : ""; // not in GNU's format
      const path = (long ?? (prefix && `${prefix}/`) + text(at, 100)).replace(/^(\.?\/)+/, "");
      if ((kind === "0" || kind === "") && !path.split("/").includes(".."))
        files.push([path, bytes.slice(begin, end)]);
      long = undefined;
    }
    at = end + (-size & 511);
  }
  return files;
}
