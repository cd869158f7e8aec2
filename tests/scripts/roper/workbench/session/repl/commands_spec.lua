local roper = require("roper")
local scratch = require("tests.scratch")
local session = require("roper.workbench.session.repl.session")
local stdout = require("tests.stdout")

describe("commands of a session", function()
  setup(scratch.create)
  teardown(scratch.remove)

  local globals, current

  before_each(function()
    globals = setmetatable({}, { __index = _G })
    current = session.new(globals)
  end)

  -- The output of a complete text.
  local function printed(text)
    local output, errors, rest = stdout.capture_both(current.feed, current, text)
    assert.is_nil(rest)
    return output .. errors
  end

  it("lists globals", function()
    assert.equal("", printed("who"))
    globals.t, globals.longer = { 1, 2, a = 3 }, "text"
    assert.equal('name    type    value\nlonger  string  "text"\nt       table   3 entries\n',
      printed("who"))
    globals.x, globals.weights = roper.zeros({ 2, 3 }), roper.zeros({ 100, 100 }, "float64")
    assert.equal(table.concat({
      "name     type    value               bytes",
      'longer   string  "text"',
      "t        table   3 entries",
      "weights  tensor  float64 [100, 100]  80000",
      "x        tensor  float32 [2, 3]         24",
      "" }, "\n"), printed("who"))
    globals.rope, globals.weights = roper.position.rope({ dim = 4 }), nil
    globals.layer = roper.nn.Linear({ inputs = 2, outputs = 3 })
    local shown = printed("who")
    assert.truthy(shown:find("\nlayer   Linear  Linear: 9 parameters in bias [3]", 1, true), shown)
    assert.truthy(shown:find("\nrope    rotary  rotary{dim = 4, ", 1, true), shown)
    globals.x = ("é"):rep(500)
    assert.equal(80, utf8.len(printed("who"):match("([^\n]*)\n$")))
    globals.x, globals["a\27[2J"] = nil, 1
    assert.matches('\na\\x1B[2J  number  1\n', printed("who()"), 1, true)
    globals.who = 5
    assert.equal("5\n", printed("who"))
    globals.who = nil
    assert.equal("6\n", printed("who = 6\nwho"))
  end)

  it("lists its commands within 80 columns", function()
    local text = printed("?")
    assert.equal(text, printed("??"))
    assert.equal(text, printed("?who"))
    assert.equal(text, printed("? %time"))
    globals.help = roper.help
    assert.equal(text, printed("help"))
    assert.matches("^roper.help%(what%?%)", printed("?help"))
    assert.matches("^roper\n\nroper: a workbench", printed("help()"))
    for line in text:gmatch("[^\n]+") do
      assert.is_true(#line <= 80, line)
    end
  end)

  it("accepts IPython's names for commands", function()
    local here = require("luv").cwd()
    printed("x = 1")
    assert.matches(" run", printed("%timeit x"))
    assert.equal(printed("who"), printed("%who"))
    assert.equal(here .. "\n", printed("%pwd"))
    assert.equal(printed("%hist"), printed("%history"))
    local path = scratch.write("only", "")
    assert.equal("", (printed("%ls " .. path .. " >" .. scratch.path("seen"))))
    assert.equal(path .. "\n", scratch.read(scratch.path("seen")))
  end)

  it("prints the help of a name before a question mark", function()
    globals.roper = roper
    assert.equal(printed("?roper.eye"), printed("roper.eye?"))
    assert.equal(printed("??roper.eye"), printed("roper.eye ??"))
    assert.equal(printed("?"), printed("%time?"))
    assert.equal(printed("?"), printed("who?"))
  end)

  it("accepts every command on the list", function()
    local uv = require("luv")
    local before = uv.cwd()
    finally(function()
      uv.chdir(before)
      roper.debug(false)
      uv.os_unsetenv("EDITOR")
    end)
    globals.roper, globals.apropos = roper, roper.apropos
    globals.f, globals.x = function(x) return x end, 1
    local script, saved = scratch.write("listed.lua", "made = 5"), scratch.path("listed_saved.lua")
    local keys = { Tab = true, ["Ctrl-R"] = true, ["Ctrl-C"] = true, ["Ctrl-D or exit"] = true }
    uv.os_setenv("EDITOR", "true")
    printed("do local function g() error('listed') end g() end")
    local stands_for = { ["%run FILE"] = "%run " .. script, ["%save FILE"] = "%save " .. saved,
      ["%cd FOLDER"] = "%cd " .. scratch.path(""), ["$ ls or !ls"] = "!ls >/dev/null",
      ["%up, %down"] = "%up" }
    local shown = {}
    for line in printed("?"):gmatch("  ([^\n]+)\n") do
      local example = line:match("^(.-)  ")
      if not keys[example] then
        local text = printed(stands_for[example] or example)
        assert(text:find("^error") == nil, ("%s gives %s"):format(example, text))
        shown[#shown + 1] = example
      end
    end
    assert.same({ "?roper.randn", "??roper.randn", 'apropos "mask"', "?pytorch", "who",
      "%time f(x)", "%bench f(x)", "%prof f(x)", "%run FILE", "%save FILE", "%hist", "%edit",
      "%debug", "%up, %down", "%cd FOLDER", "$ ls or !ls", "roper.debug(true)" }, shown)
    assert.equal(5, globals.made)
  end)

  it("times code", function()
    assert.truthy(printed("%time 6 * 7"):find("^42\n%d[%d.]* %S*s\n$"))
    assert.equal("error: boom\n", printed("%time error('boom')"))
  end)

  it("benchmarks code", function()
    globals.runs = 0
    local text = printed("%bench runs = runs + 1")
    local all, samples, runs = text:match(
      "^[%d.]+ %S+, half of the samples from [%d.]+ %S+ to [%d.]+ %S+ (%((%d+) of (%d+) runs%))\n$")
    assert.is_truthy(all, text)
    assert.is_true(tonumber(samples) >= 5 and globals.runs > samples * runs)
    assert.equal("error: boom\n", printed("%bench error('boom')"))
    assert.equal("error: unexpected symbol near '='\n", printed("%bench x = = 1"))
  end)

  it("profiles functions, even if the code raises an error", function()
    globals.roper = roper
    local text = printed("%prof roper.eye(3):sum()")
    assert.matches("^function +calls +own +total\n", text)
    assert.matches("\n%S*sum[ inC]* +1 +[%d.]+ %S+ +[%d.]+ %S+\n", text)
    for line in text:gmatch("[^\n]+") do
      assert.is_true(utf8.len(line) <= 80, line)
    end
    text = printed("%prof roper.eye(3) error('boom')")
    assert.matches("\n%S*eye[ inC]* +1 ", text)
    assert.matches("error: boom\n$", text)
    assert.equal("error: unexpected symbol near '='\n", printed("%prof x = = 1"))
    assert.is_nil(debug.gethook())
  end)

  it("runs scripts with its globals", function()
    local path = scratch.write("a script.lua", "made = (made or 0) + 1\nreturn 5\n")
    assert.equal("", printed("%run " .. path))
    assert.equal("", printed(('%%run "%s"'):format(path)))
    assert.equal(2, globals.made)
    assert.truthy(printed("%run none.lua"):find("^error: .*none.lua"))
    assert.equal("error: %run: expected a path\n", printed("%run"))
  end)

  it("saves successful input as a script that repeats it", function()
    printed("a = 6 * 7\na + 1\na:never()\na -- comment\n2 * a;\nmath.max(a, 1)\nerror('no')")
    printed("b = 1 x = = 2")
    printed("b = { -- more\n  a,\n}")
    printed("%time a = a + 1")
    printed("a -- comment")
    local path = scratch.path("saved.lua")
    assert.equal("8 lines\n", printed("%save " .. path))
    assert.equal("a = 6 * 7\nprint(a + 1)\nb = { -- more\n  a,\n}\na = a + 1\n"
      .. "print(a -- comment\n)\n", scratch.read(path))
    assert.equal(("error: %%save: %s exists; choose another name\n"):format(path),
      printed("%save " .. path))
    globals.print = function() end
    printed("%run " .. path)
    assert.equal(43, globals.a)
  end)

  it("does not save over a path that it cannot read", function()
    local path = scratch.path("loop.lua")
    assert(require("luv").fs_symlink(path, path))
    assert.truthy(printed("%save " .. path):find("error: cannot read " .. path, 1, true))
    assert.equal(path, require("luv").fs_readlink(path))
  end)

  it("saves returned values as print statements", function()
    printed("local z = 3\nz * 2")
    printed("a = 'return'; a")
    printed("do return end\nreturn 5")
    printed("return")
    printed("a = 7; a, 2;")
    assert.equal("local z = 3\nprint(z * 2)\na = 'return'; print(a)\ndo return end\nprint(5)\n"
      .. "a = 7; _ = a, 2\n", current:script())
    assert.truthy(load(current:script()))
  end)

  it("lists the input, with the numbers used in error messages", function()
    assert.equal("", printed("%hist"))
    printed("x = 1\nfunction f()\n\terror('\27')\nend\n%time f()")
    assert.equal("  1  x = 1\n  2  function f()\n     \\terror('\\x1B')\n     end\n  3  f()\n",
      printed("%hist"))
    assert.matches("input 2:2 in f: .*input 4:1: f%(%)", printed("f()\nx = 1"))
  end)

  -- The output of %edit with this command as the editor.
  local function after_edit(command, text)
    local uv = require("luv")
    uv.os_setenv("EDITOR", command)
    local ok, result = pcall(printed, text)
    uv.os_unsetenv("EDITOR")
    assert(ok, result)
    return result
  end

  it("edits the last input, an input by its number, and the definition of a function", function()
    printed("function f(x)\n  return x * 6\nend")
    assert.equal("42\n", printed("f(7)"))
    assert.equal("f(8)\n48\n", after_edit("sed -i s/7/8/", "%edit"))
    assert.equal("f(9)\n54\n", after_edit("sed -i s/8/9/", "%edit"))
    assert.equal("f(5)\n30\n", after_edit("sed -i s/7/5/", "%edit 2"))
    assert.equal("function f(x)\n  return x * 5\nend\n",
      after_edit("sed -i 's/6/5/; s/$/\\r/'", "%edit f"))
    assert.equal("35\n", printed("f(7)"))
    assert.equal("function f(x)\n  return x * 4\nend\n", after_edit("sed -i s/6/4/", "%edit 1"))
    assert.equal("28\n", printed("f(7)"))
  end)

  it("runs nothing if the editor fails, is missing, or changes nothing", function()
    assert.equal("nothing was run\n", after_edit("true", "%edit"))
    printed("x = 1")
    assert.equal("nothing was run\n", after_edit("true", "%edit"))
    assert.equal("nothing was run\n", after_edit("rm", "%edit"))
    assert.equal("error: %edit: false: exit status 1; nothing was run\n",
      after_edit("false", "%edit"))
    assert.equal("error: %edit: kill -2 $$; :: ended by signal 2; nothing was run\n",
      after_edit("kill -2 $$; :", "%edit"))
    for _, what in ipairs({ "print", "2", "nothing", "-1", "x" }) do
      assert.equal("error: %edit: expected the number of an input, or a function defined in "
        .. "this session; got " .. what .. "\n", after_edit("true", "%edit " .. what))
    end
    local uv = require("luv")
    local path = os.getenv("PATH")
    finally(function() uv.os_setenv("PATH", path) end)
    uv.os_setenv("PATH", scratch.path(""))
    assert.matches("^error: %%edit: no editor found %(editor, vi, nano%);",
      after_edit("", "%edit"))
    scratch.write("vi", "#!/bin/sh\necho 'y = 6' >\"$1\"\n")
    assert(uv.fs_chmod(scratch.path("vi"), 493))
    assert.equal("y = 6\n", after_edit("", "%edit"))
    uv.os_setenv("PATH", path)
    assert.equal("6\n", printed("y"))
  end)

  it("reports an error in edited input, which can be edited again", function()
    printed("x = 1")
    assert.matches("^x =\nerror: unexpected symbol near <eof>\n",
      after_edit("sed -i s/1//", "%edit"))
    assert.equal("x =2\n", after_edit("sed -i s/$/2/", "%edit"))
    assert.equal(2, globals.x)
  end)

  it("shows the variables at the last error and in its callers", function()
    assert.equal("error: %debug: there was no error in your code\n", printed("%debug"))
    printed("function f(x, y)\n  local z = x\n  error('boom')\nend")
    globals.t = roper.zeros({ 2 })
    printed("do\n  local a = 5\n  f(t)\nend")
    local frames = { "input 1:3 in f: error('boom')\n", "input 2:3: f(t)\n" }
    local variables = "name  type    value        bytes\nx     tensor  float32 [2]      8\n"
      .. "y     nil     nil\nz     tensor  float32 [2]      8\n"
    assert.equal("boom\n→ " .. frames[1] .. "  " .. frames[2] .. variables, printed("%debug"))
    assert.equal("true\n", printed("_.x == t"))
    assert.equal("  " .. frames[1] .. "→ " .. frames[2] .. "name  type    value\na     number  5\n",
      printed("%up"))
    assert.equal("error: there is no frame above this one\n", printed("%up"))
    printed("x = = 1")
    assert.equal("→ " .. frames[1] .. "  " .. frames[2] .. variables, printed("%down"))
    assert.equal("error: there is no frame below this one\n", printed("%down"))
    printed("error('again')")
    assert.equal("again\n→ input 5:1: error('again')\nno local variables\n", printed("%debug"))
  end)

  it("shortens huge variables to a line, and shows as many frames as an error report", function()
    printed("function f(n)\n  local s, t = ('é'):rep(1e7), {}\n  for i = 1, 1e5 do t[i] = t end\n"
      .. "  if n == 0 then error(t) end\n  f(n - 1)\nend")
    printed("function g(n)\n  if n > 0 then g(n - 1) else f(0) end\n  return 1\nend")
    printed("g(20)")
    local text = printed("%debug")
    assert.matches("\nt     table   100000 entries\n$", text)
    for line in text:gmatch("[^\n]+") do
      assert.is_true(utf8.len(line) <= 80, line)
    end
    for _ = 1, 7 do
      printed("%up")
    end
    assert.equal("error: there is no frame above this one\n", printed("%up"))
  end)

  it("keeps no variables of an error for lack of memory", function()
    printed("error('boom')")
    printed("error('out of memory: asked for 5 bytes')")
    assert.equal("error: %debug: there was no error in your code\n", printed("%debug"))
  end)

  it("changes the folder", function()
    local uv = require("luv")
    local before, home = uv.cwd(), os.getenv("HOME") or ""
    finally(function()
      uv.chdir(before)
      uv.os_setenv("HOME", home)
    end)
    assert.equal(uv.fs_realpath(scratch.path("")) .. "\n", printed("%cd " .. scratch.path("")))
    assert.truthy(printed("%cd none"):find("^error: %%cd: ENOENT"))
    local odd = scratch.path("50%off")
    uv.fs_mkdir(odd, 493)
    uv.os_setenv("HOME", odd)
    assert.equal(uv.fs_realpath(odd) .. "\n", printed("%cd ~"))
  end)

  it("runs shell commands, and reports how they failed", function()
    assert.equal("", printed("$ exit 0"))
    assert.equal("exit status 3\n", printed("$exit 3"))
    assert.equal("exit status 3\n", printed(" !exit 3"))
    assert.equal("ended by signal 9\n", printed("$ kill -9 $$"))
  end)

  it("rejects unknown commands", function()
    assert.equal('error: unknown command %tim; did you mean "time"?\n', printed("%tim x"))
    assert.equal("error: unknown command %\n", printed("%"))
  end)

  it("ends with exit", function()
    printed("exit = nil")
    assert.is_false(current.is_over)
    printed("exit()")
    assert.is_true(current.is_over)
    current.is_over = false
    printed("exit")
    assert.is_true(current.is_over)
  end)
end)
