--- Writes models in Hugging Face's layout.
local arguments = require "roper.options.arguments"
local checkpoint = require "roper.model.checkpoint"
local config = require "roper.model.published.config"
local core = require "roper.core"
local families = require "roper.model.published.families"
local files = require "roper.system.file"
local kinds = require "roper.model.published.kinds"
local options_of = require "roper.options.rows"
local files_of = require "roper.model.published.files"
local published = require "roper.model.published"
local rope = require "roper.model.published.rope"
local scoped = require "roper.base.scoped"
local settings = require "roper.model.settings"
local tables = require "roper.base.tables"

local M = {}

-- Maximum number of positions, if neither the options nor the model have one.
local LENGTH <const> = 2048

-- Tokens with which the written files are checked, and the largest error, relative to the logits.
local CHECKED <const>, TOLERANCE <const> = 16, 1e-3

-- Options of a model with the values of all defaults, and `position` as a table.
local function completed(options)
  local o = settings.completed(options)
  local scheme, found = rope.scheme_of(o.position, o.layers)
  o.position, o.kinds = scheme, found
  return o, not scheme and found or nil
end

-- Does a type have a field for an option?
local function has_field(kind, option)
  local found = false
  for _, row in ipairs(kind.rows) do
    found = found or row.option == option
  end
  return found
end

-- The fields of config.json for a type; nil and the reason if it cannot describe the model.
local function fields_of(family, kind, o, length)
  local of_position = {}
  if family.rope then -- first, since no other option makes up for it
    local found, problem = rope.fields(o.position, tables.merged(family.rope,
      { head_dim = o.head_dim, length = length or o.length or LENGTH }))
    if not found then
      return nil, problem
    end
    of_position = found
  elseif o.position.type ~= "learned" then
    return nil, ("the position scheme %s has no counterpart; expected learned"):format(
      o.position.type)
  end
  local fixed = families.fixed(kind, o)
  for _, name in ipairs(tables.keys(fixed)) do
    if o[name] ~= fixed[name] then
      return nil, ("%s = %s has no counterpart; expected %s"):format(name, config.shown(o[name]),
        config.shown(fixed[name]))
    end
  end
  if o.tied then
    return nil, "tied = true has no counterpart; expected false"
  elseif o.short_convolution > 0 then
    return nil, ("short_convolution = %d has no counterpart; expected 0"):format(
      o.short_convolution)
  elseif o.kv_heads ~= o.heads and not has_field(kind, "kv_heads") then
    return nil, ("kv_heads = %d has no counterpart; expected heads = %d"):format(o.kv_heads,
      o.heads)
  elseif o.head_dim * o.heads ~= o.d_model and not has_field(kind, "head_dim") then
    return nil, ("head_dim = %d has no counterpart; expected d_model / heads"):format(o.head_dim)
  elseif math.abs(o.attention_scale * o.head_dim ^ 0.5 - 1) > 1e-9
    and not has_field(kind, "attention_scale") then
    return nil, ("attention_scale = %g has no counterpart; expected 1 / √head_dim"):format(
      o.attention_scale)
  end
  local of_layers, other = kinds.fields(kind.kinds, o.kinds)
  if not of_layers then
    return nil, other
  end
  local fields, problem = config.fields(tables.merged(o, { length = o.length
    or o.position.length }), kind.rows)
  return fields and tables.merged(fields, of_layers, of_position), problem
end

-- The maximum number of positions that is given, or that a published model has.
local function length_of(given, like)
  local there = like and like.max_position_embeddings
  return given.length or math.type(there) == "integer" and there or nil
end

