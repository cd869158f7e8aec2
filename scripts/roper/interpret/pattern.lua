--- Scores of attention patterns: which distance, and which earlier token, each head attends to.
local arguments = require "roper.options.arguments"
local core = require "roper.core"
local format = require "roper.text.format"
local options_of = require "roper.options.rows"
local record = require "roper.interpret.record"
local scoped = require "roper.base.scoped"

local M = {}

-- Raises an error unless weights have a key for each query.
local function check_square(name, weights)
  if weights:size(3) ~= weights:size(4) or weights:size(3) == 0 then
    error(("%s: expected as many keys as queries, got weights [%s]"):format(name,
      table.concat(weights:shape(), ", ")), 0)
  end
end

-- The mean weight at each distance i - j from -(time - 1) to time - 1, [heads, 2 time - 1].
local function distances_of(weights)
  local batch, heads, time = table.unpack(weights:shape())
  local beside = core.zeros({ heads, time, time - 1 }, "float64")
  local padded = core.cat({ beside, weights:to("float64"):sum(1), beside }, 3)
  local width, last = 3 * time - 2, time - 1
  local by_distance = padded:as_strided({ heads, time, 2 * time - 1 },
    { time * width, width + 1, -1 }, 2 * last) -- element (h, i, d) is key i - d
  local queries = time - core.arange(-last, time, 1, "float64"):abs()
  return by_distance:sum(2) / (queries * batch)
end

--- Returns how much each head attends to each distance: the mean attention weight over the queries
--- that have a key at this distance, and over the batch.
---
---     A_d = mean over i ≥ d of a_{i, i−d}
---
--- Errors: the model computes no attention; its attentions differ in their number of heads.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2,
---     >>   position = "alibi"}
---     > tokens = roper.zeros({1, 6}, "int32")
---     > weights, distances = roper.interpret.by_distance(model, tokens)
---     > weights:shape(), distances:totable()
---     {3, 2, 6}	{0.0, 1.0, 2.0, 3.0, 4.0, 5.0}
---     > plot.heatmap(weights[1], {first_column = 0, xlabel = "distance i - j",
---     >>   ylabel = "head", width = 40, height = 4})
---     head
---       ██████▒▒▒▒▒▒░░░░░░
---     1 ██████▒▒▒▒▒▒░░░░░░
---       ██████▒▒▒▒▒▒░░░░░░░░░░░░
---     2 ██████▒▒▒▒▒▒░░░░░░░░░░░░
---          0     1     2     3     4     5
---       distance i - j
---       0.142 [    ░░░░▒▒▒▒▓▓▓▓████] 0.427
---@param model Module maps tokens to logits
---@param tokens tensor [batch, time], int32
---@param options? InterpretOptions
---@return tensor weights [layers, heads, distances], float64
---@return tensor distances [distances], i − j in tokens: 0, 1, ...; if a query attends to a later
---   key, from 1 − time
function M.by_distance(model, tokens, options)
  arguments.check("by_distance", "model", "module", model, "tokens", "tensor", tokens)
  local o = options_of.check("by_distance", options, record.OPTIONS)
  local weights = record.attentions("by_distance", model, tokens, o.positions, function(call)
    check_square("by_distance", call.weights)
    return distances_of(call.weights)
  end)
  local count = weights:size(3)
  local last = (count - 1) // 2
  local distances = core.arange(-last, last + 1, 1, "float64")
  if last == 0 or weights:narrow(3, 1, last):gt(0):sum():item() == 0 then
    return weights:narrow(3, last + 1, last + 1):contiguous(),
      distances:narrow(1, last + 1, last + 1):contiguous()
  end
  return weights, distances
end

-- The mean weight of each head at a distance, [heads], of queries from index `first` (from 0).
local function mean_at(name, weights, distance, first)
  check_square(name, weights)
  local batch, heads, time = table.unpack(weights:shape())
  local count = time - first
  return weights:to("float64"):contiguous():as_strided({ batch, heads, count },
    { heads * time * time, time * time, time + 1 }, first * (time + 1) - distance):mean { 1, 3 }
end

--- Returns the previous-token score of each head: its mean attention weight from a token to the
--- token before it (Olsson et al. 2022).
---
---     mean over i ≥ 1 of a_{i, i−1}
---
--- Errors: fewer than 2 tokens; otherwise as for `by_distance`.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > tokens = roper.tensor({{0, 3, 1, 2}}, "int32")
---     > roper.interpret.previous_token(model, tokens):shape()
---     {3, 2}
---@param model Module maps tokens to logits
---@param tokens tensor [batch, time], int32
---@param options? InterpretOptions
---@return tensor scores [layers, heads], float64, from 0 to 1
function M.previous_token(model, tokens, options)
  arguments.check("previous_token", "model", "module", model, "tokens", "tensor", tokens)
  local o = options_of.check("previous_token", options, record.OPTIONS)
  if tokens:size(-1) < 2 then
    error(("previous_token: expected at least 2 tokens, got %d"):format(tokens:size(-1)), 2)
  end
  return record.attentions("previous_token", model, tokens, o.positions, function(call)
    return mean_at("previous_token", call.weights, 1, 1)
  end)
end

