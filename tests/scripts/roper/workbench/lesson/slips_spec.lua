local questions = require("roper.workbench.lesson.question")
local slips = require("roper.workbench.lesson.slips")
local terminal = require("roper.text.document.terminal")

-- The usual wrong answers to a question, "answer: reply", in a scope with x = 2.
local function lines_of(given)
  given.question, given.answer = "Q?", "A."
  local found, otherwise = slips.of(questions.all("here", given)[1], { x = 2, math = math })
  local lines = {}
  for i, slip in ipairs(found) do
    lines[i] = ("%s: %s"):format(terminal.line(slip.answer), slip.reply)
  end
  return lines, otherwise
end

describe("usual wrong answers", function()
  it("to a choice are the other choices, with the reply that fits", function()
    local lines, otherwise = lines_of({ choices = { "one", "two", "three" }, expect = 2,
      hints = { { "it == 3", "Too many." }, "Think.", "More." } })
    assert.same({ "a) one: Think.", "c) three: Too many." }, lines)
    assert.same({ "Think.", "More." }, otherwise)
  end)

  it("to a number are those that conditions name, computed", function()
    local lines = lines_of({ expect = "1", hints = { { "it == 6", "Six." },
      { "it == -1 or it == 7", "Two." }, { "math.abs(it - math.cos(60)) < 0.01", "Radians." },
      { "it == x / 3", "A third." }, { "it > 100", "Large." }, { "it == 1 / y", "None." },
      "Think." } })
    assert.same({ "6: Six.", "-1, 7: Two.", "-0.952 (math.cos(60)): Radians.",
      "0.667 (x / 3): A third.", "if it > 100: Large.", "1 / y: None." }, lines)
  end)

  it("to a line are the wrong ways to fill its form that have a hint, by hint", function()
    local lines = lines_of({ check = "y == x", sample = "y = 2", form = { "y = ___",
      { "1", "2", "3", "4", "9" } }, hints = { { "y == 9", "Nine." }, { "y > 2", "Less." },
        { "y == nil", "Set it." }, "Think." } })
    assert.same({ "y = 3, y = 4: Less.", "y = 9: Nine." }, lines)
    assert.same({ "if y == nil: Set it." }, (lines_of({ check = "y == x", sample = "y = 2",
      hints = { { "y == nil", "Set it." }, "Think." } })))
  end)

  it("to an open question are none", function()
    assert.same({}, (lines_of({ hints = { "Think." } })))
  end)
end)
