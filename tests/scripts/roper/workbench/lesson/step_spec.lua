-- Claims of lessons: whether they hold, and the measured value that is shown.

require("roper")
local steps = require("roper.workbench.lesson.step")

-- The value that is shown of a claim about x, and whether the claim holds.
local function judged(text, x)
  local scope = steps.layer(steps.scope(), { x = x, both = x == x })
  local result = steps.judge({ text = text }, scope)
  return result.value, result.holds
end

describe("a claim shows its left side", function()
  it("with all digits before the decimal point", function()
    for _, case in ipairs { { 1045.0, "1045" }, { 1045, "1045" }, { -20000.0, "-20000" },
      { 0.0, "0" }, { 2.0 ^ 40, "1099511627776" }, { 1044.27, "1044" } } do
      assert.equal(case[2], (judged("x < 1e20", case[1])))
    end
  end)

  it("with three digits, if these are enough to see whether it holds", function()
    assert.equal("0.8", (judged("x < 1", 0.8)))
    assert.equal("8.88e-16", (judged("x < 1e-12", 8.8817841970012523e-16)))
    assert.equal("0.333", (judged("x > 0.3", 1 / 3)))
    assert.equal("1e+300", (judged("x > 0.3", 1e300)))
  end)

  it("with more digits, if three would suggest the opposite", function()
    assert.same({ "0.23996", true }, { judged("x < 0.24", 0.23996) })
    assert.same({ "0.24", false }, { judged("x < 0.24", 0.2401) })
    assert.same({ "1045.3", false }, { judged("x == 1045", 1045.26) })
    assert.same({ "0.100000001", false }, { judged("x == 0.1", 0.1 + 1e-9) })
  end)

  it("as it is, if it is not finite or no number", function()
    assert.same({ "inf", true }, { judged("x == math.huge", math.huge) })
    assert.same({ "inf", false }, { judged("x < 1", math.huge) })
    assert.same({ "true", true }, { judged("both", 1) })
    assert.matches("nan", (judged("x < 1", 0 / 0)))
  end)
end)
