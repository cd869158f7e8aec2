--- The fields of an experiment: what each is called, takes and means.
local core = require "roper.core"
local mutants = require "roper.study.experiment.mutants"
local position = require "roper.position"
local tables = require "roper.base.tables"

local M = {}

local POSITIONS <const>, meaning = position.list(), "scheme"
for _, name in ipairs(tables.keys(mutants)) do
  POSITIONS[#POSITIONS + 1] = name
  meaning = ("%s; %s is a mutant: %s"):format(meaning, name, mutants[name].summary)
end

---@class Field
---@field [1] string name
---@field [2] string|table kind: "number" (finite, from 0 on), "integer", "size" (a whole number
---   from 1 on), "share" (from 0 to 1), "probability" (from 0 to below 1), "letters" (of qkvo), a
---   list of choices, or {smallest =, largest =} of a whole number
---@field [3] any value when nothing else is said; false: not set
---@field [4] string meaning

---@type Field[]
local COMMON <const> = {
  { "position", POSITIONS, "roper", meaning },
  { "rotate", "letters", false, "letters of qkvo that turn, instead of the scheme's own" },
  { "pairing", { "half", "interleaved" }, "half", "which features turn together" },
  { "base", "number", 10000, "of the frequencies" },
  { "fraction", "share", 1, "of the features of queries and keys that turn" },
  { "value_fraction", "share", 1, "of the features of values and output that turn" },
  { "d_model", "size", 128, "features of a token" },
  { "layers", "size", 3, "transformer layers" },
  { "heads", "size", 4, "attention heads" },
  { "d_ff", "size", false, "features inside the feed-forward, instead of four times d_model" },
  { "norm", { "pre", "post" }, "pre", "layer norm before (pre) or after (post) each part" },
  { "activation", { "relu", "gelu" }, "relu", "of the feed-forward" },
  { "dropout", "probability", 0, "chance that an activation is left out in training" },
  { "length", "size", 161, "tokens of a sequence" },
  { "batch", "size", 32, "sequences a step" },
  { "steps", "size", 1000, "training steps" },
  { "rate", "number", 2.5e-4, "learning rate of Adam" },
  { "warmup", "number", 0, "steps over which the rate rises" },
  { "clip", "number", 0, "most for the norm of the gradient; 0 clips nothing" },
  { "evaluate_every", "size", 100, "steps between measures of accuracy on answers" },
  { "checkpoint_every", "size", 500, "steps between checkpoints" },
  { "problems", "size", 128, "problems asked at the end" },
  { "test_sequences", "size", 512, "sequences that loss and accuracy are over at the end" },
  { "seed", "integer", 1, "of the model, the batches and the draws" },
}

--- The fields of experiments on a task: those of all, then the task's own options.
---@param task string
---@return Field[]
function M.of(task)
  local list, places = {}, {}
  for i, field in ipairs(COMMON) do
    list[i], places[field[1]] = field, i
  end
  for _, option in ipairs(core.tasks.options(task)) do
    local range = { smallest = option.smallest, largest = option.largest }
    local place = places[option.name]
    if not place then
      list[#list + 1] = { option.name, range, option.standard, option.meaning }
    elseif option.name ~= "seed" then
      list[place] = { option.name, range, list[place][3], list[place][4] }
    end
  end
  return list
end

-- Whole numbers; and numbers in an interval.
local function integer_from(smallest, largest)
  return function(value)
    return math.type(value) == "integer" and value >= smallest and value <= largest
  end
end

local function number_from_0(below)
  return function(value)
    return type(value) == "number" and value >= 0 and below(value)
  end
end

local KINDS <const> = {
  number = { "a finite number from 0 on", number_from_0(function(x) return x < math.huge end) },
  share = { "a number from 0 to 1", number_from_0(function(x) return x <= 1 end) },
  probability = { "a number from 0 to below 1", number_from_0(function(x) return x < 1 end) },
  integer = { "a whole number", integer_from(math.mininteger, math.maxinteger) },
  size = { "a whole number from 1 on", integer_from(1, math.maxinteger) },
}

-- What a kind of text expects, nil where `value` fits; and names near which it may be misspelt.
local function text_mismatch(kind, value)
  if kind == "letters" then
    local seen, fits = {}, type(value) == "string" and value:match "^[qkvo]*$"
    for letter in (fits or ""):gmatch "." do
      fits = fits and not seen[letter]
      seen[letter] = true
    end
    return not fits and "letters of qkvo, each at most once" or nil
  end
  for _, choice in ipairs(kind) do
    if choice == value then
      return nil
    end
  end
  return "one of " .. table.concat(kind, ", "), kind
end

--- A given value as a field takes it: numbers also as text.
---@param field Field
---@param value any
---@return any
function M.convert(field, value)
  local name, kind = field[1], field[2]
  local expected, result, near
  if kind == "letters" or kind[1] then
    expected, near = text_mismatch(kind, value)
    result = value
  else
    local range = type(kind) == "table" and { ("a whole number from %d to %d"):format(kind.smallest,
      kind.largest), integer_from(kind.smallest, kind.largest) } or KINDS[kind]
    local number = tonumber(value)
    result = number and math.tointeger(number) or number
    expected = not range[2](result) and range[1] or nil
  end
  if expected then
    local hint = near and type(value) == "string"
      and require("roper.base.suggest").hint(value, near)
    error(("field %s: expected %s, got %s%s"):format(name, expected, tostring(value), hint or ""),
      0)
  end
  return result
end

--- What a field takes, in few words.
---@param field Field
---@return string
function M.takes(field)
  local kind = field[2]
  if type(kind) == "table" then
    return kind[1] and table.concat(kind, ", ") or ("%d to %d"):format(kind.smallest, kind.largest)
  end
  return kind == "letters" and "any of qkvo" or KINDS[kind][1]
end

return M
