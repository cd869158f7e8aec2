--- Tasks in Lua: objects with the methods of the tasks in C, from definitions of users.
local arguments = require "roper.base.arguments"
local arity = require "roper.base.arity"
local check = require("roper.tasks.own.check").check
local core = require "roper.core"
local diagnostics = require "roper.base.diagnostics"
local format = require "roper.base.format"
local options_of = require "roper.base.options"
local problems = require "roper.tasks.own.problem"
local tables = require "roper.base.tables"
local words = require "roper.tasks.words"

local M = {}

-- Problems among which the longest is found.
local MEASURED <const> = 256

-- The maximum number of rows of a batch, as in C.
local MOST_ROWS <const> = 1 << 24

--- A task from `roper.tasks.register`, with the methods of every task.
---@class OwnTask: task
local OwnTask = { __name = "roper.task" }
OwnTask.__index = OwnTask

--- Creates the constructor of a task.
---@param name string
---@param definition table from `check` of `definition`, with where: the start of messages
---@return fun(options: table?): OwnTask
function M.constructor(name, definition)
  return function(options)
    local settings = options_of.check("tasks." .. name, options, definition.rows)
    local self = setmetatable({ definition = definition, settings = settings, counter = 0,
      seed = settings.seed, answers = {}, kind = name }, OwnTask)
    self.digits = check(self)
    return self
  end
end

-- Draws a problem. An error gets the problem's seed and a line that draws it again.
local function draw(self, index)
  local ok, question, answer = pcall(problems.draw, self, index)
  if ok then
    return question, answer
  elseif diagnostics.is_interrupt(question) then
    error(question, 0)
  end
  error(("%s\nThis is problem %d of seed %d. To draw it again:\ntask = roper.tasks.%s; "
    .. "task:set_random(%d, %d); task:question()"):format(question, index, self.seed,
    tostring(self), self.seed, index), 0)
end

local BATCH <const> = { answers = { "boolean", false } }

function OwnTask:batch(rows, options)
  arguments.self("OwnTask:batch", self, OwnTask)
  arguments.check("batch", "rows", { smallest = 1, largest = MOST_ROWS }, rows)
  local o = options_of.check("task:batch", options, BATCH)
  local length, index = self.settings.length, self.counter
  local tokens, marks, at = {}, {}, 0
  for row = 1, rows do
    while at < row * length do
      local question, answer = draw(self, index)
      index = index + 1
      for i, id in ipairs(tables.joined(question, answer)) do
        if at < row * length then
          at = at + 1
          tokens[at], marks[at] = id, i > #question and 1 or 0
        end
      end
    end
  end
  self.counter = index -- an error or Ctrl-C before leaves the task as it was
  local function tensor(list)
    return core.tensor(list, "int32"):view { rows, length }
  end
  if o.answers then
    return tensor(tokens), tensor(marks)
  end
  return tensor(tokens)
end

-- The loss of the best predictor is unknown, and no token is known to be a copy.
function OwnTask:explain(tokens)
  arguments.self("OwnTask:explain", self, OwnTask)
  arguments.check("task:explain", "tokens", "tensor", tokens)
  return nil, core.zeros(tokens:shape(), "int32") - 1
end

function OwnTask:positions(tokens)
  arguments.self("OwnTask:positions", self, OwnTask)
  arguments.check("task:positions", "tokens", "tensor", tokens)
  if tokens:dtype() ~= "int32" or tokens:rank() ~= 2 then
    error(("task:positions: expected int32 tokens [rows, time], got %s [%s]"):format(tokens:dtype(),
      table.concat(tokens:shape(), ", ")), 2)
  elseif not self.definition.positions then
    return nil
  end
  local list = tables.map(tokens:totable(), function(ids)
    problems.text(self, ids) -- checks the ids
    return problems.positions(self, ids)
  end)
  return core.tensor(list, "float64")
end

-- A task in Lua predicts its own tokens.
function OwnTask:targets(_)
  arguments.self("OwnTask:targets", self, OwnTask)
  return nil
end

-- The accuracy of a guess is unknown.
function OwnTask:chance()
  arguments.self("OwnTask:chance", self, OwnTask)
  return nil
end

function OwnTask:encode(text)
  arguments.self("OwnTask:encode", self, OwnTask)
  arguments.check("task:encode", "text", "string", text)
  local ids, at = words.encode(self.definition.words, text)
  if not ids then
    error(("task:encode: expected the tokens of %s, %q, got %q at index %d"):format(self.kind,
      table.concat(self.definition.words.words, " "), words.character(text, at), at), 2)
  end
  return core.tensor(ids, "int32")
end

function OwnTask:decode(ids)
  arguments.self("OwnTask:decode", self, OwnTask)
  return words.decode(self.definition.words.words, ids)
end

function OwnTask:vocabulary()
  arguments.self("OwnTask:vocabulary", self, OwnTask)
  local list = self.definition.words.words
  return table.move(list, 1, #list, 1, {})
end

function OwnTask:question()
  arguments.self("OwnTask:question", self, OwnTask)
  local question, answer = draw(self, self.counter)
  self.counter = self.counter + 1
  question, answer = problems.text(self, question), problems.text(self, answer)
  self.answers[question] = answer
  return question, answer
end

function OwnTask:answer(question)
  arguments.self("OwnTask:answer", self, OwnTask)
  arguments.check("task:answer", "question", "string", question)
  self:encode(question)
  local known = self.answers[question]
  if known then
    return known
  elseif not self.definition.answer then
    error(("the answer to %q is not known: the task %s has no function answer"):format(question,
      self.kind), 0)
  end
  local answer = problems.call(self, "answer", question, tables.merged(self.settings))
  if type(answer) ~= "string" then
    problems.fail(self, "answer: expected a text, got " .. options_of.shown(answer))
  end
  return answer
end

function OwnTask:grade(question, text)
  arguments.self("OwnTask:grade", self, OwnTask)
  arguments.check("task:grade", "question", "string", question, "text", "string", text)
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
      local question, answer = problems.draw(self, index)
      self.longest_problem = math.max(self.longest_problem, #question + #answer)
    end
  end
  return self.longest_problem
end

-- A problem is taken as one of this task if it is not longer than those of the task.
function OwnTask:poses(question, answer)
  arguments.self("OwnTask:poses", self, OwnTask)
  arguments.check("task:poses", "question", "string", question, "answer", "string?", answer)
  local ids = words.encode(self.definition.words, question .. (answer or ""))
  return ids ~= nil and #ids <= longest_found(self)
end

function OwnTask:floor()
  arguments.self("OwnTask:floor", self, OwnTask)
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

function OwnTask:random()
  arguments.self("OwnTask:random", self, OwnTask)
  return self.seed, self.counter
end

function OwnTask:set_random(seed, counter)
  arguments.self("OwnTask:set_random", self, OwnTask)
  arguments.check("task:set_random", "seed", "integer", seed, "counter", "integer", counter)
  self.seed, self.counter = seed, counter
end

function OwnTask:hash()
  arguments.self("OwnTask:hash", self, OwnTask)
  return self.digits
end

function OwnTask.has_problems()
  return true
end

function OwnTask:name()
  return self.kind
end

function OwnTask:length()
  return self.settings.length
end

-- A problem fits into a row.
function OwnTask:longest()
  return self.settings.length
end

function OwnTask:stop()
  return self.definition.stop
end

function OwnTask:options()
  return tables.merged(self.settings, { seed = self.seed })
end

function OwnTask:__tostring()
  return self.kind .. format.value(self:options(), math.maxinteger)
end

arity.limit(OwnTask)

return M
