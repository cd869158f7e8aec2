--- Sampling from a model: many prompts at once, with a cache of keys and values.
local core = require "roper.core"
local aside = require "roper.aside"
local options_of = require "roper.options"

local M = {}

--- One token id for each row of logits, drawn with a temperature; 0 takes the most likely.
---@param logits tensor [batch, vocabulary]
---@param temperature number from 0 on
---@return tensor int32 [batch, 1]
function M.sample(logits, temperature)
  local largest = logits:max(2, true)
  if (largest - largest):ne(0):sum():item() > 0 then
    error("generate: expected finite logits; the model gives infinite ones or NaN", 0)
  elseif temperature == 0 then
    return logits:argmax(2, true) - 1
  end
  -- The first place where the running sum of probabilities passes a uniform draw. Without the
  -- largest logit, a temperature near 0 can not overflow.
  local sums = ((logits - largest):to("float64") / temperature):softmax(2):cumsum(2)
  local draw = core.rand({ logits:size(1), 1 }, "float64") * sums:narrow(2, logits:size(2), 1)
  return sums:le(draw):sum(2, true):to("int32"):minimum(logits:size(2) - 1)
end

-- Prompts as ids padded at the left to the longest, and their lengths.
local function pad(prompts, task)
  local rows, lengths, longest = {}, {}, 0
  for i, prompt in ipairs(prompts) do
    rows[i] = task:encode(prompt)
    lengths[i] = rows[i]:count()
    if lengths[i] == 0 then
      error(("generate: prompt %d is empty"):format(i), 0)
    end
    longest = math.max(longest, lengths[i])
  end
  local tokens = core.zeros({ #rows, longest }, "int32")
  for i, row in ipairs(rows) do
    tokens[{ i, { longest - lengths[i] + 1, longest } }] = row
  end
  return tokens, lengths
end

-- Logits by a forward pass over everything so far: prompts of these lengths and what followed.
local function full_forward(model, tokens, lengths)
  local cache = model:cache { batch = tokens:size(1), length = tokens:size(2), lengths = lengths }
  return model(tokens, cache)
end

---@class GenerateOptions
---@field task task encodes and decodes
---@field stop? string|false ends a completion; by default the stop sign of the task
---@field most? integer = 256; new tokens
---@field temperature? number = 1; 0 takes the likeliest
---@field seed? integer of the draws; by default the generator goes on
---@field cache? boolean = true; keep keys and values, which is faster

--- Complete prompts, many at once, with a cache of keys and values.
---
---     pᵢ = softmax(logits / temperature)ᵢ
---
--- Errors: an empty prompt, a character outside the vocabulary, logits that are not finite.
---
---     > task = roper.tasks.addition{max_digits = 2, length = 40, seed = 1}
---     > words = task:vocabulary()
---     > model = roper.nn.Transformer{vocabulary = words, d_model = 16, heads = 2}
---     > texts = roper.generate(model, {"?d=1+2;", "?"}, {task = task, most = 5})
---     > #texts, #texts[1] <= 5
---     2	true
---@param model Transformer
---@param prompts string[] of any lengths from 1 on
---@param options GenerateOptions
---@return string[] texts without their prompts, each to its stop sign included
function M.generate(model, prompts, options)
  local o = options_of.check("generate", options, { task = "task", stop = "any?",
    most = { "size", 256 }, temperature = { "number", 1 }, seed = "integer?",
    cache = { "boolean", true } })
  if o.temperature < 0 then
    error(("generate: temperature: expected a number from 0 on, got %g"):format(o.temperature), 2)
  end
  if type(model) ~= "table" then
    error("generate: expected a model, got " .. type(model), 2)
  elseif type(prompts) ~= "table" or #prompts == 0 then
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
    return aside.without_training(model, function()
      return M.run(model, prompts, o, stop)
    end)
  end
  if o.seed then
    return aside.with_seed(o.seed, complete)
  end
  return complete()
end

--- The loop of `generate`, with checked options.
function M.run(model, prompts, o, stop)
  local tokens, lengths = pad(prompts, o.task)
  local batch, longest = tokens:size(1), tokens:size(2)
  local cache = o.cache
    and model:cache { batch = batch, length = longest + o.most, lengths = lengths }
  local logits = cache and model(tokens, cache) or full_forward(model, tokens, lengths)
  local texts, open = {}, batch
  local done = {}
  for i = 1, batch do
    texts[i] = ""
  end
  for step = 1, o.most do
    local next_tokens = M.sample(logits:narrow(2, logits:size(2), 1):squeeze(2), o.temperature)
    local text = o.task:decode(next_tokens:view { -1 })
    for i = 1, batch do
      if not done[i] then
        texts[i] = texts[i] .. text:sub(i, i)
        if stop and texts[i]:sub(-#stop) == stop then
          done[i] = true
          open = open - 1
        end
      end
    end
    if open == 0 or step == o.most then
      break
    end
    if cache then
      logits = model(next_tokens, cache)
    else
      tokens = core.cat({ tokens, next_tokens }, 2)
      logits = full_forward(model, tokens, lengths)
    end
  end
  return texts
end

return M
