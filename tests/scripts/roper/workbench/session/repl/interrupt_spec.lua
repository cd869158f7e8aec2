local core = require("roper.core")
local scratch = require("tests.scratch")
local session = require("roper.workbench.session.repl.session")
local sessions = require("tests.sessions")
local uv = require("luv")

local start, leave = sessions.start, sessions.leave
local begin, enter, give_up = sessions.begin, sessions.enter, sessions.give_up

describe("Ctrl-C in the session", function()
  setup(scratch.create)
  teardown(scratch.remove)

  it("discards the typed line", function()
    local screen = start()
    screen:type("error('never run')")
    screen:expect("error('never run')")
    give_up(screen)
    begin(screen, "f(")
    give_up(screen)
    enter(screen, "1 + 1", "2\n")
    leave(screen)
  end)

  -- With a terminal that discards pending input, one of some hundred attempts failed.
  it("discards keys that are still being read", function()
    local screen = start()
    for _ = 1, 150 do
      begin(screen, "f(")
      screen:type("x")
      screen:type("y")
      give_up(screen)
    end
    enter(screen, "1 + 1", "2\n")
    leave(screen)
  end)

  -- Types keys, waits for what they show, presses Ctrl-C, and checks that the session still works.
  local function survives(screen, keys, shown)
    screen:type(keys)
    local before = screen:expect(shown)
    screen:type("\3")
    screen:expect("\n> ")
    enter(screen, "1 + 1", "2\n")
    return before
  end

  it("ends every state of readline", function()
    local screen = start()
    enter(screen, "first = 1", "")
    survives(screen, "\18fir", "irst = 1") -- Ctrl-R
    survives(screen, "\27pfir", ":fir") -- a search that waits for Enter
    survives(screen, "abc\27" .. "12", "(arg: ") -- a number of repetitions
    survives(screen, "abc\24(", "abc") -- the definition of a macro
    survives(screen, "abc\1\29", "abc") -- a search for a letter in the line
    survives(screen, "abc\24", "abc") -- the first key of two
    survives(screen, "\27[A", "1 + 1") -- the last line
    leave(screen)
  end)

  it("ends every state of readline in vi mode", function()
    local environment = sessions.newcomer { INPUTRC = scratch.path "vi.inputrc" }
    scratch.write("vi.inputrc", "set editing-mode vi\n")
    local screen = start(environment)
    for _, keys in ipairs { "", "r", "f", "d", "c", "m", "R", "@", "3" } do
      survives(screen, "abc\27" .. keys, "abc")
    end
    enter(screen, "first = 1", "")
    survives(screen, "\27/fir", "/fir")
    leave(screen)
  end)

  it("ends no search that readline never ends: of a word in invalid UTF-8 in vi mode", function()
    scratch.write("vi.inputrc", "set editing-mode vi\n")
    local screen = start(sessions.newcomer {
      INPUTRC = scratch.path "vi.inputrc", LC_ALL = "C.UTF-8" })
    for _, bytes in ipairs { "\xFE\xA8", "\xC3", "\xCE\0", "\xED\xA0\x80", "\xF4\x90\x80\x80" } do
      for _, move in ipairs { "W", "E" } do
        survives(screen, "abc" .. bytes .. "\0270" .. move .. "i#", "#")
      end
    end
    screen:type("'é€𝄞'\0270Wcc")
    enter(screen, "#'é€𝄞'", "9\n")
    leave(screen)
  end)

  it("ends a list of completions, which is shown without a question", function()
    scratch.write("paging.inputrc", "set page-completions on\nset completion-query-items 5\n")
    for _, settings in ipairs { "/dev/null", scratch.path "paging.inputrc" } do
      local screen = start(sessions.newcomer { INPUTRC = settings })
      assert.truthy(survives(screen, "roper.\t\t", "\n> roper."):find "zeros_like")
      assert.truthy(survives(screen, "roper.\27?", "\n> roper."):find "zeros_like")
      survives(screen, "io.open('/usr/bin/\t\t", "\n> io.open('/usr/bin/")
      assert.falsy(screen.process.output:find "%-%-More%-%-")
      assert.falsy(screen.process.output:find "possibilities")
      leave(screen)
    end
  end)

  it("ends a paste without its end sequence", function()
    local screen = start()
    survives(screen, "abc\27[200~x = 5\ny =", "abc")
    leave(screen)
  end)

  it("does not affect the next command if pressed at an empty prompt", function()
    local screen = start()
    screen:type("\3")
    screen:expect("^C\nCtrl-D or exit leaves.\n> ")
    enter(screen, "x = 0 for i = 1, 1000 do x = x + i end", "")
    enter(screen, "roper.ones { 64, 64 }:matmul(roper.ones { 64, 64 }):sum() + x",
      "762644 (float32)\n")
    leave(screen)
  end)

  -- Runs code that prints `ready` and then never ends, and interrupts it.
  local function interrupts(screen, code)
    screen:type("io.stdout:write('re', 'ady\\n') " .. code .. "\r")
    screen:expect("ready\n")
    screen:type("\3")
    screen:expect("\ninterrupted\n> ")
  end

  it("ends a Lua loop, even in a coroutine", function()
    local screen = start()
    enter(screen, "kept = 5", "")
    interrupts(screen, "while true do end")
    enter(screen, "kept", "5\n")
    interrupts(screen, "repeat local f = function() end f() until false")
    interrupts(screen, "coroutine.wrap(function() while true do end end)()")
    enter(screen, "kept + 1", "6\n")
    leave(screen)
  end)

  it("ends kernels", function()
    local screen = start()
    enter(screen, "a = roper.ones { 4096, 4096 }", "")
    interrupts(screen, "while true do b = a:matmul(a) end")
    enter(screen, "a:sum()", "16777216 (float32)\n")
    leave(screen)
  end)

  it("ends code that catches the error and continues, if pressed again", function()
    local screen = start()
    screen:type("while true do pcall(function() print 'round' while true do end end) end\r")
    screen:expect("\nround\n")
    screen:type("\3")
    screen:expect("round\n")
    screen:type("\3")
    screen:expect("\ninterrupted\n> ")
    enter(screen, "1 + 1", "2\n")
    leave(screen)
  end)

  it("ends training and sampling, which can be continued", function()
    local screen = start()
    enter(screen, "task = roper.tasks.addition { max_digits = 2, length = 40, seed = 1 }", "")
    enter(screen, "size = { vocabulary = task:vocabulary(), d_model = 16, heads = 2 }", "")
    enter(screen, "model, adam = roper.nn.Transformer(size), roper.optim.Adam {}", "")
    enter(screen, "how = { model = model, task = task, optimizer = adam, batch = 4 }", "")
    enter(screen, "function go(n) how.steps = n return roper.train(how).step end", "")
    screen:type("go(1000000000)\r")
    screen:expect(" 3/1000000000 ")
    screen:type("\3")
    screen:expect("\ninterrupted\n> ")
    enter(screen, "steps = adam.count", "")
    enter(screen, "steps > 0", "true\n")
    screen:type("go(3)\r")
    screen:expect("\n3\n> ")
    enter(screen, "adam.count - steps", "3\n")
    enter(screen, ("how.run = '%s'"):format(scratch.path("kept")), "")
    screen:type("go(1000000000)\r")
    screen:expect(" 3/1000000000 ")
    screen:type("\3")
    screen:expect("/kept is saved at step ")
    screen:expect("; set resume = true to continue\n")
    screen:expect("\ninterrupted\n> ")
    enter(screen, "what = { task = task }", "")
    interrupts(screen, "while true do roper.generate(model, { task:question() }, what) end")
    enter(screen, "model:count() > 0", "true\n")
    leave(screen)
  end)

  it("ends a shell command, but not the session", function()
    local screen = start()
    screen:type("$ echo rea''dy; exec sleep 1000\r") -- dash forgets signals while it forks
    screen:expect("ready\n")
    screen:type("\3")
    screen:expect("\n> ")
    enter(screen, "1 + 1", "2\n")
    leave(screen)
  end)

  it("ends profiled code, and prints the times so far", function()
    local screen = start()
    screen:type("%prof (function() print 'on' while true do math.abs(1) end end)()\r")
    screen:expect("\non\n")
    screen:type("\3")
    screen:expect("interrupted\nfunction")
    screen:expect("\n> ")
    enter(screen, "debug.gethook() == nil", "true\n")
    leave(screen)
  end)

  -- A library that presses Ctrl-C once, when readline has read a line but not yet restored the
  -- earlier action of the signal.
  it("is not lost after the line was read", function()
    local library = scratch.path "late.so"
    scratch.write("late.c", [[
      #define _GNU_SOURCE
      #include <dlfcn.h>
      #include <signal.h>
      #include <stdlib.h>
      #include <unistd.h>
      int rl_clear_pending_input(void)
      {
        int (*next)(void) = dlsym(RTLD_NEXT, "rl_clear_pending_input");
        if (unlink(getenv("LATE")) == 0)
          kill(getpid(), SIGINT);
        return next();
      }]])
    assert(os.execute(("cc -shared -fPIC -o '%s' '%s' -ldl"):format(library,
      scratch.path "late.c")))
    local screen = start(sessions.newcomer { LD_PRELOAD = library, LATE = scratch.path "press" })
    scratch.write("press", "")
    enter(screen, "while true do end", "")
    enter(screen, "1 + 1", "2\n")
    leave(screen)
  end)

  -- Presses Ctrl-C at the given line of Lua code that runs while a session evaluates input. Returns
  -- nil if there were fewer lines; otherwise whether the Ctrl-C was reported, and is pending.
  local function press_at(line)
    local current, call, is_reported = session.new({}), core.interrupt_call, false
    function current.report(_, failure)
      is_reported = is_reported or failure.interrupted == true
    end
    local function count()
      debug.sethook(line > 0 and function()
        line = line - 1
        if line == 0 then
          debug.sethook()
          uv.kill(uv.os_getpid(), "sigint")
        end
      end or nil, "l")
    end
    function core.interrupt_call(action, ...) -- which removes the hook
      return (function(...)
        count()
        return ...
      end)(call(function(...)
        count()
        return action(...)
      end, ...))
    end
    count()
    current:feed "for i = 1, 3 do i = i + 1 end; done = true"
    debug.sethook()
    core.interrupt_call = call
    if line > 0 then
      return nil
    end
    return is_reported, core.interrupt_clear()
  end

  it("is not lost at any moment of an evaluation", function()
    core.interrupt_enable()
    finally(core.interrupt_disable)
    local line, reported, pending = 1, 0, 0
    local is_reported, is_pending = press_at(line)
    while is_reported ~= nil do
      assert.truthy(is_reported or is_pending, ("at line %d"):format(line))
      reported = reported + (is_reported and 1 or 0)
      pending = pending + (is_pending and 1 or 0)
      line = line + 1
      is_reported, is_pending = press_at(line)
    end
    assert.is_true(reported > 50)
    assert.is_true(pending > 0)
  end)
end)
