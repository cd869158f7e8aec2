// The engine in Node.js: values, errors, completion, help, interrupts, memory, large sizes.
import assert from "node:assert/strict";
import {test} from "node:test";

import {reply, start} from "./built.mjs";

const session = await start();
const run = (code) => session.ask({execute: code});

test("shows values as the prompt does", () => {
  assert.deepEqual(run("1 + 1").shown, ["2"]);
  assert.deepEqual(run("roper.tensor{{1, 2}, {3, 4}}").shown, ["float32 [2, 2]\n1 2\n3 4"]);
  assert.match(run("roper.tensor{{1, 2}}").messages[0].data["text/html"], /<td>2<\/td>/);
  assert.deepEqual(run("x = 3").shown, []);
  assert.deepEqual(run("for i = 1, x do print(i) end").shown, []);
  assert.match(session.printed, /1\n2\n3\n$/);
});

test("computes attention with RoPER and its gradient", () => {
  const {shown} = run(`
    roper.seed(1)
    q = roper.randn({1, 2, 20, 8}, "float64"):parameter()
    out = roper.attention(q, q, q, {position = "roper", causal = true})
    expected = roper.oracle.attention(q, q, q, {position = "roper", causal = true})
    out:sum():backward()
    return (out - expected):abs():max():item() < 1e-12, q.grad:abs():lt(100):all()`);
  assert.deepEqual(shown, ["true\ttrue"]);
});

test("reports errors as the prompt does", () => {
  assert.equal(
    run("roper.tensor{1}:summ()").error, 'a tensor has no field "summ"; did you mean "sum"?');
  assert.match(run("error 'no'").error, /no/);
  assert.match(run("local function f() return f() + 1 end return f()").error, /stack overflow/);
  assert.match(run("1 +").error, /incomplete|unexpected|<eof>/);
  assert.deepEqual(run("1 + 1").shown, ["2"]);
});

test("completes names and shows help", () => {
  assert.deepEqual(session.ask({complete: "x = roper.attention_"}),
    {names: ["roper.attention_weights"], start: 4, shown: [], messages: session.messages});
  assert.match(session.ask({inspect: "roper.tensor("}).text, /^roper\.tensor\(data, dtype\?\)/);
});

test("draws figures as SVG", () => {
  const figure =
    run("roper.plot.line{1, 4, 2, 8}").messages.find(({kind}) => kind === "display_data");
  assert.match(figure.data["image/svg+xml"], /<svg /);
});

test("starts no programs, and says so in one sentence", async () => {
  const needs = {
    "%edit": "editor",
    "!mpirun -n 2 ./roper train copy": "mpirun",
    "%ls": "ls",
    "io.popen 'ls'": "ls",
    "os.execute 'make all'": "make",
    "roper.plot.line({1, 2}, {file = 'a.png'})": "rsvg-convert",
    "roper.plot.line({1, 2}, {format = 'window'})": "xdg-open",
    "roper.sweep.run{what = 'copy', jobs = 2}": "2 jobs",
    "require('roper.system.process').run('spm_train', {}, {package = ''})": "spm_train",
  };
  for (const [code, what] of Object.entries(needs))
    assert.equal(run(code).error, `a page starts no programs; for ${what}, use roper on Linux`);
  assert.deepEqual(run("os.execute()").shown, ["false"]);
  const found = await start();
  for (const [words, what] of [[["sweep", "copy", "--jobs=3"], "3 jobs"],
         [["study", "--jobs=2"], "2 jobs"], [["kernel", "install"], "python3"]]) {
    found.printed = "";
    assert.equal(found.ask({run: words}).status, 1);
    assert.equal(
      found.printed, `roper: a page starts no programs; for ${what}, use roper on Linux\n`);
  }
});

test("the help lists what a page has", async () => {
  const found = await start();
  found.ask({execute: "?"});
  assert.match(found.printed, /^The value of a final expression/);
  assert.match(found.printed, /\n  %cd FOLDER .*\n  roper\.debug/);
  assert.match(found.printed, /keeps your variables\n$/);
  assert.doesNotMatch(found.printed, /%edit|\$ ls|Ctrl-D/);
});

// An engine whose pauses call `rest` without suspending; in a browser, the worker waits there.
async function interruptible(suspends) {
  let rests = 0;
  const found = await start({
    suspends,
    rest: () => {
      if (++rests === 2) found.engine.interrupt();
    }
  });
  found.ask({banner: true});
  return {
    ...found,
    async work(code) {
      rests = 0;
      found.messages.length = 0;
      return reply(found, await found.engine.work({execute: code}, 20));
    }
  };
}

for (const [how, suspends] of [["by suspending", true], ["by a hook that yields", false]]) {
  const found = await interruptible(suspends);

  test(`stops Lua code ${how}`, async () => {
    assert.equal((await found.work("while true do end")).error, "interrupted");
    assert.equal((await found.work("coroutine.wrap(function() while true do end end)()")).error,
      "interrupted");
    assert.deepEqual((await found.work("1 + 1")).shown, ["2"]);
  });

  test(`goes on after a pause ${how}`, async () => {
    const code = "s = 0 f = coroutine.wrap(function() for i = 1, 1e6 do s = s + 1 end " +
      "coroutine.yield(s) return 7 end) return f(), f()";
    const found = await start({suspends});
    assert.equal(await found.engine.work({execute: code}, 1), 0);
    assert.deepEqual(reply(found, 0).shown, ["1000000\t7"]);
  });
}

