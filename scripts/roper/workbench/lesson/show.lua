--- Lessons on the terminal.
local columns = require "roper.base.format.columns"
local formulas = require "roper.base.formula.terminal"
local output = require "roper.workbench.plot.output"
local proses = require "roper.workbench.lesson.prose"
local questions = require "roper.workbench.lesson.question"
local report = require "roper.identity.report"
local steps = require "roper.workbench.lesson.step"
local scoped = require "roper.base.scoped"
local terminal = require "roper.base.terminal"

local M = {}

--- Words before the question of a prediction, before an exercise, and before an answer.
M.PREDICT, M.TRY, M.ANSWER = "Predict first.", "Try it.", "Answer."

local WIDEST <const> = 80

local function write(...)
  io.stdout:write(...)
end

local function style(name, text)
  return terminal.styled(io.stdout, name, text)
end

local function verdict(holds)
  return holds and style("green", "✓") or style("red", "✗")
end

-- Wraps words into lines of at most `width` characters. No line begins or ends with - or =.
local function wrapped(text, width, indent)
  local lead = (" "):rep(indent)
  local glued = text:gsub("%s+([-=])%s+", "\u{A0}%1\u{A0}")
  local lines = columns.fill(glued, width, lead, indent > 0 and indent + 3 or 0, function(word)
    return columns.width((word:gsub("`", "")))
  end)
  return (table.concat(lines, "\n"):gsub("\u{A0}", " "))
end

--- Formats paragraphs of prose for the terminal.
---@param text string
---@param indent integer? = 0; columns
---@return string lines
function M.prose(text, indent)
  local width = math.min(terminal.columns(io.stdout), WIDEST)
  local paragraphs = {}
  for paragraph in (proses.plain(steps.unindented(text)) .. "\n\n"):gmatch "(.-)\n%s*\n" do
    local lines = wrapped(paragraph, width, indent or 0)
    paragraphs[#paragraphs + 1] = lines:gsub("`([^`]*)`", function(code)
      return (code:gsub("[^\n]+", function(line) return style("cyan", line) end))
    end)
  end
  return table.concat(paragraphs, "\n\n") .. "\n"
end

local function indented(text, by)
  return (("\n" .. text):gsub("\n([^\n])", "\n" .. by .. "%1"):gsub("^\n", "")) .. "\n"
end

local function transcript(pieces)
  local lines = {}
  for _, piece in ipairs(pieces) do
    lines[#lines + 1] = style("bold", "> " .. piece.source:gsub("\n", "\n  "))
    lines[#lines + 1] = piece.output
  end
  return table.concat(lines, "\n") .. "\n"
end

-- An identity with its checks, in one line if they are folded, and the refuted equations.
local function of_identity(found, is_folded)
  local text = is_folded and report.folded(found) or tostring(found):gsub("\n[^\n]*$", "")
  return ("%s  %s holds in every check%s\n"):format(indented(text, "  "), verdict(found.holds),
    #found.wrong > 0 and "; the wrong equations are refuted" or "")
end

--- The checks of an identity in full, for the command `look`.
---@param found table
---@return string lines
function M.identity(found)
  return of_identity(found, false)
end

--- Draws a figure of a step that was run, for the terminal.
---@param figure table
---@param scope table
---@return string lines
function M.figure(figure, scope)
  local on_screen, lines = output.on_screen, {}
  output.on_screen = function(drawn)
    lines[#lines + 1] = output.text(drawn)
  end
  scoped.finally(function()
    steps.draw(figure, scope)
  end, function()
    output.on_screen = on_screen
  end)
  return ("\n%s%s"):format(table.concat(lines), M.prose(figure.caption))
end

--- A question with its choices.
---@param question table
---@param head string words before it
---@return string lines
function M.question(question, head)
  local parts = { "\n", M.prose(head .. " " .. steps.unindented(question.question)) }
  for i, choice in ipairs(question.choices or {}) do
    parts[#parts + 1] = M.prose(("%s) %s"):format(questions.letter(i), choice), 2)
  end
  return table.concat(parts)
end

--- The answer to a question.
---@param question table
---@param head string words before it
---@return string lines
function M.answer(question, head)
  return M.prose(head .. " " .. questions.answer(question))
end

--- The title, text and formula of a step.
---@param lesson table
---@param number integer
---@return string lines
function M.introduction(lesson, number)
  local step = lesson.steps[number]
  return ("\n%s\n\n%s%s"):format(style("bold", ("%d/%d  %s"):format(number, #lesson.steps,
    proses.title(step.title))), M.prose(step.text), step.formula
    and "\n" .. style("cyan", indented(formulas.display(step.formula), "    ")) or "")
end

--- The output of a step that was run, without its figure.
---@param result table from `step.run`
---@param is_folded boolean? whether to show the checks of an identity in one line
---@return string lines
function M.results(result, is_folded)
  local parts = {}
  local function add(...)
    for _, part in ipairs { ... } do
      parts[#parts + 1] = part
    end
  end
  if #result.transcript > 0 then
    add("\n", transcript(result.transcript))
  end
  add(#result.claims > 0 and "\n" or "")
  for _, claim in ipairs(result.claims) do
    add("  ", verdict(claim.holds), " ", claim.text,
      style("dim", "   measured: " .. claim.value), "\n")
  end
  if result.identity then
    add("\n", of_identity(result.identity, is_folded))
  end
  return table.concat(parts)
end

--- The notation of a lesson as a table.
---@param lesson table
---@return string lines
function M.notation(lesson)
  local rows = {}
  for i, row in ipairs(lesson.notation) do
    rows[i] = { formulas.line(row[1]), proses.title(row[2]) }
  end
  return (rows[1] and table.concat(columns.lines(rows, 2), "\n")
    or "This lesson has no table of notation.") .. "\n"
end

--- The title of a lesson, what it needs and what it teaches.
---@param lesson table
---@return string lines
function M.head(lesson)
  local demands = proses.demands(lesson)
  return ("%s\n\n%s%s%s"):format(style("bold", proses.title(lesson.title)),
    M.prose("Before: " .. lesson.before), M.prose("After: " .. lesson.after),
    demands ~= "" and M.prose(demands) or "")
end

-- Questions with their answers.
local function write_questions(list, head)
  for _, question in ipairs(list) do
    write(M.question(question, head), "\n", M.answer(question, M.ANSWER))
  end
end

--- Writes a whole lesson to standard output.
---@param lesson table
---@param first integer? = 1; the step to begin with. Earlier steps are run but not shown
---@return boolean holds whether every claim that is shown holds
function M.all(lesson, first)
  local scope, holds = steps.scope(), true
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
    write(M.results(result))
    if step.figure then
      write "\n"
      steps.draw(step.figure, scope) -- shows the plot; a notebook has its own way
      write(M.prose(step.figure.caption))
    end
    write_questions(step.exercise, M.TRY)
    holds = holds and result.holds
  end
  write("\n", verdict(holds), holds and " every claim holds" or " a claim FAILS",
    first > 1 and (" from step %d on\n"):format(first) or "\n")
  return holds
end

return M
