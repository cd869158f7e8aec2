--- Problems of tasks in Lua: draws them from the definition of a user, and checks what it returns.
local core = require "roper.core"
local diagnostics = require "roper.text.diagnostics"
local options_of = require "roper.options.rows"
local random = require "roper.tasks.own.random"
local tables = require "roper.base.tables"

local M = {}

--- Raises an error with the name of a task and of its file.
---@param source OwnSource
---@param text string
function M.fail(source, text)
  error(("%s: %s"):format(source.definition.where, text), 0)
end

--- Calls a function of a task's definition. An error gets the name of the task and of its file.
---@param source OwnSource
---@param name string of the function
---@param ... any its arguments
---@return any ... its results
function M.call(source, name, ...)
  local results = table.pack(pcall(source.definition[name], ...))
  if results[1] then
    return table.unpack(results, 2, results.n)
  elseif diagnostics.is_interrupt(results[2]) then
    error(results[2], 0)
  end
  local message = diagnostics.text_of(results[2])
  local place, text = message:match "^([^\n]-:%d+): (.*)$"
  M.fail(source, ("%s raised an error%s: %s"):format(name, place and (" (%s)"):format(place) or "",
    text or message))
end

-- Names a part of a problem in messages.
local function part_name(index, part)
  return ("generate: problem %d: %s"):format(index, part)
end

-- Converts a text or a list of tokens from `generate` to ids.
local function ids_of(source, what, value)
  local vocabulary = source.tokenizer
  if type(value) == "string" then
    local ids, at = vocabulary:find(value)
    if not ids then
      M.fail(source, ("%s: expected tokens of the vocabulary, got %q at index %d of %q"):format(
        what, vocabulary:shown(value, at), at, value))
    end
    return ids
  elseif type(value) ~= "table" then
    M.fail(source, ("%s: expected a text or a list of tokens, got %s"):format(what,
      options_of.shown(value)))
  end
  local ids = {}
  for i = 1, math.max(#value, tables.count(value)) do
    ids[i] = vocabulary.ids[value[i]]
    if not ids[i] then
      M.fail(source, ("%s: expected a list of tokens of the vocabulary, got %s at index %d"):format(
        what, options_of.shown(value[i]), i))
    end
  end
  local again = vocabulary:find(table.concat(value))
  if not again or table.concat(again, " ") ~= table.concat(ids, " ") then
    M.fail(source, ("%s: %q reads as other tokens than those of the list, since the longest token "
      .. "that fits is read; use tokens that differ in how they begin"):format(what,
      table.concat(value)))
  end
  return ids
end

-- Raises an error unless an answer contains the stop token exactly once, at its end.
local function check_stop(source, what, ids)
  local stop = source.tokenizer.ids[source.definition.stop]
  for i, id in ipairs(ids) do
    if (id == stop) ~= (i == #ids) then
      M.fail(source, ("%s: expected the stop token %q at its end and nowhere else, got %q"):format(
        what, source.definition.stop, source.tokenizer:text(ids)))
    end
  end
end

--- Draws a problem of a source.
---
--- Errors: the definition raises an error, uses other random numbers, leaves its vocabulary, or
--- exceeds the length of a row.
---@param source OwnSource
---@param seed integer
---@param index integer of the problem, from 0
---@return integer[] question ids
---@return integer[] answer ids
function M.draw(source, seed, index)
  local state, counter = core.random_state()
  local question, answer = M.call(source, "generate", tables.merged(source.settings),
    random.random(seed, index))
  local state_after, counter_after = core.random_state()
  if state ~= state_after or counter ~= counter_after then
    core.random_state(state, counter)
    M.fail(source, "generate: expected random numbers from its second argument only, but it used "
      .. "roper's global generator")
  end
  local length = source.settings.length
  if answer == nil then
    local row = ids_of(source, part_name(index, "the row"), question)
    if #row ~= length then
      M.fail(source, part_name(index, ("expected a question and an answer, or a row of length = %d "
        .. "tokens, got one value of %d tokens"):format(length, #row)))
    end
    question, answer = table.move(row, 1, 1, 1, {}), table.move(row, 2, length, 1, {})
  else
    question = ids_of(source, part_name(index, "the question"), question)
    answer = ids_of(source, part_name(index, "the answer"), answer)
  end
  if #question == 0 or #answer == 0 then
    M.fail(source, part_name(index, ("expected at least one token in the %s, got none"):format(
      #question == 0 and "question" or "answer")))
  elseif #question + #answer > length then
    M.fail(source, part_name(index, ("expected at most length = %d tokens, got %d; use longer rows "
      .. "or shorter problems"):format(length, #question + #answer)))
  elseif source.definition.stop then
    check_stop(source, part_name(index, "the answer"), answer)
  end
  return question, answer
end

--- Returns the positions of the tokens of a row, for a task that defines them.
---
--- Errors: `positions` does not return a finite number for each token.
---@param source OwnSource
---@param ids integer[]
---@return number[]
function M.positions(source, ids)
  local tokens = tables.map(ids, function(id) return source.tokenizer.words[id + 1] end)
  local list = M.call(source, "positions", tokens, tables.merged(source.settings))
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
    M.fail(source, ("positions: expected a list of %d finite numbers, one for each token, got %s")
      :format(#ids, got))
  end
  return list
end

return M
