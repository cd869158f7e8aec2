--- Problems of a task in Lua: the source of a task, from the definition of a user.
local check = require("roper.tasks.own.check").check
local core = require "roper.core"
local diagnostics = require "roper.text.diagnostics"
local options_of = require "roper.options.rows"
local problems = require "roper.tasks.own.problem"
local tables = require "roper.base.tables"
local tasks = require "roper.tasks.task"

local M = {}

-- Problems among which the longest is found.
local MEASURED <const> = 256

---@class OwnSource: TaskSource
---@field definition table from `check` of `definition`, with where: the start of messages
---@field settings table checked options
---@field answers table<string, string> to the questions that it drew
local OwnSource = {}
OwnSource.__index = OwnSource

--- Creates the source of a task.
---
--- Errors: the definition does not give valid problems with these options.
---@param settings table checked options
---@param definition TaskKind
---@return OwnSource source
function M.new(settings, definition)
  local self = setmetatable({ definition = definition, settings = settings, answers = {},
    tokenizer = definition.words, stop = definition.stop }, OwnSource)
  self.hash = check(self)
  return self
end

-- Draws a problem. An error gets the problem's seed and a line that draws it again.
local function draw(self, seed, index)
  local ok, question, answer = pcall(problems.draw, self, seed, index)
  if ok then
    return question, answer
  elseif diagnostics.is_interrupt(question) then
    error(question, 0)
  end
  local made = tasks.expression(self.definition, tables.merged(self.settings, { seed = seed }))
  error(("%s\nThis is problem %d of seed %d. To draw it again:\ntask = roper.tasks.%s; "
    .. "task:set_random(%d, %d); task:question()"):format(question, index, seed, made, seed, index),
    0)
end

function OwnSource:batch(rows, seed, index)
  local length = self.settings.length
  local tokens, marks, at = {}, {}, 0
  for row = 1, rows do
    while at < row * length do
      local question, answer = draw(self, seed, index)
      index = index + 1
      for i, id in ipairs(tables.joined(question, answer)) do
        if at < row * length then
          at = at + 1
          tokens[at], marks[at] = id, i > #question and 1 or 0
        end
      end
    end
  end
  local function tensor(list)
    return core.tensor(list, "int32"):view { rows, length }
  end
  return tensor(tokens), tensor(marks), index
end

function OwnSource:question(seed, index)
  local question, answer = draw(self, seed, index)
  question, answer = self.tokenizer:text(question), self.tokenizer:text(answer)
  self.answers[question] = answer
  return question, answer, index + 1
end

function OwnSource:positions(tokens)
  if not self.definition.positions then
    return nil
  end
  local words = self.tokenizer.words
  local list = tables.map(tokens:totable(), function(ids)
    for i, id in ipairs(ids) do
      if not words[id + 1] then
        error(("task:positions: expected token ids from 0 to %d, got %d at index %d"):format(
          #words - 1, id, i), 0)
      end
    end
    return problems.positions(self, ids)
  end)
  return core.tensor(list, "float64")
end

function OwnSource:answer(question)
  self.tokenizer:encode(question) -- checks the question
  local known = self.answers[question]
  if known then
    return known
  elseif not self.definition.answer then
    error(("the answer to %q is not known: the task %s has no function answer"):format(question,
      self.definition.name), 0)
  end
  local answer = problems.call(self, "answer", question, tables.merged(self.settings))
  if type(answer) ~= "string" then
    problems.fail(self, "answer: expected a text, got " .. options_of.shown(answer))
  end
  return answer
end

function OwnSource:grade(question, text)
  if not self.definition.grade then
    return text == self:answer(question)
  end
  local ok, answer = pcall(self.answer, self, question)
  if not ok and diagnostics.is_interrupt(answer) then
    error(answer, 0)
  end
  local is_solved = problems.call(self, "grade", question, text, ok and answer or nil,
    tables.merged(self.settings))
  if type(is_solved) ~= "boolean" then
    problems.fail(self, "grade: expected true or false, got " .. options_of.shown(is_solved))
  end
  return is_solved
end

-- The number of tokens of the longest of some problems.
local function longest_found(self)
  if not self.longest_problem then
    self.longest_problem = 0
    for index = 0, MEASURED - 1 do
      local question, answer = problems.draw(self, self.settings.seed, index)
      self.longest_problem = math.max(self.longest_problem, #question + #answer)
    end
  end
  return self.longest_problem
end

-- A problem is taken as one of this task if it is not longer than those of the task.
function OwnSource:poses(question, answer)
  local ids = self.tokenizer:find(question .. (answer or ""))
  return ids ~= nil and #ids <= longest_found(self)
end

function OwnSource:floor()
  if not self.definition.floor then
    return nil
  end
  local nats = problems.call(self, "floor", tables.merged(self.settings))
  if options_of.mismatch("amount", nats) then
    problems.fail(self, "floor: expected a finite non-negative number, got "
      .. options_of.shown(nats))
  end
  return nats + 0.0, 0.0
end

return M
