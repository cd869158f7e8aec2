--- Tasks in Lua: objects with the methods of the tasks in C, from definitions of users.
local arguments = require "roper.base.arguments"
local core = require "roper.core"
local diagnostics = require "roper.base.diagnostics"
local format = require "roper.base.format"
local hash = require "roper.base.hash"
local options_of = require "roper.base.options"
local random = require "roper.tasks.own.random"
local tables = require "roper.base.tables"
local words = require "roper.tasks.words"

local M = {}

-- Problems that are drawn twice when a task is created, to check its definition.
local CHECKED <const> = 16

-- Problems among which the longest is found.
local MEASURED <const> = 256

-- The maximum number of rows of a batch, as in C.
local MOST_ROWS <const> = 1 << 24

--- A task from `roper.tasks.register`, with the methods of every task.
---@class OwnTask: task
local OwnTask = { __name = "roper.task" }
OwnTask.__index = OwnTask

local function fail(self, text)
  error(("%s: %s"):format(self.definition.where, text), 0)
end

-- Calls a function of the definition. An error gets the name of the task and of its file.
local function call(self, name, ...)
  local results = table.pack(pcall(self.definition[name], ...))
  if results[1] then
    return table.unpack(results, 2, results.n)
  elseif diagnostics.is_interrupt(results[2]) then
    error(results[2], 0)
  end
  local place, text = tostring(results[2]):match "^([^\n]-:%d+): (.*)$"
  fail(self, ("%s raised an error%s: %s"):format(name, place and (" (%s)"):format(place) or "",
    text or tostring(results[2])))
end

-- Names a part of a problem in messages.
local function part_name(index, part)
  return ("generate: problem %d: %s"):format(index, part)
end

