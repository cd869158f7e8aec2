// Makes the pages of make web and make web-single. A source is HTML whose styles and module script
// are given by <link rel="stylesheet" href="NAME"> and <script type="module" src="NAME"></script>.
import crypto from "node:crypto";
import fs from "node:fs";
import zlib from "node:zlib";

const LINK = /<link rel="stylesheet" href="([^":]+)">/g;
const MODULE = /<script type="module" src="([^":]+)"><\/script>/;
const SCRIPT = /<script(?: type="module")?>([^]*?)<\/script>/g;

const STYLE = "scripts/roper/text/style.css"; // of these pages and of lessons
const FONTS = "build/library/fonts.css"; // if make fonts has written it

// A script or a style of the pages.
export function read(name) {
  if (name === "fonts.css") return fs.existsSync(FONTS) ? fs.readFileSync(FONTS, "utf8") : "";
  return fs.readFileSync(name === "style.css" ? STYLE : `bindings/web/${name}`, "utf8");
}

const HEAD = `<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="fonts.css">
<link rel="stylesheet" href="style.css">
<link rel="stylesheet" href="page.css">`;

// The source of a page of this folder, with what all of them have in their heads.
export function source(name) {
  return read(name).replace("<head>", HEAD);
}

// The names of the styles and modules of a page.
export function linked(html) {
  return [LINK, new RegExp(MODULE, "g")].flatMap(
    (pattern) => [...html.matchAll(pattern)].map(([, name]) => name));
}

// The files that a module imports, directly or not, before it.
function imports(name, found = new Set()) {
  for (const [, other] of read(name).matchAll(/^import .* from "\.\/(.+)";$/gm))
    imports(other, found);
  return found.add(name);
}

// A module and all that it imports as one script, which exports the same. Each module keeps its own
// scope.
export function joined(name) {
  let list;
  const parts = [...imports(name)].map((one) => {
    const names = [];
    const exports = /^export ((?:async )?\w+) (\w+)/gm;
    const body = read(one).replace(/^import .*$/gm, "").replace(exports, (_, kind, exported) => {
      names.push(exported);
      return `${kind} ${exported}`;
    });
    list = `{ ${names.join(", ")} }`;
    return `const ${list} = (() => {\n${body}\nreturn ${list};\n})();`;
  });
  return parts.join("\n") + (/\w/.test(list) ? `\nexport ${list};` : "");
}

const HOME = `<a href="../index.html">roper</a>`;
const WAYS = `<div class="bar"><nav aria-label="Pages">${HOME} <a href="../race.html">Race</a>
<a href="../prompt.html">Prompt</a></nav></div>`;

// The source of a page that `lesson --html` wrote, with a way to the other pages, and with live
// cells if it is that of a lesson.
export function live(html) {
  const STEPS = '<nav aria-label="Steps of this lesson">';
  const source = html.replace("</head>", () => `<link rel="stylesheet" href="fonts.css"></head>`);
  const page = source.includes(STEPS) ? source.replace(STEPS, () => STEPS + HOME) :
                                        source.replace("<body>", () => `<body>${WAYS}`);
  return !page.includes("<main data-lesson=") ?
    page :
    page.replace("</head>",
      () => `<link rel="stylesheet" href="output.css"><link rel="stylesheet" href="cells.css">
<script type="module" src="cells.mjs"></script></head>`);
}

// A page with the figure of the lessons in the place that it has for it.
export function opened(html, {figure, style, script}) {
  const PLACE = '<div id="opening"></div>';
  return !html.includes(PLACE) ? html :
                                 html.replace("</head>", () => `<style>${style}</style></head>`)
                                   .replace(PLACE, () => figure + script);
}

const POLICY = /<meta [^>]*http-equiv="Content-Security-Policy"[^>]*>/;

// Lets a page load only what `sources` allow, and run only the scripts in it, instead of what it
// allowed before.
function guarded(html, {script, ...sources}) {
  const hashes = [...html.matchAll(SCRIPT)].map(
    ([, body]) => `'sha256-${crypto.createHash("sha256").update(body).digest("base64")}'`);
  const policy = Object
                   .entries({
                     default: ["'none'"],
                     script: ["'wasm-unsafe-eval'", ...script, ...hashes],
                     style: ["'self'", "'unsafe-inline'"],
                     img: ["data:"],
                     font: ["data:"],
                     ...sources
                   })
                   .map(([name, list]) => `${name}-src ${list.join(" ")}`);
  const content = [...policy, "base-uri 'none'", "form-action 'none'"].join("; ");
  return html.replace(POLICY, "")
    .replace(/<meta charset="utf-8">/,
      (meta) => `${meta}<meta http-equiv="Content-Security-Policy" content="${content}">`);
}

// A page whose scripts, styles and engine are in a folder, given relative to the page.
export function served(html, folder) {
  const page = html.replace(LINK, `<link rel="stylesheet" href="${folder}/$1">`)
                 .replace(MODULE, `<script type="module" src="${folder}/$1"></script>`);
  return guarded(page, {script: ["'self'"], worker: ["'self'"], connect: ["'self'"]});
}

// The engine as elements of a page; files: [name, bytes].
export function embedded(files) {
  return [...files, ["worker.mjs", joined("worker.mjs")]]
    .map(([name, bytes]) => {
      const text = zlib.gzipSync(bytes, {level: 9}).toString("base64");
      return `<script type="text/plain" id="${name}">${text}</script>\n`;
    })
    .join("");
}

// A page that contains its scripts, its styles and, if it runs code, `engine`, from `embedded`.
export function single(html, engine) {
  const page = html.replace(LINK, (_, name) => `<style>${read(name)}</style>`)
                 .replace(MODULE, (_, name) => `<script type="module">${joined(name)}</script>`)
                 .replace("</body>", () => `${MODULE.test(html) ? engine : ""}</body>`);
  return guarded(page, {script: [], worker: ["blob:"]});
}
