--- Fields of a published model's config.json: checks them against the rows of a family, and
--- translates them to options of `Transformer` and back.
local core = require "roper.core"
local numbers = require "roper.text.format.number"
local options_of = require "roper.options.rows"
local suggest = require "roper.base.suggest"
local tables = require "roper.base.tables"

local M = {}

local NULL <const> = core.json_null

---@class ConfigRow
---@field [1] string the field of config.json
---@field [2] string documentation
---@field option? string the option of the Transformer with the same meaning
---@field kind? string the kind of its value, as for `options.mismatch`
---@field choices? any[][] the values that roper supports, each with the value of the option; if
---   several have the same, the first is written
---@field only? any the only value that roper supports; json_null for null
---@field default? any the value if the field is missing or null; nil if it is required
---@field is_nullable? boolean null is not the default, but leaves out the option
---@field read? fun(value: any): any the value of the option for that of the field
---@field write? fun(value: any): any the inverse
---@field unused? boolean the field does not change the logits

--- The activations of a feed-forward without gate, as `choices` of a row.
M.ACTIVATIONS = { { "gelu_new", "gelu_tanh" }, { "gelu_pytorch_tanh", "gelu_tanh" },
  { "gelu_fast", "gelu_tanh" }, { "gelu", "gelu" }, { "relu", "relu" } }

-- Fields of all families that do not change the logits.
local UNUSED <const> = tables.set { "model_type", "architectures", "transformers_version", "dtype",
  "torch_dtype", "use_cache", "_name_or_path", "name_or_path", "_attn_implementation",
  "attn_implementation", "gradient_checkpointing", "initializer_range", "initializer_factor",
  "bos_token_id", "eos_token_id", "pad_token_id", "unk_token_id", "sep_token_id", "cls_token_id",
  "mask_token_id", "decoder_start_token_id", "tokenizer_class", "prefix", "task_specific_params",
  "attention_dropout", "hidden_dropout", "classifier_dropout", "resid_pdrop", "embd_pdrop",
  "attn_pdrop", "summary_type", "summary_use_proj", "summary_activation", "summary_proj_to_labels",
  "summary_first_dropout", "output_attentions", "output_hidden_states", "output_scores",
  "return_dict", "return_dict_in_generate", "torchscript", "use_bfloat16", "tf_legacy_loss",
  "chunk_size_feed_forward", "problem_type", "id2label", "label2id", "num_labels",
  "finetuning_task", "max_length", "min_length", "do_sample", "early_stopping", "num_beams",
  "num_beam_groups", "diversity_penalty", "temperature", "top_k", "top_p", "typical_p",
  "repetition_penalty", "length_penalty", "no_repeat_ngram_size", "encoder_no_repeat_ngram_size",
  "bad_words_ids", "num_return_sequences", "forced_bos_token_id", "forced_eos_token_id",
  "remove_invalid_values", "exponential_decay_length_penalty", "suppress_tokens",
  "begin_suppress_tokens", "tie_encoder_decoder", "is_decoder", "pretraining_tp",
  "is_llama_config", "transformers.js_config", "unsloth_version", "unsloth_fixed" }

--- A value of config.json as text for messages.
---@param value any
---@return string
function M.shown(value)
  if value == NULL then
    return "null"
  elseif type(value) == "number" then
    return numbers.exact(value)
  end
  local text = core.json_encode(value)
  return #text > 60 and utf8.len(text) and text:sub(1, (utf8.offset(text, 57) or 58) - 1) .. "..."
    or text
end

--- Raises an error about a field.
---@param where string path of the file
---@param field string
---@param value any
---@param expected string
function M.refuse(where, field, value, expected)
  error(("%s: field %s = %s: expected %s"):format(where, field,
    value == nil and "(missing)" or M.shown(value), expected), 0)
end

