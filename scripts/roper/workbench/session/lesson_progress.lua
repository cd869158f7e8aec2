--- The user's progress in a lesson: the current step and the questions answered. Every change is
--- saved in the record.
local resume_command = require "roper.workbench.session.resume_command"
local counted = require("roper.base.escape").count
local questions = require "roper.workbench.lesson.question"
local record = require "roper.workbench.lesson.record"
local tables = require "roper.base.tables"
local terminal = require "roper.text.terminal"

local M = {}

local Progress = {}
Progress.__index = Progress

-- Saves a change in the record. If that fails, reports it once.
function Progress:save(change)
  local problem = not self.is_unsaved and record.update(self.key, change)
  if problem then
    self.is_unsaved = true
    terminal.report("progress is not saved", problem)
  end
end

--- Loads the progress in a lesson.
---@param lesson table
---@param first integer? step to begin with; 1 discards the answers. By default the step where the
---   user left off, or 1 if the lesson was finished
---@param path string? file of the lesson, if it is not in scripts/lessons
---@return table progress number: of the step to begin with; note: message to show at the start
function M.open(lesson, first, path)
  local self = setmetatable({ lesson = lesson, key = record.key(lesson, path), ids = {} }, Progress)
  for number, step in ipairs(lesson.steps) do
    for i, question in ipairs(questions.of(step)) do
      self.ids[question] = ("%d.%d"):format(number, i) -- as in the record
    end
  end
  local entries, problem = record.load()
  local entry = entries[self.key]
  local was_finished = entry and not first and entry.done and entry.step >= #lesson.steps
  local starts_over = not entry or first == 1 or was_finished
  self.number = first or starts_over and 1 or math.min(entry.step, #lesson.steps)
  self.answered = starts_over and {} or tables.set(entry.answered)
  self.note = was_finished and "\nYou finished this lesson before. It starts again at step 1.\n"
    or not first and self.number > 1 and ("\nContinuing at step %d, where you left off. To start "
      .. "over:\n%s\n"):format(self.number, resume_command.lesson(path or lesson.name, 1)) or ""
  if problem then
    self.is_unsaved = true
    terminal.report("progress is not saved", problem)
  elseif starts_over and entry then
    self:save(function(kept) kept.step, kept.answered = 1, {} end)
  end
  return self
end

--- Saves the current step.
---@param number integer
function Progress:reach(number)
  self.number = number
  self:save(function(entry) entry.step = number end)
end

--- Saves that a question was answered.
---@param question table
function Progress:answer(question)
  local id = self.ids[question]
  self.answered[id] = true
  self:save(function(entry)
    if not tables.set(entry.answered)[id] then
      table.insert(entry.answered, id)
    end
  end)
end

--- Whether a question was answered.
---@param question table
---@return boolean
function Progress:is_answered(question)
  return self.answered[self.ids[question]] == true
end

--- Marks the questions of the current step as not answered, without changing the record.
function Progress:forget()
  for _, question in ipairs(questions.of(self.lesson.steps[self.number])) do
    self.answered[self.ids[question]] = nil
  end
end

--- Saves that the lesson was finished.
---@return string score a line with the number of questions answered; empty if the lesson has none
function Progress:finish()
  self:save(function(entry) entry.done = true end)
  local right, count = 0, 0
  for question, id in pairs(self.ids) do
    if question.kind ~= "open" then
      count = count + 1
      right = right + (self.answered[id] and 1 or 0)
    end
  end
  return count > 0 and ("You answered %d of %s.\n"):format(right, counted(count, "question")) or ""
end

return M
