// The lessons' pages in headless Chromium: all cells, changed cells, exercises, what the browser
// keeps, and pages of one file opened from disk.
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import {after, test} from "node:test";
import {pathToFileURL} from "node:url";

import {root} from "./built.mjs";
import {find, serve, start} from "./chromium.mjs";

const build = path.join(root, "build");
const folder = path.join(build, "web"), alone = path.join(build, "web-single");
const program = find();
const server = await serve(folder), browser = program && start(program);
const inBrowser = {
  skip: !program && "no browser is installed (apt-get install chromium)"
};

after(async () => {
  await browser?.close();
  server.close();
});

// What a reader sees of the cells of a page, and buttons to press.
const HELPERS = `
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const cells = () => all(".cell").map((element) => ({ element, step: element.closest("section").id,
    editor: element.querySelector("textarea"), output: element.querySelector(".output").textContent,
    status: element.querySelector("[role=status]").textContent,
    button: (name) => all("button", element).find((one) => one.textContent === name),
    claims: all("p.claim", element.closest("section")).map((claim) => claim.textContent) }));
  const settled = () => new Promise((resolve) => {
    const look = () => document.body.dataset.state === "busy" ? setTimeout(look, 10) : resolve();
    look();
  });
  const run = (cell) => { cell.button("Run").click(); return settled(); };
  const change = (cell, from, to) => {
    cell.editor.value = cell.editor.value.replace(from, () => to);
    cell.editor.dispatchEvent(new Event("input"));
  };`;

// Evaluates the body of an asynchronous function in a page.
function act(page, body) {
  return page.evaluate(`(async () => { ${HELPERS}; ${body} })()`);
}

async function open(name, origin = server.address) {
  const page = await browser.page(origin);
  await page.open(`lessons/${name}.html`);
  await page.until("document.body?.dataset.state === 'ready'");
  return page;
}

async function close(page) {
  assert.deepEqual(page.problems, []);
  await page.close();
}

const isLesson = (file) =>
  fs.readFileSync(path.join(folder, "lessons", file), "utf8").includes("<main data-lesson=");
const names = fs.readdirSync(path.join(folder, "lessons"))
                .filter(isLesson)
                .map((name) => name.replace(".html", ""));

test("all cells of all lessons run, as recorded, and their claims hold", inBrowser, async () => {
  let cells = 0, claims = 0;
  for (const name of names) {
    const page = await open(name);
    assert.equal(page.requests.some((url) => url.endsWith(".wasm")), false,
      "the engine starts at the first Run");
    const {found, recorded} = await act(page, `
      const recorded = cells().map(({ output }) => output);
      await run(cells().at(-1));
      return { recorded, found: cells() };`);
    for (const [i, {step, status, output, claims: texts}] of found.entries()) {
      assert.match(status, /^Ran in [\d.]+ m?s(; its( \d+)? claims? holds?)?\.$/,
        `${name} ${step}: ${output}`);
      assert.equal(output.trimEnd(), recorded[i].trimEnd(), `${name} ${step}`);
      for (const text of texts)
        assert.match(text, /^✓ .* holds here and now, measured: /s, `${name} ${step}`);
      claims += texts.length;
    }
    cells += found.length;
    await close(page);
  }
  assert.ok(
    names.length >= 16 && cells >= 95 && claims >= 180, `${names.length} ${cells} ${claims}`);
});