test("stops a kernel and a C function that calls Lua by suspending", async () => {
  const found = await interruptible(true);
  assert.equal(
    (await found.work("a = roper.randn{2000, 2000} for _ = 1, 100 do _ = a:matmul(a) end")).error,
    "interrupted");
  assert.equal((await found.work("table.sort({3, 2, 1}, function() while true do end end)")).error,
    "interrupted");
});

test("stops code that catches the error, at the second interrupt", async () => {
  const found = await start({suspends: true, rest: () => found.engine.interrupt()});
  found.ask({banner: true});
  assert.equal(await found.engine.work(
                 {execute: "while true do pcall(function() while true do end end) end"}, 5),
    0);
  assert.equal(reply(found, 0).error, "interrupted");
});

test("refuses sizes beyond 32 bits without a trap", async () => {
  for (const code
         of ["roper.zeros{1 << 33}", "roper.zeros{1 << 30}", "roper.randn{1 << 20, 1 << 14}",
           "roper.zeros({1 << 29, 2}, 'int32')", "roper.arange(1 << 32)", "roper.eye(1 << 17)",
           "roper.zeros{1, 1}:expand(1 << 20, 1 << 20):exp()",
           "roper.zeros{1, 1}:expand(1 << 20, 1 << 20):softmax()",
           "x = roper.zeros{1, 1}:expand(1 << 16, 1 << 16) return x:matmul(x)",
           "q = roper.zeros{1,1,1,1}:expand(1, 1, 1 << 20, 1 << 14) " +
             "return roper.attention(q, q, q, {causal = true, position = 'roper'})",
           "roper.tasks.copy{length = 65, letters = 10, seed = 1}:batch(1 << 30)",
           "roper.nn.Transformer{vocabulary = 1 << 30, d_model = 64, heads = 4}",
           "roper.nn.Linear(1 << 20, 1 << 20)", "string.rep('x', 1 << 31)"]) {
    const {error} = run(code);
    assert.match(error ?? "no error", /out of memory|too large|too many|expected|length/, code);
  }
});

test("reports a lack of memory, and uses memory again", async () => {
  const found = await start();
  const all = "s = ('x'):rep(1 << 20) local list = {} for i = 1, 8 do list[i] = s:rep(512) end";
  assert.match(found.ask({execute: all}).error, /not enough memory/);
  assert.deepEqual(found.ask({execute: "1 + 1"}).shown, ["2"]);
  const tensors = "list = {} for i = 1, 200 do list[i] = roper.zeros{1 << 23} end";
  assert.match(found.ask({execute: tensors}).error, /^zeros: out of memory/);
  assert.equal(found.ask({execute: "list = nil collectgarbage()"}).error, undefined);
  assert.match(found.ask({execute: tensors}).error, /^zeros: out of memory/);
});

test("passes files and messages in memory above 2 GB", async () => {
  const found = await start();
  const {error, shown} = found.ask({
    execute: `
    list = {} for i = 1, 5 do list[i] = roper.zeros{1 << 27} end
    text = ("x"):rep(1 << 24)
    io.open(text, "w"):write(text):close();
    require("host").send(('{"data": {"text/plain": "%s"}}'):format(text))
    return io.open(text):read "a" == text, list[5][1 << 27]:item()`
  });
  assert.ok(found.files.list("/home")[0] === "x".repeat(1 << 24));
  assert.equal(error, undefined);
  assert.deepEqual(
    shown.map((text) => text.length > 99 ? text.length : text), [1 << 24, "true\t0.0"]);
});

test("checks all lessons", async () => {
  const found = await start();
  assert.equal(found.ask({run: ["lesson", "--check"]}).status, 0);
  assert.ok(found.printed.match(/^ok/gm).length > 400);
  assert.doesNotMatch(found.printed, /^not ok/m);
});

test("runs commands on files in memory", async () => {
  const found = await start();
  assert.equal(
    found.ask({run: ["train", "--help"]}).status, 0); // the parser of arguments calls os.exit
  assert.equal(found.ask({run: ["train", "--unknown"]}).status, 2);
  assert.match(found.ask({execute: "os.exit()"}).error, /a page has no program/);
  assert.equal(found.ask({run: ["train", "copy", "preset=smoke"]}).status, 0);
  assert.ok(found.files.list("/home").includes("runs/copy-roper-1/metrics.jsonl"));
});

test("runs the trials of a sweep one after another, with progress, and reports them", async () => {
  const found = await start();
  const {status, messages} =
    found.ask({run: ["sweep", "addition", "preset=smoke", "position=rope,roper", "steps=2"]});
  assert.equal(status, 0);
  assert.match(found.printed, /2 trials, 0 finished; 1 at a time/);
  assert.match(found.printed, /2 of 2 runs finished/);
  assert.ok(messages.some(({kind, lines}) => kind === "progress" && /of 2/.test(lines.at(-1))));
  found.printed = "";
  assert.equal(found.ask({run: ["report", "runs/addition"]}).status, 0);
  assert.match(found.printed,
    /Differences between runs of the same seed[^]*Report: runs\/addition\/report\.html/);
  assert.match(new TextDecoder().decode(found.files.get("/home/runs/addition/report.html")),
    /<svg [^]*<\/html>/);
});

test("runs a study, trial after trial", async () => {
  const found = await start();
  assert.equal(found.ask({run: ["study", "copy", "preset=smoke", "steps=2", "--seeds=2"]}).status,
    0, found.printed);
  assert.match(found.printed, /4 trials, 0 finished; 1 at a time/);
  assert.match(found.printed, /4 of 4 runs finished/);
  assert.ok(found.files.list("/home").includes("runs/study/copy/report.html"));
});
