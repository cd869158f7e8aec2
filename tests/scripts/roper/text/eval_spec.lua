local eval = require("roper.text.eval")

describe("chunk.compile", function()
  local function kind(source)
    return (select(2, eval.compile(source, "input", _G)))
  end

  it("distinguishes expressions, statements, incomplete and invalid code", function()
    for source, expected in pairs({
      ["1 + 1"] = "expression", ["f(1);"] = "expression", ["1, 2"] = "expression",
      ["x = 1"] = "statement", ["return 1"] = "statement", ["local x"] = "statement",
      ["x = 1; x"] = "statement", ["x = 1; x;"] = "statement", ["x = 1; x ="] = "incomplete",
      ["1 +"] = "incomplete", ["f("] = "incomplete", ["{1,"] = "incomplete", ["if"] = "incomplete",
      ["for i = 1, 2 do"] = "incomplete", ["[[a"] = "incomplete", ["x = [==[\n]]"] = "incomplete",
      ["--[[ a"] = "incomplete", ["function f()\n  return 1"] = "incomplete",
      ["x ="] = "incomplete", ["'a\\"] = "incomplete",
      ["x = = 1"] = "wrong", ["foo bar"] = "wrong", ['"abc'] = "wrong", ["end"] = "wrong",
      ["f(1,,2)"] = "wrong", ["\27Lua"] = "wrong",
    }) do
      assert.equal(expected, kind(source), source)
    end
  end)

  it("treats comments and spaces as an expression without values", function()
    for _, source in ipairs({ "", "  \n", "-- comment" }) do
      assert.equal("expression", kind(source))
      assert.equal(0, select("#", eval.compile(source, "input", _G)()))
    end
  end)

  it("returns the values of a call at the end of statements", function()
    local function f(x) return x end
    local function value(source)
      return (eval.compile(source, "input", { f = f, t = { f = f } }, true)())
    end
    for _, source in ipairs({ "x = 1 f(2)", "f(1) f(2)", "x = 1; (f)(2)", "x = f -- f(1)\nt.f(2)",
      "x = 'f(1)' t:f() t.f(2);", "for i = 1, 2 do f(i) end f(2)", "x = [[ f(1)\n]] f(2)" }) do
      assert.equal(2, value(source), source)
    end
    for _, source in ipairs({ "x = f(2)", "x = f (2)", "x = f\n(2)", "do f(2) end", "x = 1 -- f(2)",
      "x = [[\n]] --[[ f(2) ]]", "x = function() f(2) end", "local f <const> = f(2)",
      "if f(1) then f(2) end" }) do
      assert.is_nil(value(source), source)
    end
    assert.equal(3, value("do return f(3) end"))
    assert.is_nil((eval.compile("x = 1 f(2)", "input", { f = f })()))
  end)

  it("reports the position of a syntax error", function()
    local function blames(near, source)
      local _, _, message = eval.compile(source, "input", _G)
      assert.truthy(message:find("near '" .. near .. "'", 1, true), message)
    end
    blames("*", "1 + * 2")
    blames("=", "x = = 2")
    blames("bar", "foo bar")
    blames("do", "for i = 1 do end")
  end)

  it("uses the given globals", function()
    assert.equal(7, eval.compile("x", "input", { x = 7 })())
  end)
end)

describe("chunk.call", function()
  local function failure(source)
    local ok, result = eval.call(eval.compile(source, "input", _G))
    assert.is_false(ok)
    return result
  end

  it("passes arguments and results", function()
    assert.same({ true, 1, nil, 3, n = 4 },
      table.pack(eval.call(function(...) return ... end, 1, nil, 3)))
  end)

  it("reports the position in the user's code, not in the library", function()
    local message = failure("\nrequire('roper.model').Linear { inputs = -1 }").message
    assert.truthy(message:find("^input:2: [^/]*$"), message)
    message = failure("require('roper').zeros({ 2, 3 }):matmul(7)").message
    assert.truthy(message:find("^input:1: "), message)
  end)

  it("lists the frames of the user's code", function()
    local result = failure([[
      local function inner() error("deep") end
      function outer() inner() return 1 end
      outer()
      return 1]])
    assert.equal("input:1: deep", result.message)
    assert.equal("\n→ input:1 in inner\n  input:2 in outer\n  input:3", eval.trace(result))
    assert.equal("", eval.trace(failure("error('x')")))
  end)

  it("abbreviates the frames of a deep recursion", function()
    local result = failure("local function f() return 1 + f() end f()")
    assert.truthy(result.message:find("stack overflow"))
    assert.equal(9, #result.frames)
    assert.equal("…", result.frames[9].place)
  end)

  it("suggests a name for a misspelt global", function()
    assert.equal("input:1: attempt to call a nil value (global 'prnt'); did you mean \"print\"?",
      failure("prnt()").message)
  end)

  it("suggests a name for a misspelt field or method", function()
    local path = "require('roper')."
    assert.matches('did you mean "Transformer"%?$', failure(path .. "nn.Transfomer()").message)
    assert.matches('did you mean "upper"%?$', failure("('x'):uper()").message)
    assert.equal("input:1: attempt to call a nil value (method 'x')", failure("(''):x()").message)
  end)

  it("names the function that fails on its arguments", function()
    require("roper.workbench.help").name_in_failures()
    local odd = "setmetatable({}, {__len = function() return 3 end})"
    assert.equal("input:1: roper.statistics.quantile: failed on its arguments "
      .. "(roper.debug(true) shows where); ?roper.statistics.quantile shows what it takes",
      failure(("require('roper').statistics.quantile(%s, 0.5)"):format(odd)).message)
    assert.equal("input:1: attempt to index a nil value (global 'x')", failure("x.y = 1").message)
    assert.equal("input:1: attempt to index a nil value (global 'x')",
      failure("require('roper').no_grad(function() return x.y end)").message)
  end)

  it("leaves out the paths that require searched", function()
    assert.equal("input:1: module 'no.such' not found", failure("require 'no.such'").message)
  end)

  it("describes error objects", function()
    assert.equal("input:1: error object {code = 5}", failure("error { code = 5 }").message)
    assert.equal("input:1: error object nil", failure("error()").message)
    assert.equal("input:1: told", failure(
      "error(setmetatable({}, { __tostring = function() return 'told' end }))").message)
  end)

  it("distinguishes an interrupt from an error", function()
    assert.is_true(failure("error('interrupted', 0)").interrupted)
    assert.is_true(failure("error('interrupted')").interrupted)
    assert.is_false(failure("error('the study was interrupted')").interrupted)
  end)

  it("handles errors in error handlers", function()
    local result = failure(
      "error(setmetatable({}, { __tostring = function() error('again') end }))")
    assert.equal("string", type(result.message))
    assert.is_false(result.interrupted)
  end)
end)
