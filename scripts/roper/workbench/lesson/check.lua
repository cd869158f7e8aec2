--- Checks of lessons, with output in the Test Anything Protocol (TAP).
local eval = require "roper.base.eval"
local escape = require "roper.base.escape"
local questions = require "roper.workbench.lesson.question"
local report = require "roper.identity.report"
local steps = require "roper.workbench.lesson.step"
local tables = require "roper.base.tables"

local M = {}

-- The list of outcomes that a function returns; if it fails, a list with the failed outcome `what`.
local function attempt(what, run, ...)
  local ok, result = eval.call(run, ...)
  if ok then
    return result
  elseif result.interrupted then
    error("interrupted", 0)
  end
  return { { what, false, result.message } }
end

-- The claims and the identity of a step as a list of {text, holds, message if it does not hold}.
local function claimed(step, scope)
  local list, result = {}, steps.run(step, scope)
  for _, claim in ipairs(result.claims) do
    list[#list + 1] = { claim.text, claim.holds, "measured: " .. claim.value }
  end
  local found = result.identity
  if found then
    list[#list + 1] = { report.equation(found.sides), found.is_small and found.exact.holds,
      tostring(found) }
    for _, wrong in ipairs(found.wrong) do
      list[#list + 1] = { "not " .. report.equation(wrong.sides), wrong.is_refuted,
        "not refuted" }
    end
  end
  return list
end

-- The outcomes of a figure: it is drawn as text and as SVG, and its claims hold. With its fault
-- planted, each claim must fail and the picture must change, so the claim is about the numbers that
-- are drawn.
local function drawn(figure, scope)
  local text = steps.draw(figure, scope, "text")
  local svg, variables = steps.draw(figure, scope, "svg")
  local list = { { "its figure is text and SVG", text ~= nil and svg ~= nil and text ~= svg,
    "draw returns no picture, or ignores the variable format" } }
  for _, claim in ipairs(figure.claims) do
    local judged = steps.judge(claim, variables)
    local other, others = steps.draw({ draw = steps.planted(figure.draw, claim.instead) }, scope,
      "svg")
    local is_checked = not steps.judge(claim, others).holds and other ~= svg
    list[#list + 1] = { claim.text, judged.holds and is_checked, not judged.holds
      and "measured: " .. judged.value or ("with %s instead of %s, %s"):format(claim.instead[2],
        claim.instead[1], other == svg and "the picture is the same" or "the claim still holds") }
  end
  return list
end

-- The outcome of a question: its expected answer is judged right, and no hint fits it. Hints of a
-- question for a line of Lua are not tested: they may also fit a right answer.
local function asked(question, scope)
  local what = "asks: " .. question.question:match "^%s*([^\n]*)"
  return attempt(what, function()
    local expected = questions.expected(question, scope)
    local line = question.kind == "choice" and questions.letter(expected) or question.sample
      or question.expect
    local inner = steps.layer(scope)
    local found = questions.judge(question, line, inner, expected)
    if found.kind ~= "right" then
      return { { what, false, ("expected the answer %s to be judged right, got %s%s"):format(line,
        found.kind, found.failure and ": " .. found.failure.message or "") } }
    end
    for _, hint in ipairs(question.kind ~= "line" and question.conditions or {}) do
      if steps.evaluate(hint[1], steps.layer(inner, { it = found.it })) == true then
        return { { what, false, ("the hint for %s also fits the right answer"):format(hint[1]) } }
      end
    end
    return { { what, true } }
  end)
end

local function outcomes(step, scope)
  local lists = { attempt("runs", claimed, step, scope) }
  if step.figure then
    lists[2] = attempt("is drawn", drawn, step.figure, scope)
  end
  for _, question in ipairs(questions.of(step)) do
    if question.kind ~= "open" then
      lists[#lists + 1] = asked(question, scope)
    end
  end
  return tables.joined(table.unpack(lists))
end

--- Checks lessons and prints a line for each claim, identity, figure and question.
---@return boolean holds whether all of them hold
function M.run(lessons)
  local count, failed = 0, 0
  for _, lesson in ipairs(lessons) do
    local scope = steps.scope()
    for number, step in ipairs(lesson.steps) do
      for _, outcome in ipairs(outcomes(step, scope)) do
        local text, holds, detail = table.unpack(outcome)
        count = count + 1
        io.stdout:write(("%s %d - %s %d: %s\n"):format(holds and "ok" or "not ok", count,
          lesson.name, number, (text:gsub("%s+", " "))))
        if not holds then
          failed = failed + 1
          io.stdout:write("# ", (escape.text(detail):gsub("\n", "\n# ")), "\n")
        end
      end
      io.stdout:flush()
    end
  end
  io.stdout:write(("1..%d\n"):format(count))
  if failed > 0 then
    io.stdout:write(("# %d of %d checks fail\n"):format(failed, count))
  end
  return failed == 0
end

return M
