local roper = require("roper")
local live = require("roper.workbench.lesson.live")

describe("the answers to the cells of a page", function()
  local globals

  before_each(function()
    globals = setmetatable({ roper = roper, x = 3 }, { __index = _G })
  end)

  it("check claims with the variables of the session, and keep none of theirs", function()
    assert.same({ holds = true, value = "3" }, live.answer(globals, { claim = "x == 3" }))
    assert.same({ holds = false, value = "3" }, live.answer(globals, { claim = "x > 4" }))
    globals.set = assert(load("x = 9 return x", "set", "t", globals))
    assert.same({ holds = true, value = "9" }, live.answer(globals, { claim = "set() == 9" }))
    assert.equal(3, globals.x)
    assert.truthy(live.answer(globals, { claim = "absent.field == 1" }).error:find("absent"))
  end)

  it("draw figures", function()
    local source = "y = {1, x, 2} return plot.line(y, {format = format})"
    local svg = live.answer(globals, { figure = source }).svg
    assert.truthy(svg:find("<svg ", 1, true))
    globals.x = 7
    assert.are_not.equal(svg, live.answer(globals, { figure = source }).svg)
    assert.is_nil(rawget(globals, "y"))
    assert.truthy(live.answer(globals, { figure = "error 'no chart'" }).error:find("no chart"))
  end)

  it("give data to interactive figures", function()
    assert.same({ data = { 3, { 4 } } }, live.answer(globals, { data = "{x, {x + 1}}" }))
    assert.truthy(live.answer(globals, { data = "absent.field" }).error:find("absent"))
  end)

  it("judge lines of Lua, name the hint that fits, and keep variables of right ones", function()
    local function judge(line)
      return live.answer(globals, { line = { line = line, check = "it == x + 1 and y == 1",
        conditions = { "it == 0", "it == x" } } })
    end
    assert.same({ kind = "wrong", hint = 2, shown = "3" }, judge("3"))
    assert.equal("wrong", judge("5").kind)
    assert.is_nil(judge("5").hint)
    assert.equal("incomplete", judge("(").kind)
    assert.truthy(judge("x()").failure:find("attempt to call"))
    assert.is_nil(rawget(globals, "y"))
    assert.same({ kind = "right", shown = "4" }, judge("y = 1 return x + y"))
    assert.equal(1, globals.y)
  end)
end)
