local comment_of = require("roper.workbench.help.comment")

local SOURCE = [[
--- A file about doubling.
--- Its second line.
local M = {}

---@class TwiceOptions: MoreOptions
---@field scale? number = 2; what to multiply by, at
---   least 1
---@field names table<string, "a b"|fun(x: number): string> by key

--- Twice the number. Not thrice; e.g. et al. 2021.
--- More of it.
---
---     y = 2 x
---
--- Errors: a string,
--- nil.
---
---     > twice(1)
---     2
---
---     > twice(2)
---     4
---@param x number [n, n]; the one
---@param options? TwiceOptions
---@return number y the double
---@return string[]
function M.twice(x,
    options)
end

-- No documentation.
local function hidden() end

--- A class.
---@class Thing
local Thing = {}

--- Of a thing.
function Thing:method(...) end
]]

describe("comment.parse", function()
  local list = comment_of.parse(SOURCE)

  local function named(name)
    for _, comment in ipairs(list) do
      if comment.name == name then
        return comment
      end
    end
  end

  it("reads the comment of a file, of functions and of classes", function()
    assert.equal(5, #list)
    assert.same({ "A file about doubling.", "Its second line." }, list[1].text)
    assert.same({ "x", "options" }, named("M.twice").arguments)
    assert.same({ "..." }, named("Thing:method").arguments)
    assert.equal("Thing", named("Thing").class)
    assert.equal("MoreOptions", named("TwiceOptions").parent)
    assert.is_nil(named("hidden"))
  end)

  it("finds the line of the documented function", function()
    local line = 1
    for text in SOURCE:gmatch("([^\n]*)\n") do
      if text:find("^function M.twice") then
        assert.equal(line, named("M.twice").line)
        return
      end
      line = line + 1
    end
    error("the source lost its function")
  end)

  it("separates types, defaults and descriptions", function()
    local twice = named("M.twice")
    assert.same({ { name = "x", type = "number", optional = false, text = "[n, n]; the one" },
      { name = "options", type = "TwiceOptions", optional = true, text = "" } },
      twice.parameters)
    assert.same({ { name = "y", type = "number", optional = false, text = "the double" },
      { name = "", type = "string[]", optional = false, text = "" } }, twice.results)
    assert.same({ { name = "scale", type = "number", optional = true, default = "2",
      text = "what to multiply by, at least 1" },
      { name = "names", type = 'table<string, "a b"|fun(x: number): string>', optional = false,
        text = "by key" } }, named("TwiceOptions").fields)
  end)

  it("separates prose, formulas, errors and examples", function()
    assert.same({
      { kind = "prose",
        lines = { "Twice the number. Not thrice; e.g. et al. 2021. More of it." } },
      { kind = "formula", lines = { "y = 2 x" } },
      { kind = "errors", lines = { "a string, nil." } },
      { kind = "example", lines = { "> twice(1)", "2", "", "> twice(2)", "4" } },
    }, comment_of.blocks(named("M.twice")))
  end)

  it("summarizes a comment by its first sentence", function()
    assert.equal("Twice the number.", comment_of.summary(named("M.twice")))
    assert.equal("As in Su et al. 2021, eq. 3.",
      comment_of.summary({ text = { "As in Su et al. 2021,", "eq. 3." } }))
  end)

  it("reads malformed comments without an error", function()
    for _, text in ipairs({ "", "---", "---@", "---@param", "---@field x", "---@return",
      "---@class", "---@param x", "---\n\n---@param x fun(\nfunction f(", "\0--- \255\n" }) do
      comment_of.parse(text)
    end
  end)
end)
