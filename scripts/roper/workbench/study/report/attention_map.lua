--- Attention weights of a head of a trained model on the answer to one problem.
local evaluation = require "roper.training.evaluation"
local tables = require "roper.base.tables"

local M = {}

local PROBLEM_SEED <const> = 2000003

-- Default maximum of the option `problem`.
local MOST_PROBLEMS <const> = 128

-- Maximum number of answer tokens in a map.
local MOST_ROWS <const> = 48

-- The smallest distance that counts. Weights below it show neighbours, not the source of an answer.
local NEAREST <const> = 2

-- By default, the problem with the longest answer among this many is shown.
local PROBLEMS <const> = 8

--- Draws a fresh problem of a task.
---@param task task its own stream does not change
---@param number integer? from 1; by default the one of the first 8 with the longest answer
---@return string question
---@return string answer
function M.problem(task, number)
  local fresh = evaluation.fresh(task, PROBLEM_SEED)
  local question, answer
  for i = 1, number or PROBLEMS do
    local asked, right = fresh:question()
    if i == number or not number and (not answer or #right > #answer) then
      question, answer = asked, right
    end
  end
  return question, answer
end

-- Returns the distance with the largest mean weight over the rows, and this weight.
local function stripe(rows)
  local sums, best, most = {}, NEAREST, 0
  for _, row in ipairs(rows) do
    for distance, weight in pairs(row.weights) do
      sums[distance] = (sums[distance] or 0) + weight
    end
  end
  for distance, sum in pairs(sums) do
    if distance >= NEAREST and (sum > most or sum == most and distance < best) then
      best, most = distance, sum
    end
  end
  return best, most / #rows
end

-- Returns the tokens of a text, as texts.
local function tokens_of(task, ids)
  return tables.map(ids:totable(), function(id) return task:decode { id } end)
end

-- Returns the rows of one head from its weights [queries][keys] and the tokens that the queries
-- predict. The first query is at position `first`.
local function rows_of(weights, first, predicted)
  local rows = {}
  for i, keys in ipairs(weights) do
    local position, by_distance = first + i - 1, {}
    for j = 1, position + 1 do
      by_distance[position - (j - 1)] = keys[j]
    end
    rows[i] = { position = position, predicted = predicted[i],
      weights = by_distance }
  end
  return rows
end

-- Raises an error unless a value is nil or an integer from 1 to `most`.
local function check(name, value, most)
  if value ~= nil and (math.type(value) ~= "integer" or value < 1 or value > most) then
    error(("report: %s: expected an integer from 1 to %d, got %s"):format(name, most,
      tostring(value)), 0)
  end
end

--- Returns the map of one head on one problem. The default is the head with the largest mean weight
--- at one relative distance of 2 or more.
---@param model Transformer
---@param task task
---@param options table? layer, head: from 1; problem: as for `problem`, up to problems = 128
---@return table map question, answer, tokens, layer, head; rows: for each token of the answer
---   {position of the token that predicts it, from 0; predicted: the token; weights: by distance,
---   0 = itself}; distance with the largest mean weight; share: this weight
function M.of(model, task, options)
  local o = options or {}
  if type(model.layers) ~= "table" or type(model.layers[1]) ~= "table"
    or type(model.layers[1].attention) ~= "table" then
    error(("report: attention maps need a model with layers[1].attention, as Transformer has, got "
      .. "a model of the class %s"):format(getmetatable(model).name), 0)
  end
  check("layer", o.layer, #model.layers)
  check("head", o.head, model.layers[1].attention.heads)
  check("problem", o.problem, o.problems or MOST_PROBLEMS)
  local question, answer = M.problem(task, o.problem)
  local asked, whole = task:encode(question):count(), task:encode(question .. answer)
  local predicted = tokens_of(task, whole:narrow(1, asked + 1, whole:count() - asked))
  if task:targets(whole:unsqueeze(1)) then -- each token has a target; none follows
    asked, whole = 1, task:encode(question)
  end
  local count = math.min(#predicted, MOST_ROWS)
  local tokens, texts = whole:unsqueeze(1), tokens_of(task, whole)
  local trace = model:trace(tokens, nil, task:positions(tokens))
  local best
  for i = o.layer or 1, o.layer or #model.layers do
    local weights = trace[("layers.%d.attention.weights"):format(i)]
      :narrow(3, asked, count):contiguous():totable()[1]
    for head = o.head or 1, o.head or #weights do
      local rows = rows_of(weights[head], asked - 1, predicted)
      local distance, share = stripe(rows)
      if not best or share > best.share then
        best = { layer = i, head = head, rows = rows, distance = distance, share = share }
      end
    end
  end
  best.question, best.answer, best.tokens = question, answer, texts
  return best
end

return M
