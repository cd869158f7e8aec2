local commands = require("roper.workbench.session.repl.commands")
local help = require("roper.workbench.help")
local process = require("tests.process")
local roper = require("roper")
local scratch = require("tests.scratch")
local stdout = require("tests.stdout")

-- The help about a name or a value.
local function page(what)
  return (stdout.capture(help.help, what))
end

-- The output of a session for a line such as "?x".
local function answer(line, globals)
  globals = globals or { roper = roper, plot = roper.plot }
  local action = assert(commands.find(line, globals), "no command: " .. line)
  return (stdout.capture(action, { globals = globals }))
end

local function assert_starts(expected, text)
  assert.equal(expected, text:sub(1, #expected))
end

describe("help", function()
  it("lays a function out", function()
    assert.equal([[
roper.softmax(x, axis?)

Also tensor:softmax(axis?)

Exponentials, normalized to sum to 1 along an axis. The maximum is subtracted
first, so large elements do not overflow.

  yᵢ = exp(xᵢ) / Σⱼ exp(xⱼ)

Arguments
  x     tensor of floats
  axis  integer = -1: 1-based, negative from the end

Result
  y  tensor of the shape of x

Errors: an int32 or scalar x; an axis that x does not have.

Example
  > roper.tensor{0, 1, -math.huge}:softmax()
  float32 [3]
  0.2689 0.7311 0.0000
]], page("roper.softmax"))
  end)

  it("lists the options of a table of them", function()
    local text = page(roper.optim.Adam)
    assert_starts("roper.optim.Adam(options?)\n", text)
    assert.truthy(text:find("\n  options     table, optional\n    rate      number = 0.001\n", 1,
      true))
  end)

  it("finds names with or without their prefix", function()
    for _, name in ipairs({ "roper.attention", "attention" }) do
      assert_starts("roper.attention(q, k, v, options?)\n", page(name))
    end
    for _, name in ipairs({ "tensor:view", "tensor.view", "view" }) do
      assert_starts("tensor:view(shape)\n", page(name))
    end
    assert_starts("roper.nn.Linear(options)\n", page("nn.Linear"))
    assert_starts("Linear:forward(x, activation?)\n", page("Linear:forward"))
    assert_starts("roper.optim.schedule.noam(d_model, warmup)\n", page("noam"))
  end)

  it("lists what a name may mean", function()
    assert_starts("parameters matches\n  Module:parameters ", page("parameters"))
    assert.truthy(page("parameters"):find("\n  Scheme:parameters ", 1, true))
  end)

  it("tells of values of every kind", function()
    local function undocumented(a, b, ...) return a, b, ... end
    assert_starts("roper.zeros(shape, dtype?)\n", page(roper.zeros))
    assert_starts("roper.nn\n\nThe parts of a transformer", page(roper.nn))
    assert_starts("roper\n\nroper: a workbench", page(nil))
    assert_starts("This is a tensor: float32 [2, 3]\n\ntensor\n\nAn array",
      page(roper.zeros({ 2, 3 })))
    assert_starts("This is a rotary: rotary{dim = 4,", page(roper.position.rope({ dim = 4 })))
    assert_starts("This is a task: addition{", page(roper.tasks.addition()))
    assert_starts("This is an Adam: {", page(roper.optim.Adam()))
    assert_starts("Linear:forward(x, activation?)\n",
      page(roper.nn.Linear({ inputs = 1, outputs = 1 }).forward))
    assert.equal("This is an integer: 1\n", page(1))
    assert.equal("This is a boolean: false\n", page(false))
    assert.equal("This is a table: {a = 1}\n", page({ a = 1 }))
    assert.equal("string.format is a standard function of Lua; see\n"
      .. "https://www.lua.org/manual/5.4/manual.html#pdf-string.format\n", page(string.format))
    assert.truthy(page(undocumented):find(
      "^function%(a, b, …%)\n\n"
      .. "A function in tests/scripts/roper/workbench/help_spec.lua:%d+, without"))
  end)

  it("tells of a function without a comment by its arguments", function()
    local catalogue = require("roper.workbench.help.catalogue")
    local entry = catalogue.entry("roper.stack")
    local comment = entry.comment
    entry.comment = nil
    for _, what in ipairs({ "roper.stack", roper.stack }) do
      assert.truthy(page(what):find(
        "%(list, axis%)\n\nA function in scripts/roper/tensor/create.lua:%d+, without"))
    end
    entry.comment = comment
  end)

  it("tells of a class of options", function()
    assert_starts("AdamOptions\n\nFields\n  rate      number = 0.001\n", page("AdamOptions"))
  end)

  it("suggests the nearest name", function()
    assert.has_error(function() help.help("roper.attenton") end,
      'unknown name roper.attenton; did you mean "roper.attention"?')
    assert.has_error(function() help.help("sofmax") end,
      'unknown name sofmax; did you mean "softmax"?')
  end)

  it("refuses what is no name, whatever it holds", function()
    for _, name in ipairs({ "", " ", "[[", "%d", "a.%", "x:y.z", "\0", "\255", "a b", "..",
      ":" }) do
      assert.has_error(function() help.help(name) end, "unknown name " .. name)
    end
    assert.has_error(function() help.help(("x"):rep(1e6)) end,
      "unknown name " .. ("x"):rep(60) .. "…")
  end)
end)

describe("apropos", function()
  it("lists names before texts, in any case", function()
    local text = stdout.capture(help.apropos, "ROTATE")
    assert_starts("by name (4)\n  roper.rotate ", text)
    assert.truthy(text:find("\nin the text %(%d+%)\n"))
    for line in text:gmatch("[^\n]+") do
      assert(utf8.len(line) <= 80, line)
    end
  end)

  it("lists functions with an option of that name before those that tell of it", function()
    local text = stdout.capture(help.apropos, "causal")
    local options = text:match("\nby name of an option %(%d+%)\n(.-)\nin the text %(%d+%)\n")
    assert.truthy(("\n" .. options):find("\n  roper.attention ", 1, true), text)
    assert.falsy(options:find("Positions:visible", 1, true))
  end)

  it("finds what is only said of arguments and options", function()
    assert.truthy(stdout.capture(help.apropos, "hides a key"):find("\n  roper.attention ", 1, true))
  end)

  it("rejects a word that occurs nowhere, and anything that is not a word", function()
    assert.error_matches(function() help.apropos("zzzz") end,
      "apropos: no documentation contains zzzz$")
    assert.error_matches(function() help.apropos(" ") end, 'expected a word, got " "$')
    assert.error_matches(function() help.apropos(1) end, "expected a word, got 1$")
  end)
end)

describe("questions in a session", function()
  setup(scratch.create)
  teardown(scratch.remove)

  it("are about the library, or what a variable holds", function()
    assert_starts("roper.randn(shape, dtype?)\n", answer("?roper.randn"))
    assert_starts("roper.randn(shape, dtype?)\n", answer("  ? roper.randn(   -- how?"))
    local globals = { f = roper.zeros, x = roper.zeros({ 2 }), roper = roper,
      model = roper.nn.Linear({ inputs = 1, outputs = 1 }) }
    assert_starts("roper.zeros(shape, dtype?)\n", answer("?f", globals))
    assert_starts("x is a tensor: float32 [2]\n", answer("?x", globals))
    assert_starts("tensor:view(shape)\n", answer("?x:view", globals))
    assert_starts("roper.sum(x, axis?, keep?)\n", answer("?x:sum", globals))
    assert_starts("Module:count()\n", answer("?model:count", globals))
    assert_starts("model is a Linear: Linear: 2 parameters in bias [1], weight [1, 1]\n",
                  answer("?model", globals))
  end)

  it("show Lua source", function()
    local text = answer("??roper.stack")
    assert.truthy(text:find(
      "^scripts/roper/tensor/create.lua:%d+\nfunction M.stack%(list, axis%)\n.*\nend\n$"))
    assert.truthy(answer("??Linear:forward"):find("\nfunction Linear:forward%(x, activation%)\n"))
  end)

  it("show C source", function()
    assert.truthy(answer("??roper.matmul"):find(
      "^bindings/operations.c:%d+\nstatic RpTensor %*matmul%(lua_State %*L%)\n{\n.*\n}\n$"))
    assert.truthy(answer("??sum"):find(
      '^bindings/reduce.c:%d+\n%s+{"sum", 3, reduce, RP_SUM},\n$'))
    assert.truthy(answer("??exp"):find(
      '^core/kernels/operation/unary.h:%d+\nFLOAT_UNARY%(EXP, "exp", y, REAL_EXP%(x%), y%)\n$'))
    assert.truthy(answer("??pow"):find(
      '^core/kernels/operation/binary.h:%d+\nFLOAT_BINARY%(POWER.-,\n.- : 0%)\n$'))
  end)

  it("say that there is no source", function()
    assert.has_error(function() answer("??print", _G) end, "print: no source is available")
    assert.has_error(function() answer("??parameters") end,
      "parameters is ambiguous; ?parameters lists the matches")
    assert.has_error(function() answer("??nothing_here") end, "unknown name nothing_here")
  end)

  it("tell where the user's own functions are, and show them", function()
    finally(function()
      _G.mine, _G.alias = nil, nil
      rawset(string, "mine", nil)
    end)
    local path = scratch.write("mine.lua", "x = 1\nfunction string.mine(s)\n  return s\nend\n")
    local current = require("roper.workbench.session.repl.session").new(_G)
    local function shown(line)
      return (stdout.capture(current.feed, current, line))
    end
    shown("function mine(a, b)\n  return a + b -- here\nend alias = rawlen")
    shown("%run " .. path)
    assert.equal("mine(a, b)\n\nA function in input 1:1, without a documentation comment.\n",
      shown("?mine"))
    assert.equal("input 1:1\nfunction mine(a, b)\n  return a + b -- here\nend alias = rawlen\n",
      shown("??mine"))
    assert.matches("^rawlen is a standard function of Lua;", shown("?alias"))
    assert.equal(("string.mine(s)\n\nA function in %s:2, without a documentation comment.\n")
      :format(path), shown("?string.mine"))
    assert.equal(path .. ":2\nfunction string.mine(s)\n  return s\nend\n",
      shown("??string.mine"))
  end)

  it("leave Lua alone", function()
    assert.is_nil(commands.find("x = 1 -- ?roper", {}))
    assert.is_nil(commands.find("print '?x'", {}))
  end)
end)

describe("help after make install", function()
  setup(scratch.create)
  teardown(scratch.remove)

  it("is there in a stock interpreter", function()
    local prefix = scratch.path("usr")
    local status, _, errors = process.run({ "/usr/bin/make", "install", "PREFIX=" .. prefix }, "",
      { MAKEFLAGS = false })
    assert.equal(0, status, errors)
    local code = ("package.path = '%s/share/lua/5.4/?.lua;%s/share/lua/5.4/?/init.lua'; "
      .. "package.cpath = '%s/lib/lua/5.4/?.so;' .. package.cpath; "
      .. "local roper = require 'roper'; roper.help 'matmul'; roper.help 'roper.eye'; "
      .. "require('roper.workbench.help').source('matmul', _G)"):format(prefix, prefix, prefix)
    local _, output, complaints = process.run({ "lua5.4", "-e", code }, "",
      { LUA_PATH = false, LUA_CPATH = false, LUA_PATH_5_4 = false, LUA_CPATH_5_4 = false })
    assert.equal("", complaints)
    assert_starts("roper.matmul(a, b)\n\nAlso tensor:matmul(b)\n", output)
    assert.truthy(output:find("\nroper.eye(n, dtype?)\n", 1, true))
    assert.truthy(output:find("\nbindings/operations.c:%d+ %(C, in the source tree%)\n$"))
  end)
end)
