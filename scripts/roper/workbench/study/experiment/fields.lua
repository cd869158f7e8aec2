--- The fields of an experiment: their names, kinds, defaults and documentation.
local options_of = require "roper.options.rows"
require "roper.model" -- declares TransformerOptions
require "roper.training" -- declares TrainOptions
local models = require "roper.workbench.study.experiment.models"
local optimizers = require "roper.workbench.study.experiment.optimizers"
local position = require "roper.workbench.study.experiment.position"
local brief = require("roper.position.syntax").brief
local tables = require "roper.base.tables"
local tasks = require "roper.tasks"

local M = {}

---@class Field
---@field [1] string name
---@field [2] string|table kind: "letters" (of qkvo), "scheme" (of positions), "class" (of models),
---   "steps" or "factors" (lists of numbers), or the kind of an option
---@field [3] any default; false if it is not set by default
---@field [4] string documentation
---@field [5] any value that means "not set"; it is stored as false
---@field required? boolean

--- Returns the fields for options of a class. A field is not set if its value is false; therefore a
--- boolean option that is true by default has the values "true" (not set) and "false".
---@param class string
---@param names table[] names of options; {name, default} for one with another default; {name, nil,
---   value} if this value means "not set"
---@return Field[]
function M.of_options(class, names)
  local fields = {}
  for i, entry in ipairs(names) do
    local is_changed = type(entry) == "table"
    local row = options_of.rows(class)[is_changed and entry[1] or entry]
    local kind, default = row[2], row[3]
    if is_changed then
      default = entry[2]
    end
    fields[i] = { row[1], type(kind) == "string" and kind:gsub("%?$", "") or kind,
      default or false, (row[4]:gsub("`", "")), is_changed and entry[3] or nil }
    if row[3] == true then
      fields[i][2], fields[i][5] = { "true", "false" }, "true"
      fields[i][3] = not default and "false"
    end
  end
  return fields
end

--- Returns the options in a configuration.
---@param fields Field[] from `of_options`
---@param config table
---@return table options
function M.options(fields, config)
  local options = {}
  for _, field in ipairs(fields) do
    local value = config[field[1]] or nil
    if field[5] == "true" or field[3] == "true" then
      value = value ~= "false"
    end
    options[field[1]] = value
  end
  return options
end

--- The fields for options of the model.
M.MODEL = M.of_options("TransformerOptions", { "d_model", "layers", "heads", "d_ff", "norm",
  "rms_norm", "activation", "tied_embeddings", "dropout", "recompute", "kv_heads", "attention_bias",
  "feed_forward_bias", "logits_bias", "norm_epsilon", "embedding_scale", "parallel_residual",
  "head_dim", "qk_norm", "attention_scale", "attention_softcap", "logits_softcap",
  "short_convolution" })

---@type Field[]
local COMMON <const> = tables.joined(
  { { "position", "scheme", "roper", position.MEANING } }, position.FIELDS, M.MODEL,
  {
    { "matmul_precision", { "float32", "bfloat16" }, false,
      "precision to which operands of matrix products are rounded", "float32" },
    { "length", "size", 161, "tokens of a sequence" },
  },
  M.of_options("TrainOptions", { "batch", { "accumulate" }, { "loss", nil, "all" },
    { "steps", 1000 }, { "evaluate_every", 100 }, { "checkpoint_every", 500 } }),
  {
    { "snapshots", "steps", false, "steps after which the weights are kept in the run's folder, "
      .. "such as 100,1000; 0: before the first step" },
  },
  M.of_options("TrainOptions", { "patience", { "min_delta", nil, 0 } }),
  {
    { "monitor", { "test_loss", "accuracy" }, false, "measure that must improve, on the sequences "
      .. "of the evaluations during training", "test_loss" },
  },
  M.of_options("TrainOptions", { "divergence_threshold" }),
  optimizers.fields(),
  {
    { "rate", "amount", 2.5e-4, "learning rate" },
    { "warmup", "amount", 0, "steps of warm-up, over which the rate rises" },
    { "cosine", "share", false, "cosine decay of the rate to this share of it at the last step" },
    { "decay", "amount", false, "weight decay of weights and embeddings, not of gains, biases and "
      .. "tables of position schemes" },
    { "clip", "amount", 0, "maximum norm of the gradient; 0: no limit" },
    { "problems", "size", 128, "number of problems in the final evaluation" },
    { "test_sequences", "size", 512, "number of sequences in the final evaluation" },
    { "times", "factors", false, "lengths of the final evaluation beyond that of training, as "
      .. "multiples of it, such as 2,4,8; by default those of the experiment" },
    { "from", "string", false, "run, sweep (the trial of the same seed), file of weights or "
      .. "folder of a published model, from which training starts; a published model also sets "
      .. "the fields of the model, position and tokenizer" },
    { "seed", "integer", 1, "seed of the model, the batches and random sampling" },
  })

-- Returns the field for an option of a task. A boolean option that is true by default has the
-- values "true" and "false", since false means that a field is not set.
local function field_of(row)
  local name, kind, default, text = table.unpack(row, 1, 4)
  kind = type(kind) == "string" and kind:gsub("%?$", "") or kind
  text = text:gsub("`", "")
  if kind == "boolean" and default == true then
    return { name, { "true", "false" }, "true", text }
  end
  return { name, kind == "any" and "string" or kind, default or false, text, -- they are flat
    required = options_of.is_required(row) }
