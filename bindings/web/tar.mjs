// A tar archive of files: [path, bytes] each. `tar xf` unpacks it.
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
