--- Sampling from a model: completes a batch of prompts, with a key/value cache.
local arguments = require "roper.options.arguments"
local bfloat16_weights = require "roper.model.bfloat16_weights"
local core = require "roper.core"
local diagnostics = require "roper.text.diagnostics"
local modules = require "roper.model.module"
local scoped = require "roper.base.scoped"
local options_of = require "roper.options.rows"
local position = require "roper.position"
local schemes = require "roper.position.scheme"
local tables = require "roper.base.tables"
local traverse = require "roper.model.traverse"

local M = {}

--- Samples one token id for each row of logits. Temperature 0 takes the most likely token.
---@param logits tensor [batch, vocabulary]
---@param temperature number at least 0
---@return tensor int32 [batch, 1]
function M.sample(logits, temperature)
  local largest = logits:max(2, true)
  if (largest - largest):ne(0):sum():item() > 0 then
    error("generate: expected finite logits, got infinity or NaN from the model", 0)
  elseif temperature == 0 then
    return logits:argmax(2, true) - 1
  end
  -- The first index at which the cumulative probability exceeds a uniform draw. Subtracting the
  -- largest logit prevents overflow at temperatures near 0.
  local sums = ((logits - largest):to("float64") / temperature):softmax(2):cumsum(2)
  local draw = core.rand({ logits:size(1), 1 }, "float64") * sums:narrow(2, logits:size(2), 1)
  return sums:le(draw):sum(2, true):to("int32"):minimum(logits:size(2) - 1)
end

-- Returns the token ids of each prompt, their counts, and the largest count.
local function encode(prompts, task)
  local rows, lengths, longest = {}, {}, 0
  for i, prompt in ipairs(prompts) do
    arguments.check("generate", "prompts: element " .. i, "string", prompt)
    rows[i] = task:encode(prompt)
    lengths[i] = rows[i]:count()
    if lengths[i] == 0 then
      error(("generate: prompt %d is empty"):format(i), 0)
    end
    longest = math.max(longest, lengths[i])
  end
  return rows, lengths, longest
end