test("a changed cell says which claims fail, and Reset restores it", inBrowser, async () => {
  const page = await open("rotation");
  const seen = await act(page, `
    const first = () => cells()[0], recorded = first().output, claim = first().claims[0];
    const svg = () => first().element.closest("section").querySelector("figure svg").outerHTML;
    change(first(), "- y * s", "+ y * s");
    const before = first().status;
    await run(cells()[1]);
    const failing = first(), figure = svg();
    change(first(), "x, y = turn", "x, y = no_such_turn");
    await run(first());
    const broken = first(), below = cells()[1].status;
    first().button("Reset").click();
    const restored = first();
    await run(first());
    return { recorded, claim, before, failing, broken, below, restored, last: first(),
      hasChanged: figure !== svg() };`);
  assert.match(seen.claim, /^✓ .* measured: /s);
  assert.match(seen.before, /^Changed; the output is that of the lesson/);
  assert.match(seen.failing.status, /; its claim fails\.$/);
  assert.match(seen.failing.claims[0], /^✗ .* fails here and now, measured: 2$/s);
  assert.notEqual(seen.failing.output, seen.recorded);
  assert.match(seen.broken.output, /undefined variable "no_such_turn"/);
  assert.match(seen.broken.claims[0], /not checked, because the code fails$/);
  assert.match(seen.below, /^The code above has changed/);
  assert.equal(seen.restored.output, seen.recorded);
  assert.equal(seen.restored.claims[0], seen.claim);
  assert.match(seen.last.status, /its claim holds\.$/);
  assert.equal(seen.hasChanged, true);
  await close(page);
});

test("an interactive figure takes its data from the code that ran", inBrowser, async () => {
  const page = await open("relative-score");
  const seen = await act(page, `
    const section = document.querySelector("#step-6"), figure = section.querySelector(".clocks");
    section.querySelector(".prediction .plain").click();
    const cell = cells().at(-1), limit = () => figure.querySelector(".limit").textContent;
    const recorded = limit();
    cell.editor.value = "hands = {} for t = 1, 32 do hands[t] = {0.5, 0} end";
    cell.editor.dispatchEvent(new Event("input"));
    await run(cell);
    const changed = limit();
    cells().at(-1).button("Reset").click();
    return { recorded, changed, reset: limit() };`);
  assert.match(seen.recorded, /^ of at most [\d.]+$/);
  assert.equal(seen.changed, " of at most 16.0");
  assert.equal(seen.reset, seen.recorded);
  await close(page);
});

test("paper shows answers, bars and the end of each motion", inBrowser, async () => {
  const page = await open("wrong-inverse");
  await page.send("Emulation.setEmulatedMedia", {media: "print"});
  const seen = await act(page, `
    dispatchEvent(new Event("beforeprint"));
    const shown = (selector) => all(selector).map((one) => one.checkVisibility());
    return { waiting: all("[data-waits]").length, answers: shown("details.answer > :last-child"),
      bars: shown("main svg .bar"), checks: all(".results details[open]").length,
      turns: all(".step figure").map((one) =>
        getComputedStyle(one).getPropertyValue("--turn")) };`);
  assert.equal(seen.waiting, 0);
  assert.equal(seen.checks, 0);
  assert.ok(seen.answers.length >= 6 && seen.answers.every(Boolean));
  assert.ok(seen.bars.length >= 1 && seen.bars.every(Boolean));
  assert.ok(seen.turns.length >= 4 && seen.turns.every((turn) => turn === "1"));
  await close(page);
});

test("Ctrl+Enter runs a cell, Stop ends it, and Escape leaves it", inBrowser, async () => {
  const page = await open("rotation");
  await act(page, `change(cells()[0], /[^]*/, "print 'on'\\nwhile true do end");
      cells()[0].editor.focus();`);
  await page.press("Enter", {modifiers: 2});
  await page.until(`document.querySelector(".output").textContent === "on\\n"`);
  await act(page, `cells()[0].button("Stop").click(); await settled();`);
  assert.match(await act(page, "return cells()[0].output"), /^on\ninterrupted\n/);
  await page.press("Escape");
  assert.equal(await page.evaluate("document.activeElement === document.body"), true);
  await close(page);
});

