--- The check of a new task in Lua, before anything is trained on it.
local hash = require "roper.base.hash"
local numbers = require "roper.text.format.number"
local options_of = require "roper.options.rows"
local problems = require "roper.tasks.own.problem"
local tables = require "roper.base.tables"

local M = {}

local fail = problems.fail

-- Problems that are drawn twice.
local CHECKED <const> = 16

-- Tokens of an answer that arrive one by one in the check of positions.
local MOST_ARRIVED <const> = 24

-- Raises an error if a position depends on later tokens: generation computes positions as tokens
-- arrive.
local function check_positions(source, question, answer)
  local ids = tables.joined(question, answer)
  local whole = problems.positions(source, ids)
  for count = #question, math.min(#ids, #question + MOST_ARRIVED) do
    local now = problems.positions(source, table.move(ids, 1, count, 1, {}))
    for i = count == #question and 1 or count, count do
      if now[i] ~= whole[i] then
        fail(source, ("positions: expected positions that do not depend on later tokens, got %s "
          .. "for token %d of %q, but %s before the tokens after token %d arrive"):format(
          numbers.exact(whole[i]), i, source.tokenizer:text(ids), numbers.exact(now[i]), count))
      end
    end
  end
end

-- Raises an error unless the functions of the definition agree about a problem.
local function check_problem(source, question, answer)
  local definition, tokenizer = source.definition, source.tokenizer
  local asked, right = tokenizer:text(question), tokenizer:text(answer)
  source.answers[asked] = right
  if definition.answer then
    local found = problems.call(source, "answer", asked, tables.merged(source.settings))
    if not definition.grade and found ~= right then
      fail(source, ("answer: expected %q, which generate returns for %q, got %s"):format(right,
        asked, options_of.shown(found)))
    end
  end
  if not source:grade(asked, right) then
    fail(source, ("grade: expected true for %q, which generate returns for %q, got false"):format(
      right, asked))
  end
  if definition.positions then
    check_positions(source, question, answer)
  end
end

--- Raises an error unless the definition of a new task gives valid problems, and the same ones if
--- they are drawn again.
---@param source OwnSource
---@return string digits a hash of these problems
function M.check(source)
  local size, texts = nil, {}
  for index = 0, CHECKED - 1 do
    local question, answer = problems.draw(source, source.settings.seed, index)
    local question_again, answer_again = problems.draw(source, source.settings.seed, index)
    local first = source.tokenizer:text(tables.joined(question, answer))
    local second = source.tokenizer:text(tables.joined(question_again, answer_again))
    if first ~= second then
      fail(source, ("generate: expected the same problem for the same seed, got %q, then %q; use "
        .. "the random numbers of its second argument, not math.random, and keep no state"):format(
        first, second))
    end
    size, texts[#texts + 1] = size or #answer, first
    if #answer ~= size and not source.definition.stop and not source.definition.grade then
      fail(source, ("generate: expected answers of one length, or a definition with stop, got "
        .. "answers of %d and %d tokens"):format(size, #answer))
    end
    check_problem(source, question, answer)
  end
  source.answers = {}
  source:floor()
  return hash.of(table.concat(texts, "\n"))
end

return M
