// Tests of session.mjs and its worker, which run in a browser: see browser.test.mjs. Each takes the
// class Session and returns what it found.

async function open(Session, options) {
  const found = {states: [], failures: [], output: "", values: [], figures: [], progress: []};
  const session = new Session({
    ...options,
    onState: (state) => found.states.push(state),
    onFailure: (reason) => found.failures.push(reason)
  });
  const handlers = {
    output: (text) => found.output += text,
    value: ({text}) => found.values.push(text),
    figure: ({svg}) => found.figures.push(svg),
    progress: (lines) => found.progress.push(lines)
  };
  Object.assign(found, await session.ready);
  return {
    session,
    found,
    run: (code) => session.run(code, handlers),
    command: (words) => session.command(words, handlers)
  };
}

// Interrupts running code when it has begun, and returns its reply and how long that took.
async function stopped({session}, code) {
  let begin;
  const {error} = await session.run(`print 'begun' ${code}`, {
    output() {
      begin = performance.now();
      session.interrupt();
    }
  });
  return {error, milliseconds: performance.now() - begin};
}

export const tests = {
  async values(Session) {
    const begin = performance.now();
    const {session, found, run} = await open(Session), ready = performance.now() - begin;
    const {error} = await run("print 'hello' return roper.tensor{{1, 2}}:sum()");
    const first = performance.now() - begin;
    const wrong = await run("roper.tensor{1}:summ()");
    await run("roper.plot.line{1, 4, 2}");
    const {names, start} = await session.complete("x = roper.attention_");
    const {text} = await session.inspect("roper.zeros");
    session.restart();
    return {
      ready,
      first,
      error,
      wrong: wrong.error,
      output: found.output,
      values: found.values,
      names,
      start,
      help: text.split("\n")[0],
      figure: found.figures[0].includes("<svg"),
      states: found.states.slice(0, 4)
    };
  },

  async interrupts(Session) {
    const opened = await open(Session), {found} = opened;
    await opened.run("x = 5");
    const loop = await stopped(opened, "while true do end");
    const sorting = found.suspends
      && await stopped(opened, "table.sort({3, 2, 1}, function() while true do end end)");
    const kernel = found.suspends
      && await stopped(
        opened, "a = roper.randn{3000, 3000} for _ = 1, 1000 do _ = a:matmul(a) end");
    await opened.run("return x");
    return {suspends: found.suspends, loop, sorting, kernel, values: found.values};
  },

  async hook(Session) {
    const opened = await open(Session, {suspends: false});
    return {loop: await stopped(opened, "coroutine.wrap(function() while true do end end)()")};
  },

  async files(Session) {
    const {session, found, run} = await open(Session);
    await session.files.write("data/text.txt", new TextEncoder().encode("banana"));
    await run("f = io.open 'data/text.txt' return f:read 'a'");
    await run("io.open('new.txt', 'w'):write('made'):close();");
    const list = await session.files.list();
    const made = new TextDecoder().decode(await session.files.read("new.txt"));
    await session.files.remove("new.txt");
    const missing = await session.files.read("new.txt").catch((error) => error.message);
    await run("y = 1");
    await session.reset();
    await run("return rawget(_G, 'y') == nil, io.open('data/text.txt'):read 'a'");
    return {values: found.values, list, made, missing};
  },

  async death(Session) {
    const {session, found, run} = await open(Session);
    await session.files.write("kept.txt", new TextEncoder().encode("kept"));
    const {error} = await run("require('host').send 'no message'");
    await run("return io.open('kept.txt'):read 'a'");
    return {error, failures: found.failures, values: found.values};
  },

  async training(Session) {
    const {session, found, command} = await open(Session);
    const {status, error} = await command(["train", "copy", "preset=smoke"]);
    const config = await session.files.read("runs/copy-roper-1/config.json");
    const {processor, commit} = JSON.parse(new TextDecoder().decode(config)).provenance[0];
    const list = await session.files.list();
    return {status, error, list, progress: found.progress.length, processor, commit};
  },
};