test(
  "code that does not stop is ended with its session, which keeps files", inBrowser, async () => {
    const page = await open("rotation");
    await act(
      page, `change(cells()[0], /[^]*/, "f = io.open('kept.txt', 'w') f:write('mine') f:close()");
      await run(cells()[0]);`);
    await act(page,
      `change(cells()[0], /[^]*/, "while true do pcall(function() while true do end end) end");
      cells()[0].button("Run").click();`);
    await page.until("document.body.dataset.state === 'busy'");
    await act(page, `cells()[0].button("Stop").click();
    while (cells()[0].button("End the session").hidden)
      await new Promise((resolve) => setTimeout(resolve, 10));
    cells()[0].button("End the session").click(); await settled();
    change(cells()[0], /[^]*/, "io.open('kept.txt'):read 'a'"); await run(cells()[0]);`);
    assert.match(
      await act(page, "return cells()[0].output"), /^"mine"\nThe figure cannot be drawn: /);
    await act(page, "for (const cell of cells()) cell.button('Reset').click();");
    await close(page);
  });

test("an answer in Lua is judged in the reader's session", inBrowser, async () => {
  const page = await open("rotation");
  const answer = (line) => act(page, `
    const question = document.querySelector(".question[data-check]");
    question.querySelector("input").value = ${JSON.stringify(line)};
    question.querySelector("form").requestSubmit();
    const status = question.querySelector(".status");
    while (status.textContent === "…") await new Promise((resolve) => setTimeout(resolve, 10));
    return status.textContent;`);
  assert.match(await answer("{3, 4}"), /^Not yet\. /);
  assert.match(await answer("{turn(3, 4"), /incomplete/);
  assert.match(await answer("{turn(3, 4, 180)}"), /^Right\./);
  assert.match(await answer("turn(3"), /incomplete/);
  await close(page);
});

test("changed cells and files are kept until they are removed", inBrowser, async () => {
  let page = await open("rotation");
  await act(page,
    `change(cells()[0], /[^]*/, "file = io.open('kept.txt', 'w') file:write('mine') file:close()");
      await run(cells()[0]);`);
  await page.until(`new Promise((resolve) => indexedDB.open("roper").onsuccess = ({ target }) =>
    target.result.transaction("files").objectStore("files").getAllKeys().onsuccess =
        ({ target }) => resolve(target.result.includes("kept.txt")))`);
  await page.open("lessons/rotation.html");
  await page.until("document.body?.dataset.state === 'ready'");
  const seen = await act(page, `
    const kept = cells()[0].editor.value;
    change(cells()[0], /[^]*/, "io.open('kept.txt'):read 'a'");
    await run(cells()[0]);
    const { output } = cells()[0];
    cells()[0].button("Reset").click();
    return { kept, output };`);
  assert.match(seen.kept, /^file = io\.open/);
  assert.match(seen.output, /mine/);
  await page.open("lessons/rotation.html");
  await page.until("document.body?.dataset.state === 'ready'");
  assert.match(await act(page, "return cells()[0].editor.value"), /^function turn/);
  await close(page);
});

test("a page works without the engine", inBrowser, async () => {
  const copy = fs.mkdtempSync(path.join(os.tmpdir(), "roper-web-"));
  fs.cpSync(folder, copy, {recursive: true, filter: (file) => !file.endsWith(".wasm")});
  const other = await serve(copy);
  const page = await open("rotation", other.address);
  await act(page, "await run(cells()[0])");
  const [cell] = await act(page, "return cells()");
  assert.match(cell.output, /the engine cannot be loaded/);
  assert.match(await page.evaluate("document.querySelector('.question').textContent"), /Rotate/);
  await page.close();
  other.close();
  fs.rmSync(copy, {recursive: true});
});

test("a page of one file works from disk", inBrowser, async () => {
  const page = await open("ten-minutes", `${pathToFileURL(alone)}/`);
  const found = await act(page, "await run(cells().at(-1)); return cells()");
  for (const {status, claims, output} of found) {
    assert.match(status, /^Ran in /, output);
    for (const text of claims) assert.match(text, /^✓/);
  }
  assert.equal(
    page.requests.filter((url) => !/^(blob|data):/.test(url)).length, 1, page.requests.join("\n"));
  await close(page);
});

