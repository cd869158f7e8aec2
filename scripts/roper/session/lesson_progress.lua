--- Where a person is in a lesson, and what was answered: kept in the record as it changes, and told
--- at the beginning and the end.
local again = require "roper.session.again"
local counted = require("roper.base.printable").count
local questions = require "roper.lesson.question"
local record = require "roper.lesson.record"
local tables = require "roper.base.tables"
local terminal = require "roper.base.terminal"

local M = {}

local Progress = {}
Progress.__index = Progress

-- Record something of the lesson; that it cannot be is told once.
function Progress:keep(change)
  local problem = not self.is_unkept and record.update(self.key, change)
  if problem then
    self.is_unkept = true
    terminal.report("progress is not kept", problem)
  end
end

-- What a question is called in the record.
local function id_of(lesson, number, question)
  for i, one in ipairs(questions.of(lesson.steps[number])) do
    if one == question then
      return ("%d.%d"):format(number, i)
    end
  end
end

--- Open a lesson where one left, or at a step.
---@param lesson table
---@param first integer? step to begin with; 1 begins anew, as does a lesson that one was through
---@param path string? of the file it is from, where it is none of those that are listed
---@return table progress number: of the step to begin with; note: what to tell the person
function M.open(lesson, first, path)
  local self = setmetatable({ lesson = lesson, key = record.key(lesson, path) }, Progress)
  local entries, problem = record.load()
  local entry = entries[self.key]
  local was_through = entry and not first and entry.done and entry.step >= #lesson.steps
  local is_anew = not entry or first == 1 or was_through
  self.number = first or is_anew and 1 or math.min(entry.step, #lesson.steps)
  self.answered = is_anew and {} or tables.set(entry.answered)
  self.note = was_through and "\nYou were at its end before, and begin anew.\n"
    or not first and self.number > 1 and ("\nYou left at step %d, where it goes on. To begin anew:"
      .. "\n%s\n"):format(self.number, again.lesson(path or lesson.name, 1)) or ""
  if problem then
    self.is_unkept = true
    terminal.report("progress is not kept", problem)
  elseif is_anew and entry then
    self:keep(function(kept) kept.step, kept.answered = 1, {} end)
  end
  return self
end

--- A step is reached.
---@param number integer
function Progress:reach(number)
  self.number = number
  self:keep(function(entry) entry.step = number end)
end

--- A question of the step that was reached is answered.
---@param question table
function Progress:answer(question)
  local id = id_of(self.lesson, self.number, question)
  self.answered[id] = true
  self:keep(function(entry)
    if not tables.set(entry.answered)[id] then
      table.insert(entry.answered, id)
    end
  end)
end

--- Was a question of that step answered?
---@param question table
---@return boolean
function Progress:is_answered(question)
  return self.answered[id_of(self.lesson, self.number, question)] == true
end

--- Ask the questions of that step again.
function Progress:forget()
  for _, question in ipairs(questions.of(self.lesson.steps[self.number])) do
    self.answered[id_of(self.lesson, self.number, question)] = nil
  end
end

--- The lesson was gone through.
---@return string score how many questions were answered, where some are asked
function Progress:finish()
  self:keep(function(entry) entry.done = true end)
  local right, count = 0, 0
  for number, step in ipairs(self.lesson.steps) do
    for _, question in ipairs(questions.of(step)) do
      if question.kind ~= "open" then
        count = count + 1
        right = right + (self.answered[id_of(self.lesson, number, question)] and 1 or 0)
      end
    end
  end
  return count > 0 and ("You answered %d of %s.\n"):format(right, counted(count, "question")) or ""
end

return M
