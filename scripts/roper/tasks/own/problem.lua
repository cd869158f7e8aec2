--- Problems of tasks in Lua: draws them from the definition of a user, and checks what it returns.
local core = require "roper.core"
local diagnostics = require "roper.base.diagnostics"
local options_of = require "roper.base.options"
local random = require "roper.tasks.own.random"
local tables = require "roper.base.tables"
local words = require "roper.tasks.words"

local M = {}

--- Raises an error with the name of a task and of its file.
---@param task OwnTask
---@param text string
function M.fail(task, text)
  error(("%s: %s"):format(task.definition.where, text), 0)
end

--- Calls a function of a task's definition. An error gets the name of the task and of its file.
---@param task OwnTask
---@param name string of the function
---@param ... any its arguments
---@return any ... its results
function M.call(task, name, ...)
  local results = table.pack(pcall(task.definition[name], ...))
  if results[1] then
    return table.unpack(results, 2, results.n)
  elseif diagnostics.is_interrupt(results[2]) then
    error(results[2], 0)
  end
  local message = diagnostics.text_of(results[2])
  local place, text = message:match "^([^\n]-:%d+): (.*)$"
  M.fail(task, ("%s raised an error%s: %s"):format(name, place and (" (%s)"):format(place) or "",
    text or message))
end

-- Names a part of a problem in messages.
local function part_name(index, part)
  return ("generate: problem %d: %s"):format(index, part)
end

-- Converts a text or a list of tokens from `generate` to ids.
local function ids_of(task, what, value)
  local vocabulary = task.definition.words
  if type(value) == "string" then
    local ids, at = words.encode(vocabulary, value)
    if not ids then
      M.fail(task, ("%s: expected tokens of the vocabulary, got %q at index %d of %q"):format(what,
        words.character(value, at), at, value))
    end
    return ids
  elseif type(value) ~= "table" then
    M.fail(task, ("%s: expected a text or a list of tokens, got %s"):format(what,
      options_of.shown(value)))
  end
  local ids = {}
  for i = 1, math.max(#value, tables.count(value)) do
    ids[i] = vocabulary.ids[value[i]]
    if not ids[i] then
      M.fail(task, ("%s: expected a list of tokens of the vocabulary, got %s at index %d"):format(
        what, options_of.shown(value[i]), i))
    end
  end
  local again = words.encode(vocabulary, table.concat(value))
  if not again or table.concat(again, " ") ~= table.concat(ids, " ") then
    M.fail(task, ("%s: %q reads as other tokens than those of the list, since the longest token "
      .. "that fits is read; use tokens that differ in how they begin"):format(what,
      table.concat(value)))
  end
  return ids
end

-- Raises an error unless an answer contains the stop token exactly once, at its end.
local function check_stop(task, what, ids)
  local stop = task.definition.words.ids[task.definition.stop]
  for i, id in ipairs(ids) do
    if (id == stop) ~= (i == #ids) then
      M.fail(task, ("%s: expected the stop token %q at its end and nowhere else, got %q"):format(
        what, task.definition.stop, words.decode(task.definition.words.words, ids)))
    end
  end
end

--- Draws a problem of a task.
---
--- Errors: the definition raises an error, uses other random numbers, leaves its vocabulary, or
--- exceeds the length of a row.
---@param task OwnTask
---@param index integer of the problem, from 0
---@return integer[] question ids
---@return integer[] answer ids
function M.draw(task, index)
  local seed, counter = core.random_state()
  local question, answer = M.call(task, "generate", tables.merged(task.settings),
    random.random(task.seed, index))
  local seed_after, counter_after = core.random_state()
  if seed ~= seed_after or counter ~= counter_after then
    core.random_state(seed, counter)
    M.fail(task, "generate: expected random numbers from its second argument only, but it used "
      .. "roper's global generator")
  end
  local length = task.settings.length
  if answer == nil then
    local row = ids_of(task, part_name(index, "the row"), question)
    if #row ~= length then
      M.fail(task, part_name(index, ("expected a question and an answer, or a row of length = %d "
        .. "tokens, got one value of %d tokens"):format(length, #row)))
    end
    question, answer = table.move(row, 1, 1, 1, {}), table.move(row, 2, length, 1, {})
  else
    question = ids_of(task, part_name(index, "the question"), question)
    answer = ids_of(task, part_name(index, "the answer"), answer)
  end
  if #question == 0 or #answer == 0 then
    M.fail(task, part_name(index, ("expected at least one token in the %s, got none"):format(
      #question == 0 and "question" or "answer")))
  elseif #question + #answer > length then
    M.fail(task, part_name(index, ("expected at most length = %d tokens, got %d; use longer rows "
      .. "or shorter problems"):format(length, #question + #answer)))
  elseif task.definition.stop then
    check_stop(task, part_name(index, "the answer"), answer)
  end
  return question, answer
end

--- Returns the text of ids.
---@param task OwnTask
---@param ids integer[]
---@return string
function M.text(task, ids)
  return words.decode(task.definition.words.words, ids)
end

--- Returns the positions of the tokens of a row, for a task that defines them.
---
--- Errors: `positions` does not return a finite number for each token.
---@param task OwnTask
---@param ids integer[]
---@return number[]
function M.positions(task, ids)
  local tokens = tables.map(ids, function(id) return task.definition.words.words[id + 1] end)
  local list = M.call(task, "positions", tokens, tables.merged(task.settings))
  local is_list = type(list) == "table" and #list == #ids and tables.count(list) == #ids
  local got = not is_list and (type(list) == "table" and ("a list of %d"):format(#list)
    or options_of.shown(list))
  for i = 1, is_list and #ids or 0 do
    if options_of.mismatch("number", list[i]) then
      got = ("%s at index %d"):format(options_of.shown(list[i]), i)
      break
    end
  end
  if got then
    M.fail(task, ("positions: expected a list of %d finite numbers, one for each token, got %s")
      :format(#ids, got))
  end
  return list
end

return M