test("a page loads nothing but its own files and runs no other script", inBrowser, async () => {
  const page = await open("rotation");
  const {result} = await page.send("Runtime.evaluate", {
    awaitPromise: true,
    returnByValue: true,
    allowUnsafeEvalBlockedByCSP: false,
    expression: `(async () => {
    window.reached = [];
    const refused = [];
    addEventListener("securitypolicyviolation", (event) => refused.push(event.violatedDirective));
    document.body.append(Object.assign(document.createElement("script"),
      { textContent: "reached.push('script')" }));
    document.body.insertAdjacentHTML("beforeend", "<img src='x' onerror='reached.push(1)'>" +
      "<a href='javascript:reached.push(2)'>x</a>");
    document.body.lastChild.click();
    try { new Function("reached.push('eval')")(); } catch (failure) { refused.push(failure.name); }
    await fetch("http://127.0.0.2/").catch(() => {});
    while (new Set(refused).size < 6) await new Promise((resolve) => setTimeout(resolve, 10));
    return { refused: [...new Set(refused)].sort(), reached };
  })()`
  });
  assert.deepEqual(result.value, {
    reached: [],
    refused:
      ["EvalError", "connect-src", "img-src", "script-src", "script-src-attr", "script-src-elem"]
  });
  await page.close();
});

// The roles and texts of controls that screen readers would announce without a name.
async function nameless(page) {
  const {nodes} = await page.send("Accessibility.getFullAXTree");
  const CONTROLS =
    new Set(["button", "checkbox", "combobox", "link", "radio", "searchbox", "slider", "textbox"]);
  return nodes
    .filter(({ignored, role, name}) => !ignored && CONTROLS.has(role.value) && !name?.value?.trim())
    .map(({role}) => role.value);
}

test("all pages fit into windows of any width, and name their controls", inBrowser, async () => {
  const pages = fs.readdirSync(path.join(folder, "lessons"));
  for (const name of pages) {
    const page = await browser.page(server.address);
    for (const width of [360, 400, 1000, 1500]) {
      await page.size(width, 900);
      await page.open(`lessons/${name}`);
      await page.until("document.readyState === 'complete'");
      const beyond = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
      assert.ok(beyond <= 0, `${name}, ${width} pixels: ${beyond} pixels beyond the window`);
    }
    assert.deepEqual(await nameless(page), [], name);
    await close(page);
  }
});

test("a figure and the output of code wait for the predictions above them", inBrowser, async () => {
  const page = await open("relative-distance");
  const look = (step) => act(page, `
    const section = document.getElementById("step-${step}");
    const shown = (selector) => all(selector, section).filter((one) => one.checkVisibility({visibilityProperty: true})).length;
    return { now: shown(".chart .now") > 0, claims: shown("p.claim") > 0, output: shown(".output") > 0,
      enabled: all(".figures input", section).every(({disabled}) => !disabled) };`);
  const done = {now: true, claims: true, output: true, enabled: true};
  const waits = {now: false, claims: false, output: false, enabled: false};
  assert.deepEqual(await look(2), waits);
  const answer = (text) => act(page, `
    const question = document.querySelector("#step-2 .question");
    question.querySelector("input").value = "${text}";
    question.querySelector("form").requestSubmit();`);
  await answer("4");
  assert.deepEqual(await look(2), waits);
  await answer("-4");
  assert.deepEqual(await look(2), done);
  assert.deepEqual(await look(3), waits);
  await act(page, `document.querySelector("#step-3 .plain").click()`);
  assert.deepEqual(await look(3), done);
  await page.open("lessons/relative-distance.html");
  await page.until("document.body?.dataset.state === 'ready'");
  assert.deepEqual(await look(3), done, "the browser keeps what was shown");
  assert.match(
    await page.evaluate("document.querySelector('.here').textContent"), /^4 predictions to make$/);
  await close(page);
});