--- Returns how much each head finds what comes next, if the next token repeats an earlier one: the
--- mean attention weight from a token to the earlier token that the next one repeats.
---
---     mean over tokens t with a source s_t of a_{t−1, s_t}
---
--- Errors: sources of another shape; no token with a source; otherwise as for `by_distance`.
---
---     > task = roper.tasks.copy{letters = 4, length = 24, seed = 1}
---     > model = roper.nn.Transformer{vocabulary = task:vocabulary(), d_model = 8, heads = 2}
---     > tokens = task:batch(4)
---     > nats, sources = task:explain(tokens)
---     > roper.interpret.copying(model, tokens, sources):shape()
---     {3, 2}
---@param model Module maps tokens to logits
---@param tokens tensor [batch, time], int32
---@param sources tensor [batch, time], int32, as from `task:explain`: for each token, the index,
---   from 0, of the earlier token that it repeats, or -1
---@param options? InterpretOptions
---@return tensor scores [layers, heads], float64, from 0 to 1
function M.copying(model, tokens, sources, options)
  arguments.check("copying", "model", "module", model, "tokens", "tensor", tokens, "sources",
    "tensor", sources)
  local o = options_of.check("copying", options, record.OPTIONS)
  if sources:dtype() ~= "int32" or tokens:rank() ~= 2
    or table.concat(sources:shape(), " ") ~= table.concat(tokens:shape(), " ") then
    error(("copying: sources: expected int32 %s, like the tokens, got %s"):format(
      format.summary(tokens):match "%[.*", format.summary(sources)), 2)
  end
  local batch, time = tokens:size(1), tokens:size(2)
  local source = time > 1 and sources:narrow(2, 2, time - 1):unsqueeze(2):unsqueeze(4) or sources
  local has_source = source:ge(0)
  if time < 2 or not has_source:any() then
    error("copying: sources: expected a token that repeats an earlier one, got none", 2)
  elseif source:max():item() >= time then
    error(("copying: sources: expected indices from -1 to %d, got %d"):format(time - 1,
      source:max():item()), 2)
  end
  local count = has_source:sum():item()
  return record.attentions("copying", model, tokens, o.positions, function(call)
    check_square("copying", call.weights)
    local heads = call.weights:size(2)
    local index = (source:maximum(0) + 1):expand { batch, heads, time - 1, 1 }
    local weights = call.weights:narrow(3, 1, time - 1):to("float64"):gather(4, index)
    return (weights * has_source:to "float64"):sum { 1, 3, 4 } / count
  end)
end

local INDUCTION <const> = options_of.define("InductionOptions", {
  { "length", "size?", nil, "tokens that are repeated; by default at most 50" },
  { "batch", "size", 16, "number of sequences" },
  { "seed", "integer", 1, "of the random tokens" },
  { "ids", "table?", nil, "distinct token ids to draw from; by default all", type = "integer[]" },
})

-- The ids to draw from as a tensor; an id in the list twice would not be a distinct token.
local function ids_of(list)
  local seen = {}
  for i, id in ipairs(list) do
    if math.type(id) ~= "integer" or id < 0 or seen[id] then
      error(("induction: ids: expected distinct token ids, got %s%s as element %d"):format(
        options_of.shown(id), seen[id] and " again" or "", i), 0)
    end
    seen[id] = true
  end
  return core.tensor(list, "int32")
end

-- The number of token ids of a model.
local function vocabulary_of(model)
  for _, entry in ipairs(model:named_modules()) do
    if getmetatable(entry.module).name == "Embedding" then
      return entry.module.weight:size(1)
    end
  end
  error("induction: expected a model with an Embedding, or the option ids", 0)
end

--- Returns the induction score of each head. On a sequence of random tokens that is repeated once,
--- it is the mean attention weight from each token of the repetition to the token after its earlier
--- occurrence, the prefix-matching score of Olsson et al. (2022). The tokens of a sequence are
--- distinct, so each has one earlier occurrence.
---
--- Expect a score near 1 only in a model that continues any repeated text. A model that was trained
--- on one task can copy there and have scores near 0 here, because these sequences are unlike those
--- of its task: other lengths, no separators. `copying` measures it on the task.
---
---     mean over n ≤ i < 2n of a_{i, i−n+1}
---
--- Errors: fewer token ids than `length`; otherwise as for `by_distance`.
---
---     > model = roper.nn.Transformer{vocabulary = 9, d_model = 8, heads = 2}
---     > roper.interpret.induction(model, {length = 5, batch = 2}):shape()
---     {3, 2}
---@param model Module maps tokens to logits
---@param options? InductionOptions
---@return tensor scores [layers, heads], float64, from 0 to 1
function M.induction(model, options)
  arguments.check("induction", "model", "module", model)
  local o = options_of.check("induction", options, INDUCTION)
  local ids = o.ids and ids_of(o.ids)
    or core.arange(0, vocabulary_of(model), 1, "int32")
  local longest = type(model.options) == "table" and model.options.length or math.huge
  local length = o.length or math.min(50, ids:size(1), math.tointeger(longest // 2) or 50)
  if length > ids:size(1) or length < 2 then
    error(("induction: length: expected from 2 to %d, the number of token ids, got %d"):format(
      ids:size(1), length), 2)
  end
  local order = scoped.with_seed(o.seed, function()
    return core.rand { o.batch, ids:size(1) }
  end):argsort(2):narrow(2, 1, length)
  local tokens = ids:unsqueeze(1):expand { o.batch, ids:size(1) }:gather(2, order)
  return record.attentions("induction", model, core.cat({ tokens, tokens }, 2), nil, function(call)
    return mean_at("induction", call.weights, length - 1, length)
  end)
end

return M
