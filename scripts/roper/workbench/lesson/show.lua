--- Converts lessons to documents for the terminal and the pages, and prints a whole lesson.
local document = require "roper.text.document"
local output = require "roper.workbench.plot.output"
local proses = require "roper.workbench.lesson.prose"
local quantities = require "roper.workbench.lesson.quantity"
local questions = require "roper.workbench.lesson.question"
local report = require "roper.identity.report"
local steps = require "roper.workbench.lesson.step"
local scoped = require "roper.base.scoped"
local tables = require "roper.base.tables"
local terminal = require "roper.text.document.terminal"

local M = {}

--- Words before the question of a prediction, before an exercise, and before an answer.
M.PREDICT, M.TRY, M.ANSWER = "Predict first.", "Try it.", "Answer."

local function on_terminal(figure, scope)
  local on_screen, lines = output.on_screen, {}
  output.on_screen = function(drawn)
    lines[#lines + 1] = output.text(drawn)
  end
  scoped.finally(function()
    steps.draw(figure, scope)
  end, function()
    output.on_screen = on_screen
  end)
  return table.concat(lines)
end

--- A figure of a step that was run. On a page, its picture is without a style, which the page has.
---@param caption string? prose; that of the figure by default
function M.figure(figure, scope, caption)
  return document.figure(function(format)
    return format ~= "svg" and on_terminal(figure, scope)
      or (steps.draw(figure, scope, "svg"):gsub("<style>.-</style>", "", 1))
  end, quantities.marked(document.prose(caption or figure.caption)), steps.unindented(figure.draw))
end

--- A question with its choices.
---@param head string? words before it
function M.question(question, head)
  local prose = document.prose(question.question)
  return { document.paragraph(head and { document.styled("emphasis", head), " ", prose } or prose),
    question.choices and document.list(tables.map(question.choices, function(choice)
      return document.prose(choice)
    end), "a", "choices") }
end

--- The form of a question for paper: its line with blanks, and what they can be.
---@return table|false blocks
function M.form(question)
  return question.form and { document.listing(question.form[1]),
    document.list(tables.map(table.move(question.form, 2, #question.form, 1, {}), function(choices)
      local list = {}
      for i, choice in ipairs(choices) do
        list[#list + 1] = i > 1 and " or " or nil
        list[#list + 1] = choice == "" and "nothing" or document.code(choice)
      end
      return list
    end), #question.form > 2 and "1" or "-") }
end

--- The answer to a question.
---@param head string? words before it
function M.answer(question, head)
  return document.paragraphs((head and head .. " " or "") .. questions.answer(question))
end

--- The text and the formula of a step.
function M.text(step)
  return { quantities.paragraphs(step.text), step.formula and document.formula(step.formula) }
end

--- The title, the text and the formula of a step in the terminal.
function M.introduction(lesson, number)
  local step = lesson.steps[number]
  return { document.heading { ("%d/%d\u{A0} "):format(number, #lesson.steps),
    document.prose(step.title) }, M.text(step) }
end

--- The output of a step that was run, without its figure.
---@param result table from `step.run`
function M.results(result)
  return { document.transcript(result.transcript), tables.map(result.claims, function(claim)
    return document.claim(claim.holds, claim.text, "measured: " .. claim.value)
  end), result.identity and report.document(result.identity) }
end

--- The program for PyTorch of a step, which is not run.
function M.python(step)
  return step.python and { document.paragraph "In PyTorch:",
    document.listing(steps.unindented(step.python)) }
end

--- The notation of a lesson.
function M.notation(lesson)
  return lesson.notation[1] ~= nil and document.table { class = "notation", sides = "l", indent = 0,
    rows = tables.map(lesson.notation, function(row)
      return { document.math(row[1]), document.prose(row[2]) }
    end) }
end

--- What a lesson needs, and what it teaches.
function M.goals(lesson)
  return document.paragraph({ "Before: ", document.prose(lesson.before), document.BREAK, "After: ",
    document.prose(lesson.after) }, "about")
end

--- The title of a lesson, with its requirements and goals.
function M.head(lesson)
  return { document.heading(document.prose(lesson.title)), M.goals(lesson),
    document.paragraph(document.prose(proses.demands(lesson)), "about") }
end

--- Writes a whole lesson to standard output.
---@param first integer? = 1; the step to begin with. Earlier steps are run but not shown
---@return boolean holds whether every claim that is shown holds
function M.all(lesson, first)
  local scope, holds = steps.scope(), true
  local function write(tree)
    local text = terminal.render(tree)
    io.stdout:write(text, text ~= "" and "\n" or "")
  end
  local function write_questions(list, head)
    for _, question in ipairs(list) do
      write { M.question(question, head), M.answer(question, M.ANSWER) }
    end
  end
  write(M.head(lesson))
  first = first or 1
  for number = 1, first - 1 do
    steps.prepare(lesson.steps[number], scope)
  end
  for number = first, #lesson.steps do
    local step = lesson.steps[number]
    write(M.introduction(lesson, number))
    write_questions(step.predict, M.PREDICT)
    local result = steps.run(step, scope)
    write { M.results(result), M.python(step) }
    if step.figure then
      steps.draw(step.figure, scope) -- shows the plot; in a notebook, as a picture
      write(document.paragraph(document.prose(step.figure.caption)))
    end
    write_questions(step.exercise, M.TRY)
    holds = holds and result.holds
  end
  io.stdout:write(terminal.render(document.check(holds,
    (holds and "every claim holds" or "a claim FAILS")
    .. (first > 1 and (" from step %d on"):format(first) or ""))))
  return holds
end

return M
