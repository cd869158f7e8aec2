--- The fields of an experiment: what each is called, takes and means.
local options_of = require "roper.base.options"
local position = require "roper.workbench.study.experiment.position"
local tasks = require "roper.tasks"

local M = {}

---@class Field
---@field [1] string name
---@field [2] string|table kind: "letters" (of qkvo), "scheme" (of positions), "switch" (true or
---   false), or one as options have it
---@field [3] any value when nothing else is said; false: not set
---@field [4] string meaning
---@field [5] any what not being set stands for; where it is given, the field is not set
---@field required? boolean

---@type Field[]
local COMMON <const> = {
  { "position", "scheme", "roper", position.meaning() },
  { "rotate", "letters", false, "letters of qkvo that turn, instead of the scheme's own" },
  { "pairing", { "half", "interleaved" }, "half", "which features turn together" },
  { "base", "amount", 10000, "of the frequencies" },
  { "fraction", "share", 1, "of the features of queries and keys that turn" },
  { "value_fraction", "share", 1, "of the features of values and output that turn" },
  { "d_model", "size", 128, "features of a token" },
  { "layers", "size", 3, "transformer layers" },
  { "heads", "size", 4, "attention heads" },
  { "d_ff", "size", false, "features inside the feed-forward, instead of four times d_model" },
  { "norm", { "pre", "post" }, "pre", "layer norm before (pre) or after (post) each part" },
  { "rms_norm", "switch", false, "RMSNorm instead of layer norm" },
  { "activation", { "relu", "gelu", "swiglu" }, "relu", "of the feed-forward" },
  { "tied_embeddings", "switch", false, "one matrix for the embedding and the logits" },
  { "dropout", "probability", 0, "chance that an activation is left out in training" },
  { "matmul_precision", { "float32", "bfloat16" }, false,
    "what operands of matrix products are rounded to", "float32" },
  { "length", "size", 161, "tokens of a sequence" },
  { "batch", "size", 32, "sequences a step" },
  { "accumulate", "size", false, "parts that a batch goes through in, one by one, to save memory" },
  { "recompute", "switch", false, "compute activations again in backward, to save memory" },
  { "steps", "size", 1000, "training steps" },
  { "rate", "amount", 2.5e-4, "learning rate of Adam" },
  { "warmup", "amount", 0, "steps over which the rate rises" },
  { "cosine", "share", false, "of the rate at the last step: it falls along half a cosine" },
  { "decay", "amount", false,
    "weight decay of weights and embeddings, not of gains, biases and tables of position schemes" },
  { "clip", "amount", 0, "most for the norm of the gradient; 0 clips nothing" },
  { "evaluate_every", "size", 100, "steps between measures" },
  { "checkpoint_every", "size", 500, "steps between checkpoints" },
  { "problems", "size", 128, "problems asked at the end" },
  { "test_sequences", "size", 512, "sequences that the measures at the end are over" },
  { "seed", "integer", 1, "of the model, the batches and the draws" },
}

--- The fields of experiments on a task: those of all, but for `problems` where it poses none, then
--- the task's own options.
---@param task string
---@return Field[]
function M.of(task)
  local list, places = {}, {}
  for _, field in ipairs(COMMON) do
    if field[1] ~= "problems" or tasks.has_problems(task) then
      list[#list + 1] = field
      places[field[1]] = #list
    end
  end
  for _, option in ipairs(tasks.options(task)) do
    local kind = option.kind == "any" and "string" or option.kind -- a configuration is flat
    kind = kind or option.smallest
      and { smallest = option.smallest, largest = option.largest } or "switch"
    local place = places[option.name]
    if not place then
      list[#list + 1] = { option.name, kind, option.standard or false, option.meaning,
        required = option.required }
    elseif option.name ~= "seed" then
      list[place] = { option.name, kind, list[place][3], list[place][4] }
    end
  end
  return list
end

-- Letters of qkvo, each at most once.
local function are_letters(value)
  local seen, fits = {}, type(value) == "string" and value:match "^[qkvo]*$"
  for letter in (fits or ""):gmatch "." do
    fits = fits and not seen[letter]
    seen[letter] = true
  end
  return fits
end

--- A given value as a field takes it: numbers and switches also as text.
---@param field Field
---@param value any
---@return any
function M.convert(field, value)
  local name, kind = field[1], field[2]
  local is_choice, result, expected = kind[1] ~= nil, value
  local names, wrong = is_choice and kind, value
  if kind == "letters" then
    expected = not are_letters(value) and "letters of qkvo, each at most once" or nil
  elseif kind == "scheme" then
    names, wrong = position.names(), position.missing(value)
    expected = wrong and "one of " .. table.concat(names, ", ")
  elseif kind == "switch" then
    result = value == "true" or value ~= "false" and value
    expected = type(result) ~= "boolean" and "true or false" or nil
  else
    if not is_choice and kind ~= "string" then
      local number = tonumber(value)
      result = number and math.tointeger(number) or number
    end
    expected = options_of.mismatch(kind, result)
  end
  if expected then
    local hint = names and type(value) == "string"
      and require("roper.base.suggest").hint(wrong, names)
    error(("field %s: expected %s, got %s%s"):format(name, expected, tostring(value), hint or ""),
      0)
  end
  if result == field[5] then
    return false
  end
  return result
end

--- The fields of all experiments where nothing is said.
---@return table<string, any>
function M.standards()
  local result = {}
  for _, field in ipairs(COMMON) do
    result[field[1]] = field[3]
  end
  return result
end

--- The values of a field that has a list of them.
---@param field Field
---@return string[] values none for others
function M.choices(field)
  local kind = field[2]
  if kind == "scheme" then
    return position.names()
  elseif kind == "switch" then
    return { "false", "true" }
  end
  return type(kind) == "table" and kind[1] and kind or {}
end

--- What a field takes that has a list of choices or a range.
---@param field Field
---@return string? nil for others
function M.takes(field)
  local kind, choices = field[2], M.choices(field)
  if choices[1] then
    return table.concat(choices, ", ")
  end
  return type(kind) == "table" and ("%d to %d"):format(kind.smallest, kind.largest) or nil
end

return M
