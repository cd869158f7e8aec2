--- Checks of lessons, with output in the Test Anything Protocol (TAP).
local eval = require "roper.text.eval"
local escape = require "roper.base.escape"
local format = require "roper.text.format"
local forms = require "roper.workbench.lesson.form"
local identity = require "roper.identity"
local play = require "roper.workbench.lesson.play"
local questions = require "roper.workbench.lesson.question"
local report = require "roper.identity.report"
local steps = require "roper.workbench.lesson.step"
local suggest = require "roper.base.suggest"
local tables = require "roper.base.tables"

local M = {}

-- An outcome is {text, holds, message if it does not hold, where = the part of the lesson}.

-- The list of outcomes that a function returns; if it fails, a list with the failed outcome `what`.
local function attempt(what, where, run, ...)
  local ok, result = eval.call(run, ...)
  if ok then
    return result or {}
  elseif result.interrupted then
    error("interrupted", 0)
  end
  return { { what, false, result.message, where = where } }
end

-- A scope with the variables of another. Reading an undefined variable sets its field `missing` to
-- a message.
local function watched(scope)
  local watch = { methods = scope }
  function watch.__index(_, name)
    local value = scope[name]
    if value == nil then
      watch.missing = ("undefined variable %s%s"):format(name, suggest.hint(name,
        tables.keys(scope, (getmetatable(scope) or {}).__index)))
    end
    return value
  end
  return setmetatable({}, watch), watch
end

-- Why the `instead` of a claim proves nothing, nil if the claim fails with it.
local function unproven(claim, step, scope)
  local layer = steps.layer(scope)
  local ok, failure = eval.call(steps.hidden, layer, steps.prepare, step, layer,
    steps.planted(step.code, claim.instead))
  if not ok and failure.interrupted then
    error("interrupted", 0)
  end
  local problem = not ok and "the code fails: " .. failure.message
    or steps.judge(claim, layer).holds and "the claim still holds; plant a fault that it detects"
  return problem and ("with %s instead of %s, %s"):format(claim.instead[2], claim.instead[1],
    problem) or nil
end

-- The outcomes of a claim about code that was run. `spare` contains the variables before the step.
local function claimed(claim, step, scope, spare)
  local seen, watch = watched(scope)
  local judged = steps.judge(claim, seen)
  if not judged.holds then
    return { { claim.text, false, watch.missing or "measured: " .. judged.value,
      where = claim.where } }
  end
  local fault = claim.instead and unproven(claim, step, spare)
  return { { claim.text, not fault, fault, where = steps.name_of(claim, "instead") } }
end

-- The outcomes of an identity: it holds, and its wrong versions are refuted.
local function identified(step)
  local where = steps.name_of(step, "identity")
  local found = identity.identity(step.identity)
  local list = { { report.equation(found.sides), found.is_small and found.exact.holds,
    "does not hold:\n" .. tostring(found), where = where } }
  for _, wrong in ipairs(found.wrong) do
    list[#list + 1] = { "not " .. report.equation(wrong.sides), wrong.is_refuted,
      "not refuted", where = where }
  end
  return list
end

-- The outcomes of a figure: it is drawn as text and as SVG, and its claims hold. With its fault
-- planted, each claim must fail and the picture must change, so the claim is about the numbers that
-- are drawn.
local function drawn(figure, scope)
  local text = steps.draw(figure, scope, "text")
  local svg, variables = steps.draw(figure, scope, "svg")
  if figure.play then
    play.figure(figure.play, "", steps.data(figure, scope)) -- raises an error if it cannot be drawn
  end
  local list = { { "its figure is text and SVG", text ~= nil and svg ~= nil and text ~= svg,
    "draw returns no picture, or ignores the variable format", where = figure.where } }
  for _, claim in ipairs(figure.claims) do
    local judged = steps.judge(claim, variables)
    local other, others = steps.draw({ where = figure.where,
      draw = steps.planted(figure.draw, claim.instead) }, scope, "svg")
    local is_checked = not steps.judge(claim, others).holds and other ~= svg
    list[#list + 1] = { claim.text, judged.holds and is_checked, not judged.holds
      and "measured: " .. judged.value or ("with %s instead of %s, %s"):format(claim.instead[2],
        claim.instead[1], other == svg and "the picture is the same" or "the claim still holds"),
      where = claim.where }
  end
  return list
end

-- What a learner could type to give the expected answer.
local function line_of(question, expected)
  if question.kind == "number" then
    return math.abs(expected) < math.huge and ("%.17g"):format(expected)
      or expected > 0 and "1/0" or "-1/0"
  end
  return question.kind == "choice" and questions.letter(expected) or question.sample
end

local function title_of(question)
  return "asks: " .. question.question:match "^%s*([^\n]*)"
end

