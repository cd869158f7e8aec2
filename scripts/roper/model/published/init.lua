--- Reads models in Hugging Face's layout: config.json and safetensors files.
local arguments = require "roper.options.arguments"
local checkpoint = require "roper.model.checkpoint"
local config = require "roper.model.published.config"
local diagnostics = require "roper.text.diagnostics"
local families = require "roper.model.published.families"
local files = require "roper.system.file"
local kinds = require "roper.model.published.kinds"
local options_of = require "roper.options.rows"
local published = require "roper.model.published.files"
local rope = require "roper.model.published.rope"
local scoped = require "roper.base.scoped"
local tables = require "roper.base.tables"

local M = {}

-- The family of a `model_type`, and the rows and fixed options of the type.
local function family_of(path, given)
  local known = {}
  for _, family in ipairs(families.LIST) do
    local found = family.types[given.model_type]
    if found then
      return family, found
    end
    known = tables.joined(known, tables.keys(family.types))
  end
  config.refuse(path, "model_type", given.model_type, "one of " .. table.concat(known, ", "))
end

-- Raises an error unless the sizes fit each other.
local function check_sizes(path, o)
  if not o.head_dim and o.d_model % o.heads ~= 0 then
    error(("%s: expected hidden_size divisible by the number of heads, got %d and %d"):format(path,
      o.d_model, o.heads), 0)
  elseif o.kv_heads and o.heads % o.kv_heads ~= 0 then
    config.refuse(path, "num_key_value_heads", o.kv_heads,
      ("a divisor of num_attention_heads = %d"):format(o.heads))
  end
end

--- A published model as its config.json describes it.
---@class PublishedModel
---@field family PublishedFamily
---@field options table of the Transformer, with all sizes
---@field scheme table the position scheme of all layers that have one
---@field ends table<integer, true> ids of the tokens that end a text

--- Reads a config.json.
---
--- Errors: it requires something that roper lacks.
---@param path string for messages
---@param given table its content
---@param o ImportOptions checked
---@return PublishedModel
function M.describe(path, given, o)
  local family, kind = family_of(path, given)
  local ignored = tables.set(o.ignore)
  local known = tables.merged(ignored, family.rope and tables.set(rope.FIELDS),
    kind.kinds and tables.set(kind.kinds.fields))
  local fields = config.read(path, given, kind.rows, known)
  local options = config.options(fields, kind.rows)
  options = tables.merged(families.fixed(kind, options), options)
  options.d_ff = options.d_ff or 4 * options.d_model
  check_sizes(path, options)
  local scheme = { type = "learned" }
  if family.rope then
    scheme = rope.read(path, given, tables.merged(family.rope,
      { head_dim = families.head_dim(options), pairing = o.pairing, ignored = ignored }))
  end
  options.position = kind.kinds
    and kinds.position(scheme, kind.kinds.read(path, given, options.layers)) or scheme
  local ends = given.eos_token_id
  return { family = family, options = options, scheme = scheme,
    ends = tables.set(type(ends) == "table" and ends or { ends }) }
end

--- Reads the config.json of a folder.
---
--- Errors: as for `import`.
---@param folder string
---@param options? ImportOptions
---@return PublishedModel
function M.read(folder, options)
  local path = folder .. "/config.json"
  return M.describe(path, published.object(path),
    options_of.check("import", options, options_of.rows "ImportOptions"))
end