-- Converts a text or a list of tokens from `generate` to ids.
local function ids_of(self, what, value)
  local vocabulary = self.definition.words
  if type(value) == "string" then
    local ids, at = words.encode(vocabulary, value)
    if not ids then
      fail(self, ("%s: expected tokens of the vocabulary, got %q at index %d of %q"):format(what,
        value:sub(at, utf8.len(value, at) and utf8.offset(value, 2, at) - 1 or at), at, value))
    end
    return ids
  elseif type(value) ~= "table" then
    fail(self, ("%s: expected a text or a list of tokens, got %s"):format(what,
      options_of.shown(value)))
  end
  local ids = {}
  for i = 1, math.max(#value, tables.count(value)) do
    ids[i] = vocabulary.ids[value[i]]
    if not ids[i] then
      fail(self, ("%s: expected a list of tokens of the vocabulary, got %s at index %d"):format(
        what, options_of.shown(value[i]), i))
    end
  end
  local again = words.encode(vocabulary, table.concat(value))
  if not again or table.concat(again, " ") ~= table.concat(ids, " ") then
    fail(self, ("%s: %q reads as other tokens than those of the list; no token may begin with "
      .. "another one that can precede the same text"):format(what, table.concat(value)))
  end
  return ids
end

-- Raises an error unless an answer contains the stop token exactly once, at its end.
local function check_stop(self, what, ids)
  local stop = self.definition.words.ids[self.definition.stop]
  for i, id in ipairs(ids) do
    if (id == stop) ~= (i == #ids) then
      fail(self, ("%s: expected the stop token %q at its end and nowhere else, got %q"):format(
        what, self.definition.stop, words.decode(self.definition.words.words, ids)))
    end
  end
end

-- Draws the problem with the given index: the ids of its question and of its answer.
local function draw(self, index)
  local seed, counter = core.random_state()
  local question, answer = call(self, "generate", tables.merged(self.settings),
    random.random(self.seed, index))
  local seed_after, counter_after = core.random_state()
  if seed ~= seed_after or counter ~= counter_after then
    core.random_state(seed, counter)
    fail(self, "generate: expected random numbers from its second argument only, but it used "
      .. "roper's global generator")
  end
  local length = self.settings.length
  if answer == nil then
    local row = ids_of(self, part_name(index, "the row"), question)
    if #row ~= length then
      fail(self, part_name(index, ("expected a question and an answer, or a row of length = %d "
        .. "tokens, got one value of %d tokens"):format(length, #row)))
    end
    question, answer = table.move(row, 1, 1, 1, {}), table.move(row, 2, length, 1, {})
  else
    question = ids_of(self, part_name(index, "the question"), question)
    answer = ids_of(self, part_name(index, "the answer"), answer)
  end
  if #question == 0 or #answer == 0 then
    fail(self, part_name(index, ("expected at least one token in the %s, got none"):format(
      #question == 0 and "question" or "answer")))
  elseif #question + #answer > length then
    fail(self, part_name(index, ("expected at most length = %d tokens, got %d; use longer rows "
      .. "or shorter problems"):format(length, #question + #answer)))
  elseif self.definition.stop then
    check_stop(self, part_name(index, "the answer"), answer)
  end
  return question, answer
end

-- The text of ids.
local function text_of(self, ids)
  return words.decode(self.definition.words.words, ids)
end

-- The positions of the tokens of a row, checked.
local function row_positions(self, ids)
  local tokens = tables.map(ids, function(id) return self.definition.words.words[id + 1] end)
  local list = call(self, "positions", tokens, tables.merged(self.settings))
  local is_list = type(list) == "table" and #list == #ids and tables.count(list) == #ids
  for _, position in ipairs(is_list and list or {}) do
    is_list = is_list and math.type(position) and position - position == 0
  end
  if not is_list then
    fail(self, ("positions: expected a list of %d finite numbers, one for each token, got %s")
      :format(#ids, type(list) == "table" and ("a list of %d"):format(#list)
        or options_of.shown(list)))
  end
  return list
end

-- Raises an error unless the functions of the definition agree about a problem.
local function check_problem(self, question, answer)
  local definition, asked, right = self.definition, text_of(self, question), text_of(self, answer)
  self.answers[asked] = right
  if definition.answer then
    local found = call(self, "answer", asked, tables.merged(self.settings))
    if not definition.grade and found ~= right then
      fail(self, ("answer: expected %q, which generate returns for %q, got %s"):format(right, asked,
        options_of.shown(found)))
    end
  end
  if not self:grade(asked, right) then
    fail(self, ("grade: expected true for %q, which generate returns for %q, got false"):format(
      right, asked))
  end
  if definition.positions then
    row_positions(self, tables.joined(question, answer))
  end
end

-- Raises an error unless the definition gives valid problems, and the same ones if they are drawn
-- again.
local function check(self)
  local size, texts = nil, {}
  for index = 0, CHECKED - 1 do
    local question, answer = draw(self, index)
    local question_again, answer_again = draw(self, index)
    local first, second = text_of(self, tables.joined(question, answer)),
      text_of(self, tables.joined(question_again, answer_again))
    if first ~= second then
      fail(self, ("generate: expected the same problem for the same seed, got %q, then %q; use the "
        .. "random numbers of its second argument, not math.random, and keep no state"):format(
        first, second))
    end
    size, texts[#texts + 1] = size or #answer, first
    if #answer ~= size and not self.definition.stop and not self.definition.grade then
      fail(self, ("generate: expected answers of one length, or a definition with stop, got "
        .. "answers of %d and %d tokens"):format(size, #answer))
    end
    check_problem(self, question, answer)
  end
  self.answers, self.digits = {}, hash.of(table.concat(texts, "\n"))
  self:floor()
end

--- Creates the constructor of a task.
---@param name string
---@param definition table from `check` of `definition`, with where: the start of messages
---@return fun(options: table?): OwnTask
function M.constructor(name, definition)
  return function(options)
    local settings = options_of.check("tasks." .. name, options, definition.rows)
    local self = setmetatable({ definition = definition, settings = settings, counter = 0,
      seed = settings.seed, answers = {}, kind = name }, OwnTask)
    check(self)
    return self
  end
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
    text_of(self, ids) -- checks the ids
    return row_positions(self, ids)
  end)
  return core.tensor(list, "float64")
end

function OwnTask:encode(text)
  arguments.self("OwnTask:encode", self, OwnTask)
  arguments.check("task:encode", "text", "string", text)
  local ids, at = words.encode(self.definition.words, text)
  if not ids then
    error(("task:encode: expected the tokens of %s, %q, got %q at index %d"):format(self.kind,
      table.concat(self.definition.words.words, " "), text:sub(at, at), at), 2)
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
  question, answer = text_of(self, question), text_of(self, answer)
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
  local answer = call(self, "answer", question, tables.merged(self.settings))
  if type(answer) ~= "string" then
    fail(self, "answer: expected a text, got " .. options_of.shown(answer))
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
  local is_solved = call(self, "grade", question, text, ok and answer or nil,
    tables.merged(self.settings))
  if type(is_solved) ~= "boolean" then
    fail(self, "grade: expected true or false, got " .. options_of.shown(is_solved))
  end
  return is_solved
end

-- The number of tokens of the longest of some problems.
local function longest_found(self)
  if not self.longest_problem then
    self.longest_problem = 0
    for index = 0, MEASURED - 1 do
      local question, answer = draw(self, index)
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
  local nats = call(self, "floor", tables.merged(self.settings))
  if options_of.mismatch("amount", nats) then
    fail(self, "floor: expected a finite non-negative number, got " .. options_of.shown(nats))
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

return M
