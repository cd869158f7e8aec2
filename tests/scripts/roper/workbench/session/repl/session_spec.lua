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

  it("survives values that cannot be printed", function()
    globals.bad = setmetatable({}, { __tostring = function() error("bad tostring", 0) end })
    assert.truthy(printed("bad"):find("bad tostring"))
    globals.strange = setmetatable({}, { __tostring = function() return {} end })
    assert.truthy(printed("strange"):find("error: .*tostring"))
    assert.equal("1\n", printed("1"))
  end)
end)
