local options = require("roper.options.rows")
local roper = require("roper")

describe("options.check", function()
  local known = {
    count = "size",
    offset = "integer?",
    rate = { "number", 0.5 },
    dropout = { "probability", 0 },
    name = "string?",
    norm = { { "pre", "post" }, "pre" },
    value = { "any", "none" },
    causal = { "boolean", true },
    task = "task?",
  }

  local function check(given)
    return options.check("f", given, known)
  end

  it("fills in defaults, and leaves the given table unchanged", function()
    local given = { count = 3, causal = false }
    assert.same({ count = 3, rate = 0.5, dropout = 0, norm = "pre", value = "none",
                  causal = false }, check(given))
    assert.same({ count = 3, causal = false }, given)
  end)

  it("accepts every kind", function()
    local given = { count = 1, offset = -2, rate = 3, dropout = 0.99, name = "", norm = "post",
      value = {}, causal = true, task = roper.tasks.addition() }
    assert.same(given, check(given))
  end)

  it("rejects values of another kind, and names option, kind and value", function()
    for _, case in ipairs({
      { "count", "a positive integer", { 0, -1, 1.5, 1.0, "3", {}, true, 0 / 0 } },
      { "offset", "an integer", { 1.5, 2.0, "x", true } },
      { "rate", "a finite number", { "1", 0 / 0, math.huge, -math.huge, {} } },
      { "dropout", "a number of at least 0 and below 1", { -0.1, 1, "0", 0 / 0 } },
      { "name", "a string", { 1, true } },
      { "norm", "one of pre, post", { "both", 1, false } },
      { "causal", "true or false", { 0, "true" } },
      { "task", "a task", { 5, "addition", {}, roper.zeros({ 2 }) } },
    }) do
      local name, expected, wrong = table.unpack(case)
      for _, value in ipairs(wrong) do
        local given = { count = 1, [name] = value }
        assert.has_error(function() check(given) end,
          ("f: option %s: expected %s, got %s"):format(name, expected,
            type(value) == "string" and '"' .. value .. '"' or type(value) == "table" and "a table"
            or type(value) == "userdata" and "a tensor"
            or value ~= value and "nan" or tostring(value)))
      end
    end
  end)

  it("suggests the nearest of several choices", function()
    assert.has_error(function() check({ count = 1, norm = "pro" }) end,
      'f: option norm: expected one of pre, post, got "pro"; did you mean "pre"?')
    local arguments = require("roper.options.arguments")
    assert.has_error(function() arguments.check("g", "x", { "a" }, "A") end,
      'g: x: expected one of a, got "A"; did you mean "a"?')
  end)

  it("rejects missing options", function()
    local message = "f: option count: expected a positive integer, got nil"
    assert.has_error(function() check({}) end, message)
    assert.has_error(function() check() end, message)
    assert.has_error(function() options.check("f", {}, { x = "any" }) end,
                     "f: option x: expected a value, got nil")
  end)

  it("rejects unknown names, and suggests the nearest", function()
    local all = " takes causal, count, dropout, name, norm, offset, rate, task, value"
    assert.has_error(function() check({ count = 1, nam = "x" }) end,
                     'f: unknown option nam; did you mean "name"? It' .. all)
    assert.has_error(function() check({ count = 1, 5 }) end, "f: unknown option 1; it" .. all)
    assert.has_error(function() check({ count = 1, [true] = 5 }) end,
                     "f: unknown option true; it" .. all)
  end)

  it("rejects other values than tables", function()
    assert.has_error(function() check("x") end, "f: expected a table of options, got string")
    assert.has_error(function() check(5) end, "f: expected a table of options, got number")
  end)

  it("reports the position of the caller", function()
    local function f(given)
      local o = options.check("f", given, known)
      return o
    end
    local line
    local _, message = pcall(function()
      line = debug.getinfo(1, "l").currentline + 1
      f({ count = 0 })
    end)
    assert.truthy(message:find(("rows_spec.lua:%d: f: option count"):format(line), 1, true))
  end)
end)

describe("options.define", function()
  options.define("SpecBaseOptions", {
    { "size", "size", nil, "required" },
    { "share", "share", 0.5 },
  })
  local rows = options.define("SpecOptions", {
    parent = "SpecBaseOptions",
    { "share", "share", 1e-5, "another default" },
    { "mode", { "fast", "slow" }, "fast" },
    { "rest", "any?", nil, "anything", type = "string|Scheme" },
    { "limit", "size", 4, "at most" },
  })

  it("gives rows to check by, the parent's too", function()
    assert.same({ size = 2, share = 1e-5, mode = "fast", limit = 4 },
      options.check("f", { size = 2 }, rows))
    assert.has_error(function() options.check("f", { size = 2, mod = "fast" }, rows) end,
      'f: unknown option mod; did you mean "mode"? It takes limit, mode, rest, share, size')
    assert.has_error(function() options.check("f", {}, rows) end,
      "f: option size: expected a positive integer, got nil")
    assert.equal(rows, options.rows("SpecOptions"))
    assert.error_matches(function() options.rows("NoOptions") end, "NoOptions is not defined")
  end)

  it("takes the options of a class out of others, and fills in defaults", function()
    assert.same({ size = 3, share = 1 },
      options.pick("SpecBaseOptions", { size = 2, mode = "slow", share = 1 }, { size = 3 }))
    assert.same({ share = 0.5, mode = "slow" },
      options.completed("SpecBaseOptions", { mode = "slow" }))
  end)

  it("documents the rows", function()
    local text = options.comments()
    assert.truthy(text:find([[
---@class SpecOptions: SpecBaseOptions
---@field share? number = 1e-5; another default
---@field mode? "fast"|"slow" = "fast"
---@field rest? string|Scheme anything
---@field limit? integer = 4; at most
]], 1, true), text)
    assert.truthy(text:find("---@field size integer required\n---@field share? number = 0.5\n", 1,
      true))
  end)
end)
