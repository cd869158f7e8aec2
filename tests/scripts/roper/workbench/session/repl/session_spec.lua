local roper = require("roper")
local scratch = require("tests.scratch")
local session = require("roper.workbench.session.repl.session")
local stdout = require("tests.stdout")

describe("session", function()
  setup(scratch.create)
  teardown(scratch.remove)

  local globals, current

  before_each(function()
    globals = setmetatable({}, { __index = _G })
    current = session.new(globals)
  end)

  -- The incomplete rest of a text.
  local function feed(text)
    return (select(3, stdout.capture_both(current.feed, current, text)))
  end

  -- The output of a complete text.
  local function printed(text)
    local output, errors, rest = stdout.capture_both(current.feed, current, text)
    assert.is_nil(rest)
    return output .. errors
  end

  it("prints the values of expressions", function()
    assert.equal("2\n", printed("1 + 1"))
    assert.equal('1\t"a"\n', printed('1, "a"'))
    assert.equal("nil\n", printed("nil"))
    assert.equal("", printed("x = 5"))
    assert.equal("", printed("(function() end)()"))
    assert.equal("3\n", printed("return 3"))
  end)

  it("prints the values of an expression after statements on the same line", function()
    assert.equal("2\n", printed("x = 1; x + 1"))
    assert.equal("'a;b'\t{1, 2}\n", (printed("x = 1; y = 2; 'a;b', { 1; 2 }"):gsub('"', "'")))
    assert.equal("", printed("x = 5; x;"))
    assert.equal("5\n", printed("_"))
    assert.equal("x = 6; y =", feed("x = 6; y ="))
    assert.equal("for i = 1, 2 do x = i; x", feed("for i = 1, 2 do x = i; x"))
    assert.equal("5\n", printed("x"))
    assert.equal("error: attempt to index a nil value (field 'z')\n", printed("x = {}; x.z.z"))
  end)

  it("prints the values of a final call, and calls it once", function()
    printed("n = 0 function f(x) n = n + 1 return x end")
    assert.equal("5\n", printed("x = 5; math.max(x, 2)"))
    assert.equal("5\n", printed("x = 5 math.max(x, 2) -- of both"))
    assert.equal("", printed("x = 5; math.max(x, 2);"))
    assert.equal("2\n", printed("f(1) f(2)"))
    assert.equal("3\n", printed("y = 1; (f)(3)"))
    assert.equal("", printed("y = f -- f(1)"))
    assert.equal("", printed("do f(1) end"))
    assert.equal("2\n", printed("goto past f(1) ::past:: f(2)"))
    assert.equal("error: boom\n", printed("y = 1; error('boom')"))
    assert.equal("3\n", printed("n = 0 f(1) f(2) f(3) return n"))
  end)

  it("prints a hint for a method that is named but not called", function()
    globals.roper = roper
    printed("x = roper.ones { 2 }")
    assert.matches("^function .*; %?x:mean explains it\n$", printed("x:mean"))
    assert.matches("^function .*; x%.mean is a method: call x:mean%(%)\n$", printed("x.mean"))
    assert.equal('error: a tensor has no field "meen"; did you mean "mean"?\n', printed("x:meen"))
    assert.equal("x:mean(", feed("x:mean("))
    assert.equal("1 (float32)\n", printed("x:mean\n()"))
  end)

  it("keeps the locals of a pasted block until its end, even after an expression", function()
    printed("n = 0 function f() n = n + 1 return n end")
    assert.equal("6\n1\n9\n", printed("local z = 3\nz * 2 -- twice\nf()\nf();\nw = z * z\nw"))
    assert.equal("9\t2\t1\n", printed("_, n, _2"))
    assert.equal("error: attempt to perform arithmetic on a nil value\n→ input 4:3: z * nil\n",
      printed("local z = 3\nz + 1;\nz * nil"):gsub(" %(.-%)\n", "\n"))
    local rest = feed("local z = 3\nz * 2\nfor i = 1, 2 do")
    assert.equal("6\n", printed(rest .. "\nend"))
    assert.equal("3\n", printed("local z = math.max\n(3)\nz"))
    local script = current:script()
    local saved = "local z = 3\nprint(z * 2 -- twice\n)\nf()\nf()\nw = z * z\n"
    assert.truthy(script:find(saved, 1, true), script)
  end)

  it("prints a hint for locals that no other input can use", function()
    local hint = "hint: a local variable lasts for one input only; omit \"local\" to keep %s\n"
    for source, names in pairs({ ["local x = 5"] = "x", ["local a, b <const> = 1, 2"] = "a, b",
      ["local function g() end"] = "g", ["local y"] = "y" }) do
      assert.equal(hint:format(names), printed(source))
    end
    assert.equal("5\n", printed("local x = 5; x"))
    assert.equal("", printed("local x = 5 z = x"))
    assert.equal("5\n", printed("local x = 5\nx"))
  end)

  it("keeps the last non-nil value in _", function()
    printed("6 * 7")
    assert.equal("43\n", printed("_ + 1"))
    printed("nil")
    assert.equal("43\n", printed("_"))
    printed("x = 1")
    assert.equal("43\n", printed("_"))
  end)

  it("keeps the two values before it in _1 and _2", function()
    printed("1\n2\n3")
    assert.equal("3\t2\t1\n", printed("_, _1, _2"))
    assert.equal("3\t3\t2\n", printed("_, _1, _2"))
    printed("nil")
    assert.equal("3\t3\t3\n", printed("_, _1, _2"))
    assert.equal("", printed("who"))
  end)

  it("prints no value after a semicolon", function()
    assert.equal("", printed("1 + 1;"))
    assert.equal("2\n", printed("_"))
    assert.equal("", printed("1 + 1 ; "))
  end)

  it("waits for the rest of incomplete input", function()
    assert.equal("function f(x)", feed("function f(x)"))
    assert.equal("function f(x)\n  return x", feed("function f(x)\n  return x"))
    assert.is_nil(feed("function f(x)\n  return x\nend"))
    assert.equal("9\n", printed("f(9)"))
  end)

  it("runs pasted lines as if they were typed", function()
    assert.equal("1\n3\n", printed("a = 1\na\n\nb = a + 2\nb\n"))
    assert.equal("1\n2\n", printed("for i = 1, 2 do\n  io.stdout:write(i, '\\n')\nend"))
    assert.equal("5\n3\n", printed("f = function() return 5 end\nf()\n(function() return 3 end)()"))
  end)

  it("runs pasted lines as one block if they depend on each other", function()
    assert.equal("6\n", printed("local z = 3\nz * 2"))
    assert.equal("6\n", printed("local z = 3\nlocal y = z + z\ny"))
    assert.equal('"ABC"\n', printed("s = ('abc')\n  :upper()\ns"))
    assert.equal("7\n", printed("t = 3\n  + 4\nt"))
    assert.equal("7\n", printed("t = 3\n\n  + 4\n\nt"))
    assert.equal("true\n", printed("t = false\n  or true\nt"))
    assert.equal('"x"\n', printed("if true then\n  t = 'x'\nend\nt"))
  end)

  it("runs text copied from a session, without its prompts and output", function()
    assert.equal("42\n7\n", printed("> x = 6\n> function f(n)\n>> return n * x\n>> end\n> f(7)\n"
      .. "42\n> roper = {\n  y = 7,\n}\n> roper.y\nfloat32 [2, 2]\n1 0\n>"))
    assert.equal("1\n", printed("  > z = (\r\n  >> 1)\r\n  > z\r\n  x = =\r\n"))
    assert.equal("exit status 3\n", printed("> $ exit 3\nx = ="))
    assert.equal("function f(n)", feed("> function f(n)"))
    assert.equal("function f(n)\nreturn n", feed("function f(n)\n>> return n"))
    assert.equal("2\n", printed("(8\n>> 2)"))
    assert.equal("error: unexpected symbol near '>'\n", printed(">x"))
  end)

  it("waits for the rest of a pasted block", function()
    assert.equal("for i = 1, 2 do", feed("x = 4\nfor i = 1, 2 do"))
    assert.equal(4, globals.x)
    assert.equal("local y = 4\nfor i = 1, 2 do", feed("local y = 4\nfor i = 1, 2 do"))
  end)

  it("stops a pasted block at the first error", function()
    assert.equal("error: boom\n→ input 2:1: error('boom')\n",
      printed("a = 1\nerror('boom')\na = 2"))
    assert.equal(1, globals.a)
    assert.equal("error: unexpected symbol near '='\n→ input 4:1: b = = 4\n",
      printed("a = 3\nb = = 4\na = 5"))
    assert.equal(3, globals.a)
  end)

  it("reports errors with the line if the input has several", function()
    assert.equal("error: boom\n", printed("error('boom')"))
    assert.equal("error: boom\n→ input 2:2: error('boom')\n",
      printed("do\n  error('boom')\nend"))
    assert.equal("error: foo\n→ input 3:1 in f: function f() error('foo') end\n"
      .. "  input 4:1: f() x = 1\n",
      printed("function f() error('foo') end") .. printed("f() x = 1"))
    assert.equal("error: bar\n  input 5:1 in g: function g() error('bar', 2) end\n"
      .. "→ input 6:2: g()\n",
      printed("function g() error('bar', 2) end") .. printed("do\n  g()\n  x = 1 end"))
    assert.equal("error: unexpected symbol near '='\n→ input 8:1: y = = 2\n",
      printed("local y = 1\ny = = 2"))
  end)

  it("suggests names of fields and methods of the object", function()
    finally(function() _G.mine = nil end)
    local held = setmetatable({ abc = print, roper = roper }, { __index = { cosh = print } })
    _G.mine = held
    assert.matches("field 'abs'%); did you mean \"abc\"%?\n$", printed("mine.abs()"))
    assert.matches("method 'cos'%); did you mean \"cosh\"%?\n$", printed("mine:cos()"))
    assert.matches("field 'zzz'%)\n$", printed("mine.zzz()"))
    assert.matches('did you mean "line"%?\n$', printed("mine.roper.plot.lin()"))
    assert.matches('did you mean "abs"%?\n', printed("local t = {} t.abss()"))
    setmetatable(held, { __names = error })
    assert.matches("field 'xyz'%)\n$", printed("mine.xyz()"))
  end)

  it("rejects undefined variables", function()
    finally(function() _G.my_weights, _G.roper = nil, nil end)
    _G.my_weights, _G.roper = roper.zeros({ 2 }), roper
    local unset = 'error: undefined variable "%s"%s\n'
    local near = unset:format("my_wieghts", '; did you mean "my_weights"?')
    for _, text in ipairs({ "my_wieghts", "my_wieghts == nil and nil", "roper.sum(my_wieghts)",
      "roper.attention(1, 2, 3, {causal = my_wieghts})", "if my_wieghts then end" }) do
      assert.equal(near, printed(text))
    end
    assert.equal(unset:format("my_other", ""), printed("my_other"))
    local missing = "error: bad argument #1 to 'sum' (tensor expected, got nil)\n"
    for _, text in ipairs({ "roper.sum(nil)", "roper.sum(math.my_wieghts)",
      "roper.sum(nil, 'my_wieghts') -- my_wieghts", "do local my_wieghts roper.sum(my_wieghts) end",
      "roper.sum(nil, { my_wieghts = 1 })" }) do
      assert.equal(missing, printed(text))
    end
  end)

  it("treats a variable as defined after any assignment, even of nil", function()
    assert.equal("nil\n", printed("found = nil; found"))
    assert.equal("nil\n", printed("found = 5; found = nil; found"))
    assert.equal("true\n", printed("rawget(_G, 'my_other') == nil"))
    assert.equal("", printed("function f() later = 1 end; f(); later = nil"))
    assert.equal("nil\n", printed("later"))
  end)

  it("lets files test whether a global exists, except for True, False and None", function()
    local path = scratch.write("idiom.lua", "if unset_flag then error('set') end\n"
      .. "found = unset_flag or 7")
    assert.equal("7\n", printed(("dofile(%q); found"):format(path)))
    path = scratch.write("habit.lua", "return {causal = True}")
    assert.matches('habit.lua:1: undefined variable "True"\n',
      printed(("%%run %s"):format(path)))
  end)

  it("formats tables and shapes in print as at the prompt", function()
    globals.roper = roper
    assert.equal("{1, {a = 2}}\tx\tnil\t{2, 3}\n",
      printed("print({1, {a = 2}}, 'x', nil, roper.zeros(2, 3):shape())"))
    assert.equal("shape {2, 3}\n", printed("print('shape ' .. roper.zeros(2, 3):shape())"))
    globals.mine = setmetatable({}, { __tostring = function() return "mine" end })
    assert.equal("mine\n", printed("print(mine)"))
    assert.equal("\n", printed("print()"))
  end)

  it("suggests options and choices, no matter which function checks them", function()
    finally(function() _G.roper = nil end)
    _G.roper = roper
    for text, nearest in pairs({
      ["roper.attention(x, x, x, {causl = true})"] = "causal",
      ["roper.position.rope{dmi = 4}"] = "dim",
      ["roper.position.rope{dim = 4, pairing = 'hlf'}"] = "half",
      ["roper.matmul_precision 'bfloat'"] = "bfloat16",
      ["roper.tasks.addition{max_digit = 3}"] = "max_digits",
      ["roper.randn{1, dtpye = 'float32'}"] = "dtype",
      ["x:to 'flaot64'"] = "float64",
      ["roper.nn.Transformer{vocabulary = 3, norm = 'pro'}"] = "pre",
      ["roper.optim.Adam{rat = 3}"] = "rate",
    }) do
      globals.x = roper.zeros({ 1, 1, 2, 4 })
      local hints = {}
      for hint in printed(text):gmatch('; did you mean "([%w_]+)"%?') do
        hints[#hints + 1] = hint
      end
      assert.same({ nearest }, hints)
    end
    assert.falsy(printed("x:to 'complex'"):find("did you mean"))
  end)

  it("reports the line of an error in a script", function()
    local path = scratch.write("wrong.lua", "x = 1\n  local y = z.w -- here\n")
    assert.equal(("error: %s:2: attempt to index a nil value (global 'z')\n"):format(path),
      printed("%run " .. path))
    assert.equal(("error: %s:2: attempt to index a nil value (global 'z')\n"
      .. "→ %s:2: local y = z.w -- here\n  input 1:1: dofile('%s') y = 1\n"):format(path, path,
      path), printed(("dofile('%s') y = 1"):format(path)))
  end)

  it("prints full tracebacks after roper.debug(true)", function()
    finally(function() require("roper").debug(false) end)
    assert.equal("true\n", printed("require 'roper'.debug(true)"))
    local text = printed("error('boom')")
    assert.truthy(text:find("^error: input 2:1: boom\nstack traceback:\n.*\n%s+%[C%]: in "))
    assert.truthy(text:find("scripts/roper/workbench/session/repl/session.lua:%d+: in "))
    assert.equal("false\n", printed("require 'roper'.debug(false)"))
    assert.equal("error: boom\n", printed("error('boom')"))
    assert.equal("error: debug: expected true or false, got number\n",
      printed("require 'roper'.debug(1)"))
  end)

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

  it("survives values that cannot be printed", function()
    globals.bad = setmetatable({}, { __tostring = function() error("bad tostring", 0) end })
    assert.truthy(printed("bad"):find("bad tostring"))
    globals.strange = setmetatable({}, { __tostring = function() return {} end })
    assert.truthy(printed("strange"):find("error: .*tostring"))
    assert.equal("1\n", printed("1"))
  end)
end)
