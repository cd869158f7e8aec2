// The parts of a page that its modules load by name: files beside this module, or, in a page of one
// file, elements with the name as id. They contain gzip in base64.

function inflated(element) {
  const bytes = Uint8Array.from(atob(element.textContent), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
}

// The address of a part, or its bytes.
export async function part(name) {
  const element = document.getElementById(name);
  return element ? inflated(element).arrayBuffer() : new URL(name, import.meta.url).href;
}

// The address of a script.
export async function script(name) {
  const found = await part(name);
  return typeof found === "string" ?
    found :
    URL.createObjectURL(new Blob([found], {type: "text/javascript"}));
}