-- The family, the type and the fields of config.json for a model.
local function choose(o, given, like)
  local problems, only = {}, given.type or like and like.model_type
  for _, name in ipairs(only and { only } or families.TYPES) do
    for _, family in ipairs(families.LIST) do
      local kind = family.types[name]
      local fields, problem
      if kind then
        fields, problem = fields_of(family, kind, o, length_of(given, like))
      end
      if fields then
        return family, name, fields
      end
      problems[#problems + 1] = problem and ("%s: %s"):format(name, problem)
    end
  end
  error("export: expected a model that the layout can describe:\n  "
    .. table.concat(problems, "\n  ") .. "\nroper.export_pytorch (--pytorch) writes any model", 0)
end

-- The content of config.json: the fields of the type, over those of `like` that mean the same.
local function content_of(family, kind, fields, like, given)
  local own = { model_type = kind, architectures = { family.types[kind].architecture } }
  if not like then
    return tables.merged(fields, own, { torch_dtype = "float32", bos_token_id = core.json_null,
      eos_token_id = core.json_null, pad_token_id = core.json_null })
  elseif like.model_type ~= kind then -- its fields have other meanings
    return tables.merged(config.unused(like), fields, own, { torch_dtype = "float32" })
  end
  local there = published.describe(given.like .. "/config.json", like,
    options_of.check("import", {}, options_of.rows "ImportOptions"))
  local before = fields_of(family, family.types[kind], completed(there.options),
    length_of(given, like)) or {}
  local content, changed = tables.merged(like, own), {}
  for _, name in ipairs(tables.keys(fields, before)) do
    local same = core.json_encode { fields[name] } == core.json_encode { before[name] }
    changed[#changed + 1] = not same and name or nil
  end
  if rope.describes(changed) then
    changed = tables.joined(changed, rope.DESCRIBING)
  end
  for _, name in ipairs(changed) do
    content[name] = fields[name]
  end
  content.max_position_embeddings = given.length or content.max_position_embeddings
  content[like.dtype ~= nil and "dtype" or "torch_dtype"] = "float32"
  return content
end

-- The tensors of the files.
local function tensors_of(model, family, o)
  local parameters, tensors = {}, {}
  for _, entry in ipairs(model:named_parameters()) do
    parameters[entry.name] = entry.tensor:detach():to "float32"
  end
  local pairing = o.position.pairing or "half"
  for entry in families.entries(family, o) do
    local parts = {}
    for i, name in ipairs(entry.here) do
      if not parameters[name] then
        error(("export: expected a parameter %s, found none; the model was changed"):format(name),
          0)
      end
      parts[i] = families.turned(name, parameters[name], pairing, "half", o, o.position)
      parameters[name] = nil
    end
    local name = entry.there == family.head and entry.there or family.prefix .. entry.there
    tensors[name] = entry.form.join(parts):contiguous()
  end
  local left = tables.keys(parameters)
  if left[1] then
    error(("export: the parameter %s has no counterpart in the layout"):format(left[1]), 0)
  end
  return tensors
end

-- Raises an error unless the model in a folder has the logits of `model`. This also finds changes
-- to modules that the options do not contain.
local function verify(model, folder, o)
  local again = published.import(folder)
  local count = math.min(CHECKED, o.length or o.position.length or CHECKED)
  local found, expected = scoped.with_seed(0, function()
    local tokens = (core.rand { 1, count } * o.vocabulary):to "int32":minimum(o.vocabulary - 1)
    return scoped.without_training(again, function() return again(tokens) end),
      scoped.without_training(model, function() return model(tokens):to "float32" end)
  end)
  local difference = (found - expected):abs():max():item()
  local is_close = difference <= TOLERANCE * (1 + expected:abs():max():item()) -- false for NaN
  if not is_close then
    error(("export: the written model has other logits, by up to %g; the model computes something "
      .. "that its options do not describe"):format(difference), 0)
  end
end

options_of.define("ExportOptions", {
  { "type", families.TYPES, nil, "the model_type of config.json; by default that of `like`, or the "
    .. "first that fits: " .. table.concat(families.TYPES, ", "), type = "string" },
  { "like", "string?", nil, "folder of the published model from which this one was trained: other "
    .. "fields of its config.json, and its files beside the weights, are kept" },
  { "length", "size?", nil, "the max_position_embeddings of config.json; by default the option "
    .. "`length` of the model, for a run its longest sequence, or 2048" },
})

--- Writes a Transformer in Hugging Face's layout: a folder with config.json and model.safetensors,
--- which `transformers` and `roper.import` read. The layout is that of Llama, Qwen2, Mistral,
--- Qwen3, SmolLM3, OLMo 2, Phi-3 or Gemma 2 for models with rms_norm, a gate, and rotated queries
--- and keys, of GPT-NeoX for those with LayerNorm, and of GPT-2 for those with the position scheme
--- `learned`. All need logits_bias = "none". The written model is read again and its logits are
--- compared. With `like`, a model that was read, trained and written again keeps what roper does
--- not use, such as its tokenizer, the tokens that end a text, and how to generate.
---
--- Errors: the layout cannot describe the model, such as RoPER or biases that it lacks (the message
--- lists the reason for each type); the folder exists and is not empty, or cannot be written.
---
---     > model = roper.nn.Transformer{vocabulary = 8, position = "roper"}
---     > (pcall(roper.export, model, "exported"))  -- RoPER has no counterpart
---     false
---@param model Transformer
---@param folder string new or empty
---@param options? ExportOptions
function M.export(model, folder, options)
  arguments.check("export", "model", "module", model, "folder", "string", folder)
  local given = options_of.check("export", options, options_of.rows "ExportOptions")
  if getmetatable(model).options_class ~= "TransformerOptions" then
    error(("export: expected a Transformer, got %s"):format(options_of.shown(model)), 2)
  end
  if files.names(folder)[1] then
    error(("export: expected a new or empty folder, got %s, which contains %s"):format(folder,
      files.names(folder)[1]), 2)
  end
  local o, problem = completed(checkpoint.options(model))
  if problem then
    error("export: " .. problem, 2)
  end
  local like = given.like and files_of.object(given.like .. "/config.json")
  local family, kind, fields = choose(o, given, like)
  local content = content_of(family, kind, fields, like, given)
  local tensors, beside = tensors_of(model, family, o), like and files_of.beside(given.like) or {}
  files.make(folder)
  local written = tables.joined(beside, { "model.safetensors", "config.json" })
  files_of.copy(beside, given.like, folder)
  core.save_safetensors(folder .. "/model.safetensors", tensors, { format = "pt" })
  files.write(folder .. "/config.json", core.json_encode(content, { indent = 2 }) .. "\n")
  local ok, message = pcall(verify, model, folder, o)
  if not ok then
    for _, name in ipairs(written) do
      files.remove_file(("%s/%s"):format(folder, name))
    end
    error(message, 0)
  end
end

return M