end

-- The common fields that only tasks with problems have.
local ONLY_PROBLEMS <const> = { problems = true, monitor = true }

--- Returns the fields for the options of a task.
---@param task string
---@return Field[]
function M.of_task(task)
  return tables.map(tasks.options(task), field_of)
end

--- Returns the fields of experiments on a task: the common ones (some of them only if the task
--- poses problems), then the task's own options.
---
--- Errors: an option of a registered task has the name of a common field.
---@param task string
---@param model? string the default of the field `model`; "Transformer" by default
---@return Field[]
function M.of(task, model)
  local list, places = {}, {}
  for _, field in ipairs(COMMON) do
    if not ONLY_PROBLEMS[field[1]] or tasks.has_problems(task) then
      list[#list + 1] = field
      places[field[1]] = #list
    end
  end
  list[#list + 1] = { "model", "class", model or models.DEFAULT,
    "class of the model: Transformer, or one from roper.nn.class; braces set options that it "
      .. "declares, Own{times=4}" }
  places.model = #list
  for _, field in ipairs(M.of_task(task)) do
    local place = places[field[1]]
    if not place then
      list[#list + 1] = field
    elseif field[1] == "length" then
      list[place] = { field[1], field[2], field[3] or list[place][3], list[place][4] }
    else
      error(("task %s: its option %s is a field of every experiment; rename the option"):format(
        task, field[1]), 0)
    end
  end
  return list
end

-- Returns true if a value consists of letters of qkvo, each at most once.
local function are_letters(value)
  local seen, fits = {}, type(value) == "string" and value:match "^[qkvo]*$"
  for letter in (fits or ""):gmatch "." do
    fits = fits and not seen[letter]
    seen[letter] = true
  end
  return fits
end

--- Returns true if the value of a field is a list, so that its commas do not separate values of a
--- sweep.
---@param name string of the field
---@return boolean
function M.is_list(name)
  return name == "snapshots" or name == "times"
end

-- The numbers in a list of each kind: a function of a finite number, which returns it as it is
-- stored, or nil if it does not fit; and the message for other values.
local LISTS <const> = {
  steps = { math.tointeger, "expected steps with commas between them, such as 100,1000, got " },
  factors = { function(number)
    return number > 1 and (math.tointeger(number) or number) or nil
  end, "expected numbers above 1 with commas between them, such as 2,4,8, got " },
}

-- Returns a list of numbers as text, sorted and without duplicates; nil if one does not fit.
local function list_text(value, fit)
  local text = type(value) == "table" and table.concat(tables.map(value, tostring), ",")
    or tostring(value)
  local seen = {}
  for part in (text .. ","):gmatch "([^,]*)," do
    local number = part:find "^%s*[%d.eE+]+%s*$" and tonumber(part)
    number = number and number < math.huge and fit(number)
    if not number then
      return nil
    end
    seen[number] = true
  end
  return table.concat(tables.keys(seen), ",")
end

--- Converts a given value to the kind of a field. Numbers and booleans may be given as text.
---
--- Errors: the value does not fit the field.
---@param field Field
---@param value any
---@return any
function M.convert(field, value)
  local name, kind = field[1], field[2]
  local result, refusal = value
  if kind == "letters" then
    refusal = not are_letters(value) and "expected letters of qkvo, each at most once, got "
      .. options_of.shown(value)
  elseif LISTS[kind] then
    local fit, expected = table.unpack(LISTS[kind])
    result = list_text(value, fit)
    refusal = not result and expected .. options_of.shown(value)
  elseif kind == "class" then
    return models.canonical(value)
  elseif kind == "scheme" then
    local names, missing = position.names(), position.missing(value)
    refusal = missing and ("expected one of %s, got %s%s"):format(table.concat(names, ", "),
      options_of.shown(type(value) == "string" and brief(value) or value),
      require("roper.base.suggest").hint(missing, names))
    result = not refusal and position.canonical(value)
  else
    if kind == "boolean" then
      result = value == "true" or value ~= "false" and value
    elseif (field[5] == "true" or field[3] == "true") and type(value) == "boolean" then
      result = tostring(value)
    elseif type(kind) ~= "table" and kind ~= "string" or kind.smallest then
      local number = tonumber(value)
      result = number and math.tointeger(number) or number or value
    end
    refusal = options_of.mismatch(kind, result) and options_of.refusal(kind, value)
  end
  if refusal then
    error(("field %s: %s"):format(name, refusal), 0)
  end
  if result == field[5] then
    return false
  end
  return result
end

--- Returns the possible values of a field.
---@param field Field
---@return string[] values empty if they are not a list
function M.choices(field)
  local kind = field[2]
  if kind == "scheme" or kind == "class" then
    return kind == "scheme" and position.names() or models.names()
  elseif kind == "boolean" then
    return { "false", "true" }
  end
  return type(kind) == "table" and kind[1] and kind or {}
end

--- Describes the choices or the range of a field.
---@param field Field
---@return string? text nil if it has neither
function M.takes(field)
  local kind, choices = field[2], M.choices(field)
  if choices[1] then
    return table.concat(choices, ", ")
  end
  return type(kind) == "table" and ("%d to %d"):format(kind.smallest, kind.largest) or nil
end

return M