-- Joins rows into one tensor [batch, longest], padded on the left with 0.
local function pad(rows, longest)
  local all = core.zeros({ #rows, longest }, rows[1]:dtype())
  for i, row in ipairs(rows) do
    all[{ i, { longest - row:count() + 1, longest } }] = row
  end
  return all
end

-- Returns the task's positions of the last `count` tokens of each row, [batch, count], padded on
-- the left; nil if positions are just indices.
local function positions_of(task, rows, count)
  local all = {}
  for i, row in ipairs(rows) do
    local positions = task:positions(row:unsqueeze(1))
    if not positions then
      return nil
    end
    local shown = math.min(count, row:count())
    all[i] = positions:squeeze(1):narrow(1, row:count() - shown + 1, shown)
  end
  return pad(all, count)
end

-- Returns the logits of the token after the last one, [batch, vocabulary], from [batch, time,
-- vocabulary].
local function last(logits)
  return logits:narrow(2, logits:size(2), 1):squeeze(2)
end

-- Joins pieces [batch, time] along time and returns the selected rows without their first `hidden`
-- columns.
local function rows_of(pieces, indices, hidden)
  local all, rows = core.cat(pieces, 2), {}
  for i, index in ipairs(indices) do
    rows[i] = all:narrow(1, index, 1)
  end
  return core.cat(rows, 1):narrow(2, hidden + 1, all:size(2) - hidden)
end

-- Returns the logits of the token after the last one, computed by forward passes over whole
-- sequences. Prompts are grouped by length, so a model never sees padding.
local function whole_forward(model, lengths, tokens, positions)
  local groups, logits, longest = {}, {}, tokens[1]:size(2)
  for i, length in ipairs(lengths) do
    groups[length] = groups[length] or {}
    table.insert(groups[length], i)
  end
  for length, indices in pairs(groups) do
    local hidden = longest - length
    local found = last(modules.logits(model, rows_of(tokens, indices, hidden), nil,
      positions[1] and rows_of(positions, indices, hidden)))
    for j, index in ipairs(indices) do
      logits[index] = found:narrow(1, j, 1)
    end
  end
  return core.cat(logits, 1)
end

-- The maximum number of rows of a forward pass that predicts targets.
local TARGET_ROWS <const> = 32

-- Returns a text for each row, the targets of its tokens, at most `o.limit`, for a task whose
-- targets are not its tokens. Rows of the same length share forward passes.
local function sampled_targets(model, rows, lengths, o)
  local texts, words, first = {}, o.task:vocabulary(), 1
  while first <= #rows do
    local stop = first
    while stop <= #rows and stop < first + TARGET_ROWS and lengths[stop] == lengths[first] do
      stop = stop + 1
    end
    local tokens = core.cat(table.move(rows, first, stop - 1, 1, {}), 1)
      :view { stop - first, lengths[first] }
    local logits = modules.logits(model, tokens, nil, o.task:positions(tokens))
    local count = math.min(o.limit or lengths[first], lengths[first])
    logits = logits:narrow(2, 1, count):contiguous()
    local ids = M.sample(logits:view { -1, logits:size(3) }, o.temperature)
    for i, row in ipairs(ids:view { stop - first, count }:totable()) do
      texts[first + i - 1] = table.concat(tables.map(row, function(id)
        return words[id + 1]
          or error(("generate: expected tokens from 0 to %d, as in the task, got %d from the model")
            :format(#words - 1, id), 0)
      end))
    end
    first = stop
  end
  return texts
end

local warned = setmetatable({}, { __mode = "k" }) -- models

local function warn_once(model, reason)
  if not warned[model] then
    warned[model] = true
    io.stderr:write("generate: ", reason, ": each token needs a full forward pass\n")
  end
end

-- Returns the name of a position scheme of the model that is not built in; nil if there is none.
-- Tests do not hold that it works with a cache.
local function own_scheme(model)
  local found
  traverse.walk(model, function(_, value)
    local is_own = schemes.is_scheme(value) and not position.is_built_in(value.name)
    found = found or is_own and value.name or nil
  end)
  return found
end

-- The texts that decide whether a scheme can use a cache: the lengths of two prompts, and the
-- number of tokens that follow. They do not depend on the prompts of a call, so that a completion
-- does not depend on the rest of its batch.
local PROBE <const>, PROBE_STEPS <const> = { 5, 2 }, 3

-- The tokens of a text for the probe.
local function probe_row(seed, length, vocabulary)
  local ids = {}
  for t = 1, length do
    ids[t] = (7 * t * t + 5 * seed) % vocabulary
  end
  return core.tensor(ids, "int32")
end

-- Returns true if logits computed with a cache are those of whole passes, except for rounding.
local function agrees_with_cache(model, task)
  local vocabulary, longest = #task:vocabulary(), PROBE[1]
  local cache = model:cache { batch = #PROBE, length = longest + PROBE_STEPS, lengths = PROBE }
  local rounding = core.matmul_precision() == "bfloat16" and 0.05 or 1e-3
  for step = 0, PROBE_STEPS do
    local rows = tables.map(PROBE, function(length, i)
      return probe_row(i, length + step, vocabulary)
    end)
    local new, count = step == 0 and longest or 1, longest + step
    local cached = last(modules.logits(model, pad(rows, count):narrow(2, count - new + 1, new),
      cache, positions_of(task, rows, new)))
    if not cache:holds(count) then
      return true -- its attention does not use the cache, which the first pass finds out
    end
    for i, row in ipairs(rows) do
      local tokens = row:unsqueeze(1)
      local whole = last(modules.logits(model, tokens, nil, task:positions(tokens)))
      local difference = (cached:narrow(1, i, 1) - whole):abs():max():item()
      if difference > rounding * (1 + whole:abs():max():item()) then
        return false -- not for NaN, which sampling refuses
      end
    end
  end
  return true
end

-- Returns true if the position scheme `own` of a model can use a cache.
local function can_cache(model, task, own)
  local ok, agrees = pcall(agrees_with_cache, model, task)
  if not ok and diagnostics.is_transient(agrees) then
    error(agrees, 0)
  elseif not (ok and agrees) then
    warn_once(model, ("the position scheme %s cannot use a cache"):format(own))
  end
  return ok and agrees
end

M.LIMIT = 256 -- new tokens by default

local OPTIONS <const> = options_of.define("GenerateOptions", {
  { "task", "task", nil,
    "encodes the prompts and supplies vocabulary and positions. Positions are computed as "
      .. "tokens arrive, so a prompt must contain its whole question" },
  { "stop", "any?", nil,
    "text that ends a completion, false for none; by default the stop sign of the task",
    type = "string|false" },
  { "limit", "size?", nil, "maximum number of new tokens, by default 256; for a task with targets, "
      .. "of the predicted ones, by default as many as the prompt has tokens" },
  { "temperature", "amount", 1, "0 takes the most likely token" },
  { "weights", { "float32", "bfloat16" }, "float32",
    "of linear maps while tokens are generated; bfloat16 (8 significant bits) halves the memory "
      .. "that is read for each token, which takes most of the time with large models" },
  { "seed", "integer?", nil, "of the random draws; by default the current random state" },
  { "cache", "boolean", true,
    "keep keys and values, which is faster. If the model has no cache, or its attention or its "
      .. "position scheme cannot use it, generation prints a note once and continues without" },
})

--- Completes a batch of prompts, using a key/value cache.
---
---     pᵢ = softmax(logits / temperature)ᵢ
---
--- For a task with targets (`task:targets`), the texts are instead the predicted target of each
--- token of a prompt, from one forward pass.
---
--- Errors: a prompt is empty or has a character outside the vocabulary; the model returns a token
--- that the task does not have, or logits of the wrong shape or that are not finite.
---
---     > task = roper.tasks.addition{max_digits = 2, length = 40, seed = 1}
---     > words = task:vocabulary()
---     > model = roper.nn.Transformer{vocabulary = words, d_model = 16, heads = 2}
---     > texts = roper.generate(model, {"?d=1+2;", "?"}, {task = task, limit = 5})
---     > #texts, #texts[1] <= 5
---     2	true
---@param model Module maps tokens to logits (`roper.nn.class`)
---@param prompts string[] not empty; they may differ in length
---@param options GenerateOptions
---@return string[] texts the completions without their prompts, up to and including the stop sign
function M.generate(model, prompts, options)
  local o = options_of.check("generate", options, OPTIONS)
  if not traverse.is_module(model) then
    error("generate: expected a model, got " .. modules.kind_of(model), 2)
  elseif type(prompts) ~= "table" or prompts[1] == nil then
    error("generate: expected a list of prompts, got "
      .. (type(prompts) == "table" and "an empty one" or tostring(prompts)), 2)
  end
  local stop = o.stop
  if stop == nil then
    stop = o.task:stop()
  elseif stop and (type(stop) ~= "string" or stop == "") then
    error("generate: stop: expected a text, or false for none, got "
      .. (stop == "" and '""' or tostring(stop)), 2)
  end
  local function complete()
    return scoped.without_training(model, function()
      return M.run(model, prompts, o, stop)
    end)
  end
  local function run()
    return o.seed and scoped.with_seed(o.seed, complete) or complete()
  end
  return o.weights == "bfloat16" and bfloat16_weights.during(model, run) or run()
end

-- Returns the index of the last character of the first stop sign that ends after the first `length`
-- characters of a text; nil if there is none.
local function stop_in(text, stop, length)
  return (select(2, text:find(stop, math.max(1, length - #stop + 2), true)))
end

--- Runs the loop of `generate` with checked options.
function M.run(model, prompts, o, stop)
  local rows, lengths, longest = encode(prompts, o.task)
  if o.task:targets(rows[1]:unsqueeze(1)) then
    return sampled_targets(model, rows, lengths, o)
  end
  local batch, limit = #rows, o.limit or M.LIMIT
  -- the prompts, then the tokens of each step, [batch, 1]
  local tokens = { pad(rows, longest) }
  local positions = { positions_of(o.task, rows, longest) }
  local own, cache = own_scheme(model), nil
  local has_cache = o.cache and model.cache
  if has_cache and (not own or can_cache(model, o.task, own)) then
    cache = model:cache { batch = batch, length = longest + limit, lengths = lengths }
    has_cache = cache
  end
  if o.cache and not has_cache then
    warn_once(model, "this model has no cache")
  end
  local function next_logits()
    local logits = cache and modules.logits(model, tokens[#tokens], cache, positions[#tokens])
    if cache and not cache:holds(longest + #tokens - 1) then
      cache = nil
      warn_once(model, "the attention of this model does not use its cache")
    end
    return cache and last(logits) or whole_forward(model, lengths, tokens, positions)
  end
  local texts, whole, open = {}, table.move(rows, 1, batch, 1, {}), batch
  local done, words = {}, o.task:vocabulary()
  for i = 1, batch do
    texts[i] = ""
  end
  for step = 1, limit do
    local drawn = M.sample(next_logits(), o.temperature)
    local ids = drawn:view { -1 }:totable()
    for i = 1, batch do
      if not done[i] then
        local word = words[ids[i] + 1]
          or error(("generate: expected tokens from 0 to %d, as in the task, got %d from the model")
            :format(#words - 1, ids[i]), 0)
        local length = #texts[i]
        texts[i] = texts[i] .. word
        whole[i] = positions[1] and core.cat { whole[i], drawn[i] }
        local stopped = stop and stop_in(texts[i], stop, length)
        if stopped then
          texts[i] = texts[i]:sub(1, stopped)
          done[i] = true
          open = open - 1
        end
      end
    end
    if open == 0 then
      break
    end
    tokens[step + 1] = drawn
    positions[step + 1] = positions[1] and positions_of(o.task, whole, 1)
  end
  return texts
end

return M