-- Why the form of a question is of no use; nil if a way to fill it is right and another is wrong.
local function unfit(question, seen, scope)
  local count = { right = 0, wrong = 0 }
  for i, verdict in ipairs(questions.of_form(question, seen, scope)) do
    if not count[verdict.kind] then
      return ("expected each way to fill it to be right or wrong, got %s: %s"):format(verdict.kind,
        forms.lines(question.form)[i])
    end
    count[verdict.kind] = count[verdict.kind] + 1
  end
  return (count.right == 0 or count.wrong == 0)
    and ("expected right and wrong ways to fill it, got %d and %d"):format(count.right,
      count.wrong) or nil
end

-- The outcome of a question: its expected answer is judged right, and no hint fits it. Hints of a
-- question for a line of Lua are not tested: they may also fit a right answer. `seen` contains the
-- variables that the answer can use.
local function asked(question, scope, seen)
  local what = title_of(question)
  local expected = questions.expected(question, scope)
  local line = line_of(question, expected)
  local layer = steps.layer(seen)
  local found = questions.judge(question, line, layer, expected, scope)
  if found.kind ~= "right" then
    return { { what, false, ("expected the answer %s to be judged right, got %s%s"):format(line,
      found.kind, found.failure and ": " .. found.failure.message or ""),
      where = steps.name_of(question, question.kind == "line" and "sample" or "expect") } }
  end
  for _, hint in ipairs(question.kind ~= "line" and question.conditions or {}) do
    local variables, watch = watched(scope)
    local fits = questions.fits(question, hint, found.it, variables)
    if fits or watch.missing then
      return { { what, false, watch.missing or ("the hint for %s also fits the right answer")
        :format(hint[1]), where = steps.name_of(question, hint.name) } }
    end
  end
  local problem = question.form and unfit(question, layer, scope)
  return { { what, not problem, problem or nil, where = steps.name_of(question, "form") } }
end

-- The variables of scopes as text, by name.
local function texts(...)
  local list = {}
  for name, value in pairs(tables.merged(...)) do
    list[name] = format.value(value)
  end
  return list
end

-- An outcome if the variables of a step do not have these texts any more.
local function changed(step, before, ...)
  local after = texts(...)
  for _, name in ipairs(tables.keys(before, after)) do
    if before[name] ~= after[name] then
      return { { "its code that is not shown leaves the variables unchanged", false,
        ("a claim, a figure or a question changes %s; let it change a copy"):format(name),
        where = step.where } }
    end
  end
end

-- The outcomes of a step. Sets the variables of its code in `scope` and in `spare`, which have
-- those of the steps before.
local function outcomes(step, scope, spare)
  local ahead = steps.layer(scope)
  local failed = attempt("runs", steps.name_of(step, "code"), function()
    steps.hidden(ahead, steps.prepare, step, ahead)
  end)
  if failed[1] then
    return failed
  end
  local before, lists = texts(scope, ahead), {}
  for _, claim in ipairs(step.claims) do
    lists[#lists + 1] = attempt(claim.text, claim.where, claimed, claim, step, ahead, spare)
  end
  lists[#lists + 1] = step.identity
    and attempt("runs", step.where, identified, step)
  lists[#lists + 1] = step.figure
    and attempt("is drawn", step.figure.where, drawn, step.figure, ahead)
  for _, question in ipairs(questions.of(step)) do
    local is_prediction = tables.set(step.predict or {})[question]
    lists[#lists + 1] = question.kind ~= "open" and attempt(title_of(question),
      question.where, asked, question, ahead, is_prediction and scope or ahead) or nil
  end
  lists[#lists + 1] = changed(step, before, scope, ahead)
  steps.keep(ahead)
  steps.prepare(step, spare)
  return tables.joined(table.unpack(lists))
end

-- The message of an outcome with the place of the part of the lesson. Messages of Lua that failed
-- begin with the part.
local function placed(lesson, outcome)
  local message, where = outcome[3], outcome.where or ""
  local is_placed = message:find "^step %d" or message:sub(1, #where) == where
  return steps.located(lesson.path, is_placed and message or where .. ": " .. message)
end

--- Checks lessons and prints a line for each claim, identity, figure and question.
---@param lessons table[] instead of a lesson that cannot be read, {name, fault: message}
---@return boolean holds whether all of them hold
function M.run(lessons)
  local count, failed = 0, 0
  local function write(lesson, number, outcome)
    local text, holds = table.unpack(outcome)
    count = count + 1
    io.stdout:write(("%s %d - %s%s: %s\n"):format(holds and "ok" or "not ok", count,
      lesson.name, number and " " .. number or "", (text:gsub("%s+", " "))))
    if not holds then
      failed = failed + 1
      io.stdout:write("# ", (escape.text(placed(lesson, outcome)):gsub("\n", "\n# ")), "\n")
    end
  end
  for _, lesson in ipairs(lessons) do
    local scope, spare = steps.scope(), steps.scope()
    if lesson.fault then
      write(lesson, nil, { "is read", false, lesson.fault })
    end
    for number, step in ipairs(lesson.steps or {}) do
      for _, outcome in ipairs(outcomes(step, scope, spare)) do
        write(lesson, number, outcome)
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