-- The text of the values that a row allows.
local function allowed(row)
  local list = {}
  for i, choice in ipairs(row.choices or {}) do
    list[i] = M.shown(choice[1])
  end
  if row.choices then
    return (#list > 1 and "one of " or "") .. table.concat(list, ", ")
  end
  return M.shown(row.only)
end

-- The value of a row, checked and translated.
local function value_of(where, row, given)
  local value = given
  if value == nil or value == NULL and row.only ~= NULL and not row.is_nullable then
    value = row.default
  end
  if row.unused then
    return nil
  elseif row.only ~= nil then
    if value ~= row.only then
      M.refuse(where, row[1], value, allowed(row) .. ", the only value that roper supports")
    end
    return nil
  elseif row.choices then
    for _, choice in ipairs(row.choices) do
      if choice[1] == value then
        return choice[2]
      end
    end
    M.refuse(where, row[1], value, allowed(row))
  end
  if value == NULL then -- the default is null
    return nil
  end
  local expected = options_of.mismatch(row.kind, value)
  if expected then
    M.refuse(where, row[1], value, expected)
  end
  return row.read and row.read(value) or value
end

-- Is a value one that leaves out a feature?
local function is_off(value)
  return value == NULL or value == false or value == "" or type(value) == "table"
    and next(value) == nil
end

-- Fields of a type, which another type does not take over.
local OF_TYPE <const> = { "model_type", "architectures", "dtype", "torch_dtype", "pretraining_tp",
  "is_llama_config" }

--- The fields of an object that have the same meaning for all types and do not change the logits.
---@param given table from JSON
---@return table fields
function M.unused(given)
  local fields, own = {}, tables.set(OF_TYPE)
  for name, value in pairs(given) do
    fields[name] = UNUSED[name] and not own[name] and value or nil
  end
  return fields
end

--- Reads the fields of an object by the rows of a family.
---
--- Errors: a field is missing or has a value that roper does not support; the object has a field
--- without a row that is neither null, false nor empty.
---@param where string start of messages, such as the path of the file
---@param given table from JSON
---@param rows ConfigRow[]
---@param ignored table<string, boolean> names of fields without a row to leave out
---@return table<string, any> fields values of the rows by field; the value of the option for rows
---   with `choices`
function M.read(where, given, rows, ignored)
  local fields, names = {}, {}
  for _, row in ipairs(rows) do
    fields[row[1]] = value_of(where, row, given[row[1]])
    names[row[1]] = true
  end
  for _, field in ipairs(tables.keys(given)) do
    local known = names[field] or UNUSED[field] or ignored[field]
    if not known and not is_off(given[field]) then
      error(("%s: field %s = %s is unknown%s; if it does not change the logits, pass ignore = {%q}")
        :format(where, field, M.shown(given[field]), suggest.hint(field, tables.keys(names)),
          field), 0)
    end
  end
  return fields
end

--- The options of the Transformer that the rows translate.
---@param fields table from `read`
---@param rows ConfigRow[]
---@return table options
function M.options(fields, rows)
  local options = {}
  for _, row in ipairs(rows) do
    if row.option then
      options[row.option] = fields[row[1]]
    end
  end
  return options
end

-- The value of a field for an option; also returns an error message if there is none.
local function field_of(row, value)
  if not row.choices then
    return row.write and row.write(value) or value
  end
  for _, choice in ipairs(row.choices) do
    if choice[2] == value then
      return choice[1]
    end
  end
  return nil, ("%s = %s has no counterpart; the field %s can be %s"):format(row.option,
    M.shown(value), row[1], allowed(row))
end

--- The fields of the rows for options of a Transformer.
---@param options table with every option that a row has
---@param rows ConfigRow[]
---@return table? fields nil if an option has a value without a counterpart
---@return string? problem
function M.fields(options, rows)
  local fields = {}
  for _, row in ipairs(rows) do
    if row.only ~= nil then
      fields[row[1]] = row.only
    elseif row.option then
      local field, problem = field_of(row, options[row.option])
      if problem then
        return nil, problem
      end
      fields[row[1]] = field
    end
  end
  return fields
end

return M
