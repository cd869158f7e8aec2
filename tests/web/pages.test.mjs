// The pages that make web has written, in headless Chromium: the prompt and the race.
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import {after, before, describe, test} from "node:test";

import {copy, root, start as engine} from "./built.mjs";
import {find, serve, start} from "./chromium.mjs";

const folder = path.join(root, "build/web");
const program = find();
const NO_SUSPENSION = "delete WebAssembly.Suspending";

describe("pages in Chromium",
  {skip: program ? false : "no Chromium is installed (apt-get install chromium)"}, () => {
    let server, browser;
    before(async () => {
      server = await serve(folder);
      browser = start(program);
    });
    after(async () => {
      await browser?.close();
      server?.close();
    });

    // Opens a page, and closes it after `f`, which must leave nothing on the console and ask no
    // other address.
    async function on(url, f, before) {
      const page = await browser.page(server.address);
      page.before = before;
      await page.open(url);
      await page.until("document.body?.dataset.state === 'ready'");
      await f(page);
      assert.deepEqual(page.problems, []);
      assert.ok(page.requests.some((request) => request.endsWith("roper.wasm")));
      await page.close();
    }

    const value = (page, expression) => page.evaluate(expression);
    const shown = (page) => value(page, "document.getElementById('output').textContent");

    async function run(page, code, until = "document.body.dataset.state === 'ready'") {
      const entries = await value(page, "document.querySelectorAll('.entry').length");
      await value(page, "document.getElementById('input').focus()");
      await page.type(code);
      await page.press("Enter");
      await page.until(`document.querySelectorAll('.entry').length > ${entries} && ${until}`);
      return value(page, "document.querySelector('.entry:last-child').textContent");
    }

    test("the first page opens with the sentence that moves, and does not load the engine",
      async () => {
        const page = await browser.page(server.address);
        await page.size(1000, 900);
        await page.open("index.html");
        await page.until(
          "document.querySelector('.sentence .say')?.textContent.includes('output')");
        assert.equal(await value(page,
                       "document.querySelector('.sentence').getBoundingClientRect().top < 600"),
          true);
        assert.deepEqual(page.problems, []);
        assert.equal(page.requests.some((request) => request.endsWith("roper.wasm")), false);
        await page.close();
      });

    test(
      "a page loads one script, and its worker another", () => on("prompt.html", async (page) => {
        const names = page.requests.map((request) => path.posix.basename(request));
        assert.deepEqual([...new Set(names)].filter((name) => name.endsWith(".mjs")),
          ["prompt.mjs", "worker.mjs"]);
      }));

    test("the prompt prints values, errors, help and several lines as the terminal does",
      () => on("prompt.html", async (page) => {
        assert.equal(await run(page, "roper.tensor{{1, 2}, {3, 4}}"),
          "> roper.tensor{{1, 2}, {3, 4}}float32 [2, 2]\n1 2\n3 4\n");
        assert.equal(await run(page, "x = roper.ones{2}"), "> x = roper.ones{2}");
        assert.match(
          await run(page, "x:summ()"), /error: a tensor has no field "summ"; did you mean "sum"\?/);
        assert.match(await run(page, "?roper.softmax"), /roper\.softmax\(x, axis\?\)\n/);
        await page.type("for i = 1, 2 do");
        await page.press("Enter");
        await page.until("document.getElementById('input').value === 'for i = 1, 2 do\\n'");
        assert.equal(await run(page, "print(i) end"), "> for i = 1, 2 do\n>> print(i) end1\n2\n");
      }));

    test("the prompt draws figures between its lines", () => on("prompt.html", async (page) => {
      await run(page, "roper.plot.line{{1, 4, 2, 8}}");
      assert.ok(await value(
        page, "document.querySelector('#output figure svg').getBoundingClientRect().height > 100"));
    }));

    test("text of the user stays text", () => on("prompt.html", async (page) => {
      assert.match(await run(page, "print '<img src=x onerror=alert(1)>'"),
        /<img src=x onerror=alert\(1\)>\n$/);
      await run(page,
        "roper.plot.line({{1, 2}}, {title = '<script>window.broken = 1</script><img src=x>'})");
      assert.equal(
        await value(page, "document.querySelector('#output img, #output script')"), null);
      assert.equal(await value(page, "window.broken"), undefined);
    }));

    test("Tab completes, with the documentation beside the names",
      () => on("prompt.html", async (page) => {
        await page.type("x = roper.attention_w");
        await page.press("Tab");
        await page.until(
          "document.getElementById('input').value === 'x = roper.attention_weights'");
        await value(page, "document.getElementById('input').select()");
        await page.type("roper.nn.L");
        await page.press("Tab");
        await page.until(
          "document.getElementById('help').textContent.startsWith('roper.nn.LayerNorm')");
        await page.press("ArrowDown");
        await page.until(
          "document.getElementById('help').textContent.startsWith('roper.nn.Linear')");
        await page.press("Enter");
        assert.equal(
          await value(page, "document.getElementById('input').value"), "roper.nn.Linear");
        assert.equal(await value(page, "document.getElementById('completion').hidden"), true);
        await page.type("{");
        await page.press("Tab");
        await page.until(
          "document.getElementById('help').textContent.startsWith('  bias  boolean')");
      }));

    test(
      "the arrow keys repeat earlier input, and Ctrl+R searches it, also after the page was loaded again",
      () => on("prompt.html", async (page) => {
        await run(page, "first = 1");
        await run(page, "second = 2");
        await page.open("prompt.html");
        await page.until("document.body?.dataset.state === 'ready'");
        await page.press("ArrowUp");
        await page.press("ArrowUp");
        assert.equal(await value(page, "document.getElementById('input').value"), "first = 1");
        await page.press("ArrowDown");
        assert.equal(await value(page, "document.getElementById('input').value"), "second = 2");
        await page.press("ArrowDown");
        await page.type("fi");
        await page.press("r", {modifiers: 2, code: "KeyR"});
        assert.equal(await value(page, "document.getElementById('input').value"), "first = 1");
        await page.press("ArrowDown");
        await page.press("ArrowDown");
        assert.equal(await value(page, "document.getElementById('input').value"), "fi");
      }));

    test("files are kept until they are removed", () => on("prompt.html", async (page) => {
      await run(page, "io.open('kept.txt', 'w'):write('mine'):close()");
      await page.until(
        `new Promise((resolve) => indexedDB.open("roper").onsuccess = ({ target: { result } }) =>
      result.transaction("files").objectStore("files").getAllKeys().onsuccess =
        ({ target }) => resolve(target.result.includes("kept.txt")))`);
      await page.open("prompt.html");
      await page.until("document.body?.dataset.state === 'ready'");
      assert.match(await run(page, "io.open('kept.txt'):read 'a'"), /"mine"\n$/);
      await run(page, "os.remove 'kept.txt'");
      await page.until(
        `new Promise((resolve) => indexedDB.open("roper").onsuccess = ({ target: { result } }) =>
      result.transaction("files").objectStore("files").getAllKeys().onsuccess =
        ({ target }) => resolve(!target.result.includes("kept.txt")))`);
    }));

    // Presses buttons, given by expressions, and returns the files that the page then downloads.
    async function downloads(page, ...buttons) {
      const files = await value(page, `(async () => {
        const names = [], blobs = [];
        URL.createObjectURL = (blob) => (blobs.push(blob), "data:,");
        HTMLAnchorElement.prototype.click = function() { names.push(this.download); };
        for (const button of [${buttons}]) button.click();
        while (names.length < ${buttons.length})
          await new Promise((resolve) => setTimeout(resolve, 10));
        return Promise.all(blobs.map(async (blob, i) => [names[i],
          Array.from(new Uint8Array(await blob.arrayBuffer()))]));
      })()`);
      return new Map(files.map(([name, bytes]) => [name, Buffer.from(bytes)]));
    }

    // The files of an archive that were unpacked by tar, in a folder of an engine.
    async function unpacked(archive) {
      const home = fs.mkdtempSync(path.join(os.tmpdir(), "roper-tar-"));
      execFileSync("tar", ["xf", "-"], {cwd: home, input: archive});
      const found = await engine();
      copy(found.files, home, "/home");
      fs.rmSync(home, {recursive: true});
      return found;
    }

    test(
      "files are listed, downloaded, added and removed", () => on("prompt.html", async (page) => {
        const button = (label) => `document.querySelector('#folders [aria-label="${label}"]')`;
        const until = (label) => page.until(`${button(label)} !== null`);
        const count = (number) =>
          page.until(`document.getElementById("count").textContent === "${number}"`);
        await run(page, "f = io.open('a.txt', 'w') f:write 'mine' f:close()");
        await run(page,
          "roper.sweep.run{what = 'copy', folder = 'runs/one', fields = " +
            "{preset = 'smoke', steps = 2, position = 'rope'}};");
        await until("Download runs");
        const files = await downloads(page, button("Download a.txt"), button("Download runs/one"));
        assert.equal(files.get("a.txt").toString(), "mine");
        const found = await unpacked(files.get("runs-one.tar"));
        assert.equal(found.ask({run: ["runs", "runs/one"]}).status, 0);
        assert.match(found.printed, /runs\/one\/.* finished/);

        await value(page, `${button("Remove runs")}.click()`);
        await until("Download runs"); // one click removes nothing
        await value(page, `${button("Remove runs")}.click()`);
        await count(1);
        const home = fs.mkdtempSync(path.join(os.tmpdir(), "roper-add-"));
        const long = `${"long/".repeat(30)}name.txt`;
        fs.writeFileSync(path.join(home, "one.tar"), files.get("runs-one.tar"));
        fs.mkdirSync(path.join(home, path.dirname(long)), {recursive: true});
        fs.writeFileSync(path.join(home, long), "far");
        for (const format of ["gnu", "pax"])
          execFileSync(
            "tar", [`--format=${format}`, "-cf", `${format}.tar`, "./long"], {cwd: home});
        fs.writeFileSync(path.join(home, "broken.tar"), "no archive");
        fs.writeFileSync(path.join(home, "<b>.txt"), "text");
        const {root} = await page.send("DOM.getDocument");
        const {nodeId} =
          await page.send("DOM.querySelector", {nodeId: root.nodeId, selector: "#chosen"});
        const add = (...names) => page.send(
          "DOM.setFileInputFiles", {nodeId, files: names.map((name) => path.join(home, name))});
        await add("one.tar", "<b>.txt");
        await until("Download runs/one");
        await until("Download <b>.txt");
        assert.match(await run(page, "io.open('runs/one/sweep.json'):read 'l'"), /"{"\n$/);
        for (const name of ["gnu.tar", "pax.tar"]) {
          await add(name);
          await until(`Remove ${long}`);
          assert.match(
            await run(page, `io.open('${long}'):read 'a', os.remove('${long}')`), /"far"\ttrue\n$/);
        }
        await add("broken.tar");
        await page.until(
          `document.getElementById("changed").textContent === "expected a tar archive."`);
        fs.rmSync(home, {recursive: true});

        const before = await value(page, `document.getElementById("count").textContent`);
        await page.open("prompt.html");
        await page.until("document.body?.dataset.state === 'ready'");
        await count(before);
      }));

    test("Ctrl+C stops Lua, a C function that calls Lua, and a kernel",
      () => on("prompt.html", async (page) => {
        for (const code
               of ["while true do end", "table.sort({3, 2, 1}, function() while true do end end)",
                 "a = roper.randn{2000, 2000} for _ = 1, 1000 do _ = a:matmul(a) end"]) {
          await run(page, code, "document.body.dataset.state === 'busy'");
          await page.press("c", {modifiers: 2, code: "KeyC"});
          await page.until("document.body.dataset.state === 'ready'");
          assert.match(await value(page, "document.querySelector('.entry:last-child').textContent"),
            /interrupted\n$/);
        }
        assert.match(await run(page, "1 + 1"), /2\n$/);
      }));

    test("code in a link is shown and not run",
      () => on("prompt.html#code=print(%22run%22)%0A1%20%2B%201", async (page) => {
        assert.equal(
          await value(page, "document.getElementById('input').value"), "print(\"run\")\n1 + 1");
        assert.equal(await shown(page), "");
        await page.press("Enter");
        await page.until("document.getElementById('output').textContent.endsWith('run\\n2\\n')");
      }));

    test("code that does not stop can be ended with the session",
      () => on("prompt.html", async (page) => {
        await run(page, "while true do pcall(function() while true do end end) end",
          "document.body.dataset.state === 'busy'");
        await value(page, "document.getElementById('stop').click()");
        await page.until("!document.getElementById('ended').hidden");
        await value(page, "document.getElementById('restart').click()");
        await page.until(
          "document.body.dataset.state === 'ready' && document.getElementById('ended').hidden");
        assert.match(await run(page, "1 + 1"), /2\n$/);
      }));

    test("code below a C function is ended with the session without Promise Integration",
      () => on("prompt.html", async (page) => {
        const sorting = "table.sort({3, 2, 1}, function() while true do end end)";
        await run(page, "io.open('kept.txt', 'w'):write('kept'):close();");
        await run(page, sorting, "document.body.dataset.state === 'busy'");
        await value(page, "document.getElementById('stop').click()");
        await page.until("!document.getElementById('ended').hidden");
        await value(page, "document.getElementById('restart').click()");
        await page.until("document.getElementById('ended').hidden");
        assert.match(await run(page, "io.open('kept.txt'):read 'a'"), /"kept"\n$/);
        await page.press("ArrowUp");
        await page.press("ArrowUp");
        assert.equal(await value(page, "document.getElementById('input').value"), sorting);
      }, NO_SUSPENSION));

    // A race small enough for a test.
    async function small(page) {
      await value(
        page, `for (const [id, set] of [["width", "32"], ["layers", "1"], ["task", "copy"]]) {
      document.getElementById(id).value = set;
      document.getElementById(id).dispatchEvent(new Event("change"));
    }
    document.getElementById("form").requestSubmit()`);
    }
    const stopAt = (page, step) => value(page, `new MutationObserver((_, observer) => {
      if (!document.getElementById("speed").textContent.includes("step ${step} of 50")) return;
      observer.disconnect();
      document.getElementById("stop").click();
    }).observe(document.getElementById("speed"), {childList: true})`);
    const stopped =
      "!document.getElementById('resume').hidden && document.body.dataset.state === 'ready'";
    const trained =
      "document.body.dataset.state === 'ready' && !document.getElementById('verdict').hidden";
    // Waits until both curves have so many points; they are drawn with the next frame.
    const curves = (page, count) =>
      page.until(`"${count} ${count}" === [...document.querySelectorAll(".curve")]
    .map((curve) => curve.getAttribute("points").split(" ").length).join(" ")`);
    const guess = (page, name) =>
      value(page, `document.querySelector('[data-guess=${name}]').click()`);

    test("a race draws both curves, and says who is ahead and how sure that is",
      () => on("race.html", async (page) => {
        assert.match(
          await value(page, "document.getElementById('chosen').parentElement.textContent"),
          /chosen after seeing seed 1/);
        await small(page);
        await guess(page, "roper");
        await page.until(trained);
        await curves(page, 50);
        assert.deepEqual(
          await value(
            page, "[...document.querySelectorAll('svg .name')].map((n) => n.textContent).sort()"),
          ["RoPE", "RoPER"]);
        assert.match(await value(page, "document.getElementById('reply').textContent"),
          /After 50 steps with seed 1.* for RoPE.*You predicted/);
        assert.match(await value(page, "document.getElementById('noise').textContent"),
          /With 1 pair, no difference could be significant/);
        assert.equal(await value(page, "document.querySelectorAll('#attention figure').length"), 2);
        await value(page, "document.getElementById('again').click()");
        await page.until("document.querySelectorAll('#table tbody tr').length === 2");
        assert.match(await value(page, "document.getElementById('noise').textContent"),
          /2 pairs of the same seed/);
      }));

    async function stopAndResume(page) {
      await small(page);
      await stopAt(page, 5);
      await guess(page, "none");
      await page.until(stopped);
      await value(page, "document.getElementById('resume').click()");
      await page.until(trained);
      await curves(page, 50);
    }

    test("a race can be stopped, continued, and trained further",
      () => on("race.html", async (page) => {
        await stopAndResume(page);
        await value(page, "document.getElementById('longer').click()");
        await page.until(
          "document.getElementById('reply').textContent.startsWith('After 100 steps')");
        await curves(page, 100);
      }));

    test("a race can be stopped and continued without Promise Integration",
      () => on("race.html", stopAndResume, NO_SUSPENSION));

    test("the runs of a race can be downloaded", () => on("race.html", async (page) => {
      await small(page);
      await guess(page, "none");
      await page.until(trained);
      const files =
        await downloads(page, `document.getElementById("csv")`, `document.getElementById("tar")`);
      const csv = files.get("race-2.csv").toString();
      const lines = csv.trimEnd().split("\n");
      assert.equal(lines[0], "seed,method,step,loss");
      assert.equal(lines.length, 101);
      assert.match(lines[1], /^1,"rope",1,\d\.\d+$/);
      const found = await unpacked(files.get("race-2.tar"));
      found.ask({run: ["report", "race-2"]});
      assert.match(found.printed, /2 of 2 runs finished/);
    }));
  });
