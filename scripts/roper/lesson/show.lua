--- Lessons on the terminal.
local columns = require "roper.base.format.columns"
local formulas = require "roper.lesson.formula.terminal"
local proses = require "roper.lesson.prose"
local steps = require "roper.lesson.step"
local terminal = require "roper.base.terminal"

local M = {}

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

-- Words as lines of at most `width` characters, none of which ends or begins with - or =.
local function wrapped(text, width)
  local glued = text:gsub("%s+([-=])%s+", "\u{A0}%1\u{A0}")
  local lines = columns.fill(glued, width, "", 0, function(word)
    return utf8.len((word:gsub("`", "")))
  end)
  return (table.concat(lines, "\n"):gsub("\u{A0}", " "))
end

--- Paragraphs as a terminal shows them.
---@param text string
---@return string lines
function M.prose(text)
  local width = math.min(terminal.columns(io.stdout), WIDEST)
  local paragraphs = {}
  for paragraph in (proses.plain(steps.unindented(text)) .. "\n\n"):gmatch "(.-)\n%s*\n" do
    paragraphs[#paragraphs + 1] = wrapped(paragraph, width):gsub("`([^`]*)`", function(code)
      return (code:gsub("[^\n]+", function(line) return style("cyan", line) end))
    end)
  end
  return table.concat(paragraphs, "\n\n") .. "\n"
end

local function indented(text, by)
  return (("\n" .. text):gsub("\n([^\n])", "\n" .. by .. "%1"):gsub("^\n", "")) .. "\n"
end

local function show_transcript(transcript)
  for _, piece in ipairs(transcript) do
    write(style("bold", "> " .. piece.source:gsub("\n", "\n  ")), "\n")
    if piece.output then
      write(piece.output, "\n")
    end
  end
end

-- An identity: its sides, each check on a line, and what was refuted.
local function show_identity(identity)
  write(indented(tostring(identity):gsub("\n[^\n]*$", ""), "  "))
  write("  ", verdict(identity.holds), " holds in every check",
    #identity.wrong > 0 and ", and what is wrong is refuted" or "", "\n")
end

--- Show a step that was run.
---@param lesson table
---@param number integer
---@param result table of `step.run`
---@param scope table
function M.step(lesson, number, result, scope)
  local step = lesson.steps[number]
  write("\n", style("bold", ("%d/%d  %s"):format(number, #lesson.steps, step.title)), "\n\n")
  write(M.prose(step.text))
  if step.formula then
    write("\n", style("cyan", indented(formulas.display(step.formula), "    ")))
  end
  if #result.transcript > 0 then
    write "\n"
    show_transcript(result.transcript)
  end
  if #result.claims > 0 then
    write "\n"
  end
  for _, claim in ipairs(result.claims) do
    write("  ", verdict(claim.holds), " ", claim.text, style("dim", "   here " .. claim.value),
      "\n")
  end
  if result.identity then
    write "\n"
    show_identity(result.identity)
  end
  if step.figure then
    write "\n"
    steps.draw(step.figure, scope)
    write(M.prose(step.figure.caption))
  end
  if step.exercise then
    write("\n", M.prose("Try it. " .. step.exercise.question))
  end
end

--- Show what the signs of a lesson stand for.
---@param lesson table
function M.notation(lesson)
  local rows = {}
  for i, row in ipairs(lesson.notation) do
    rows[i] = { formulas.line(row[1]), (proses.plain(row[2]):gsub("`", "")) }
  end
  write(rows[1] and table.concat(columns.lines(rows, 2), "\n")
    or "This lesson explains its signs as they come.", "\n")
end

--- Show the head of a lesson.
---@param lesson table
function M.head(lesson)
  write(style("bold", lesson.title), "\n\n")
  write(M.prose("Before: " .. lesson.before), M.prose("After: " .. lesson.after))
  local demands = proses.demands(lesson)
  write(demands ~= "" and M.prose(demands) or "")
end

--- Show a whole lesson.
---@param lesson table
---@param first integer? step to begin with; those before it are run unseen
---@return boolean holds every claim that is shown
function M.all(lesson, first)
  local scope, holds = steps.scope(), true
  M.head(lesson)
  first = first or 1
  for number = 1, first - 1 do
    steps.prepare(lesson.steps[number], scope)
  end
  for number = first, #lesson.steps do
    local step = lesson.steps[number]
    local result = steps.run(step, scope)
    M.step(lesson, number, result, scope)
    if step.exercise then
      write("\n", M.prose("Answer. " .. step.exercise.answer))
    end
    holds = holds and result.holds
  end
  write("\n", verdict(holds), holds and " every claim holds" or " a claim FAILS",
    first > 1 and (" from step %d on\n"):format(first) or "\n")
  return holds
end

return M