-- Removes the tensors that are not parameters, and the prefix of names.
local function without_buffers(tensors, family, is_tied)
  local result, prefix = {}, family.prefix
  for name, tensor in pairs(tensors) do
    local short = name:sub(1, #prefix) == prefix and name:sub(#prefix + 1) or name
    local is_buffer = is_tied and short == family.head
    for _, pattern in ipairs(family.buffers) do
      is_buffer = is_buffer or short:find(pattern) ~= nil
    end
    if not is_buffer and result[short] then
      error(("import: the tensor %s is in the files twice, with and without %s"):format(short,
        prefix), 0)
    end
    result[short] = not is_buffer and tensor or nil
  end
  return result
end

-- Takes the tensor of an entry, checks it and adds its parameters to `state`.
local function take(state, tensors, entry, folder, model)
  local tensor = tensors[entry.there]
  local wanted = table.concat(entry.shape, ", ")
  if not tensor then
    error(("%s: expected a tensor %s [%s], found none"):format(folder, entry.there, wanted), 0)
  end
  local shape = table.concat(tensor:shape(), ", ")
  if shape ~= wanted or not tensor:dtype():find "^float" then
    error(("%s: %s: expected floats [%s], as config.json says, got %s [%s]"):format(folder,
      entry.there, wanted, tensor:dtype(), shape), 0)
  end
  tensors[entry.there] = nil
  for i, part in ipairs(entry.form.split(tensor:to "float32")) do
    local name = entry.here[i]
    state[name] = families.turned(name, part, "half", model.scheme.pairing or "half",
      model.options, model.scheme)
  end
end

--- Reads the parameters of the Transformer from the tensors of a folder.
---
--- Errors: as for `import`.
---@param folder string
---@param model PublishedModel
---@return table<string, tensor> parameters
function M.parameters(folder, model)
  local family, o = model.family, model.options
  local tensors = without_buffers(published.tensors(folder), family, o.tied_embeddings)
  local state = {}
  for entry in families.entries(family, o) do
    take(state, tensors, entry, folder, model)
  end
  local left = tables.keys(tensors)
  if left[1] then
    error(("%s: expected no tensor %s%s with this config.json"):format(folder, left[1],
      left[2] and (" (and %d others)"):format(#left - 1) or ""), 0)
  end
  return state
end

options_of.define("ImportOptions", {
  { "pairing", { "half", "interleaved" }, "half",
    "which two features form a pair; for interleaved, queries and keys are reordered" },
  { "ignore", "any", {}, "fields of config.json that do not change the logits; other unknown "
    .. "fields are an error", type = "string[]" },
})

--- Reads a model in Hugging Face's layout: a folder with config.json and model.safetensors, or its
--- shards. It reads GPT-2, GPT-NeoX (Pythia), Llama, Mistral, Qwen2, Qwen3, Phi-3, Gemma 2, SmolLM3
--- and OLMo 2, with the `rope_scaling` types linear, dynamic, yarn, longrope, llama3 and
--- proportional. Weights in float16 and bfloat16 become float32. The logits are those of
--- `transformers` up to rounding. Dropout is 0.
---
--- Errors: the folder lacks a file, or contains a damaged one; config.json requires something that
--- roper lacks (the message names the field and its value); a tensor is missing, has another shape
--- or does not belong to the model.
---
---     > options = {vocabulary = 8, position = "rope", logits_bias = "none"}
---     > model = roper.nn.Transformer(options)
---     > folder = os.tmpname() .. ".d"
---     > roper.export(model, folder)
---     > again = roper.import(folder)
---     > tokens = roper.tensor({{1, 5, 2}}, "int32")
---     > (again(tokens) - model(tokens)):abs():max():item()
---     0.0
---     > again, task = roper.import(folder)
---     > #roper.generate(again, {"1 5 2"}, {task = task, limit = 4})
---     1
---@param folder string
---@param options? ImportOptions
---@return Transformer model
---@return task task the vocabulary, for `roper.generate`: the folder's tokenizer.json, which needs
---   PCRE2, or its tokenizer.model, which needs SentencePiece; without one, texts are token ids,
---   such as "464 3290"
function M.import(folder, options)
  arguments.check("import", "folder", "string", folder)
  local o = options_of.check("import", options, options_of.rows "ImportOptions")
  for _, field in ipairs(type(o.ignore) == "table" and o.ignore or { false }) do
    if type(field) ~= "string" then
      error(("import: option ignore: expected a list of fields, got %s"):format(
        options_of.shown(field or o.ignore)), 2)
    end
  end
  files.check_folder("import", folder)
  local found = M.read(folder, o)
  local made, state = found.options, M.parameters(folder, found)
  local ok, model = pcall(scoped.with_seed, 0, function()
    return require("roper.model.transformer").Transformer(made)
  end)
  if not ok then -- such as a factor below 1
    error(diagnostics.is_interrupt(model) and model
      or ("%s/config.json: %s"):format(folder, diagnostics.without_place(model)), 0)
  end
  checkpoint.load_state(folder, model, "", state)
  return model, require("roper.model.published.task").new(folder, made.vocabulary, found.ends)
end

return M
