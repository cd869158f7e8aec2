--- A lesson with a person at the terminal: step after step, with any Lua in between.
local again = require "roper.session.again"
local code = require "roper.base.code"
local readers = require "roper.session.repl.reader"
local sessions = require "roper.session.repl.session"
local show = require "roper.lesson.show"
local steps = require "roper.lesson.step"
local terminal = require "roper.base.terminal"

local M = {}

local HELP <const> = "Enter goes on. In between, any Lua runs, with the variables of the lesson.\n"
  .. "back, again, answer, notation, quit: these words do what they say (where a\n"
  .. "variable has the name of one, %back and so on).\n"

local Tour = {}
Tour.__index = Tour

-- Run a step, after those before it whose code was not run yet, and show it.
function Tour:go(number)
  local ok, failure = code.call(function()
    for before = self.first_stale, number - 1 do
      steps.prepare(self.lesson.steps[before], self.scope)
    end
    self.first_stale = number + 1
    show.step(self.lesson, number, steps.run(self.lesson.steps[number], self.scope), self.scope)
  end)
  self.number = number
  if not ok then
    terminal.report("lesson", failure.interrupted and "interrupted" or failure.message)
  end
end

-- Go to a step and run all before it again: what was changed in between is forgotten.
function Tour:redo(number)
  self.first_stale = 1
  self:go(math.max(1, number))
end

-- What a line can say besides Lua: functions of the tour.
local words = {}

M.words = words

words[""] = function(tour)
  if tour.number == #tour.lesson.steps then
    tour.is_over = true
  else
    tour:go(tour.number + 1)
  end
end

function words.back(tour)
  tour:redo(tour.number - 1)
end

function words.again(tour)
  tour:redo(tour.number)
end

function words.answer(tour)
  local exercise = tour.lesson.steps[tour.number].exercise
  io.stdout:write(exercise and show.prose(exercise.answer) or "This step asks nothing.\n")
end

function words.notation(tour)
  show.notation(tour.lesson)
end

function words.quit(tour)
  tour.is_over = true
end

words.exit = words.quit

-- The word in a line; nil where a variable has its name, unless there is a % in front.
local function word_of(line, scope)
  local sign, name = line:match "^%s*(%%?)(%a*)%s*$"
  return (sign == "%" or name and rawget(scope, name) == nil) and words[name] or nil
end

-- A line of the person: a word, or Lua, of which the rest is returned where more must come.
function Tour:take(line, open)
  local word = not open and word_of(line, self.scope)
  if not word then
    local rest = self.session:feed(open and open .. "\n" .. line or line)
    self.is_over = self.is_over or self.session.is_over
    return rest
  end
  word(self)
end

-- Where to go after a lesson.
local function farewell(lesson)
  local all = require("roper.lesson").all()
  for i, other in ipairs(all) do
    if other.name == lesson.name and all[i + 1] then
      return (" Next: ./roper lesson %s"):format(all[i + 1].name)
    end
  end
  return " It was the last."
end

--- Lead through a lesson until its end, `quit` or Ctrl-D.
---@param lesson table
---@param first integer? step to begin with
---@param path string? of the file it is from, where it is none of those that are listed
function M.run(lesson, first, path)
  local scope = steps.scope()
  local lines = readers.new()
  local tour = setmetatable({ lesson = lesson, scope = scope, first_stale = 1, is_over = false,
    session = sessions.new(scope) }, Tour)
  show.head(lesson)
  io.stdout:write("\n", terminal.styled(io.stdout, "dim", HELP))
  tour:go(first or 1)
  local open
  while not tour.is_over do
    io.stdout:flush()
    local prompt = ("%s %d/%d> "):format(lesson.name, tour.number, #lesson.steps)
    local ok, line = code.call(lines.read, lines,
      open and (" "):rep(#prompt - 3) .. ">> " or prompt)
    if not ok or line == readers.INTERRUPTED then
      open = nil
    elseif line == nil then
      break
    else
      open = tour:take(line, open)
      lines:remember(line)
    end
  end
  if tour.number == #lesson.steps then
    io.stdout:write("The end of ", lesson.name, ".", path and "" or farewell(lesson), "\n")
  else
    io.stdout:write("This goes on here:\n", again.lesson(path or lesson.name, tour.number), "\n")
  end
end

return M
