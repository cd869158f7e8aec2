--- Writes models as modules of PyTorch that check themselves.
local arguments = require "roper.options.arguments"
local checkpoint = require "roper.model.checkpoint"
local core = require "roper.core"
local files = require "roper.system.file"
local model_metadata = require "roper.model.metadata"
local module_text = require "roper.model.pytorch.module"
local options_of = require "roper.options.rows"
local position = require "roper.position"
local reference = require "roper.model.pytorch.reference"
local schemes = require "roper.model.pytorch.schemes"
local settings = require "roper.model.settings"
local tables = require "roper.base.tables"

local M = {}

-- The options of a Transformer that modules of PyTorch have. `recompute` and `length` change
-- nothing that the module computes.
local KNOWN <const> = tables.set { "vocabulary", "d_model", "layers", "heads", "kv_heads", "d_ff",
  "activation", "feed_forward_bias", "attention_bias", "logits_bias", "norm", "rms_norm",
  "norm_epsilon", "parallel_residual", "tied", "tied_embeddings", "embedding_scale", "dropout",
  "position", "recompute", "length", "head_dim", "qk_norm", "attention_scale", "attention_softcap",
  "logits_softcap", "short_convolution" }

-- The options of a model with their defaults.
local function options_of_model(model)
  local given = checkpoint.options(model)
  local o = settings.completed(given)
  for _, row in ipairs(options_of.rows "TransformerOptions") do
    local name = row[1]
    if not KNOWN[name] and given[name] ~= nil and given[name] ~= row[3] then
      error(("export_pytorch: option %s: expected its default, got %s, which modules of PyTorch "
        .. "do not have yet"):format(name, options_of.shown(given[name])), 0)
    end
  end
  -- What differs from the defaults has a value: modules contain only that.
  for _, name in ipairs { "attention_softcap", "logits_softcap", "short_convolution" } do
    o[name] = o[name] ~= 0 and o[name] or nil
  end
  o.attention_scale = o.attention_scale ~= o.head_dim ^ -0.5 and o.attention_scale or nil
  o.head_dim = o.head_dim ~= o.d_model // o.heads and o.head_dim or nil
  return o
end

-- Raises an error if the options of a model do not describe it.
local function check_unchanged(model)
  local changed = tables.joined(settings.replaced(model), tables.map(settings.changed(model),
    function(setting) return setting[1] end))
  if changed[1] then
    error(("export_pytorch: expected a model as its options create it, got one with other %s; "
      .. "create it with these options, or write its module by hand"):format(
      table.concat(changed, ", ")), 0)
  end
end

-- The schemes of the layers, and after how many layers they repeat.
local function layers_of(model, o)
  local context = { dim = o.head_dim or o.d_model // o.heads, heads = o.heads, d_model = o.d_model,
    length = o.length, scale = o.attention_scale }
  local choices, parameters = schemes.named(o.position), model:named_parameters()
  local layers, of_scheme = {}, {}
  for i, layer in ipairs(model.layers) do
    local scheme = layer.attention.position
    local prefix = ("layers.%d.attention.position."):format(i)
    local key = scheme or "none"
    of_scheme[key] = of_scheme[key] or schemes.of(scheme, choices[(i - 1) % #choices + 1],
      context, parameters, prefix, true)
    layers[i] = { scheme = scheme, parts = of_scheme[key] }
  end
  return layers, math.min(#choices, #layers)
end

-- The number of positions that the schemes have; nil if it is not limited.
local function length_of(layers)
  local length
  for _, layer in ipairs(layers) do
    for _, one in ipairs(layer.parts) do
      length = one.name == "learned" and one.options.length or length
    end
  end
  return length
end

-- The tensors of schemes that are not trained, by the names of the module.
local function constants_of(layers)
  local tensors = {}
  for i, layer in ipairs(layers) do
    for name, tensor in pairs(schemes.constants(layer.parts)) do
      tensors[("layers.%d.attention.position.%s"):format(i, name)] = tensor:detach():contiguous()
    end
  end
  return tensors
end

-- What attention with the first scheme of a user is compared with; the index of its layer. Nothing
-- if all schemes are built in.
local function own_scheme(layers, o)
  for i, layer in ipairs(layers) do
    for _, one in ipairs(layer.parts) do
      if not position.is_built_in(one.name) then
        return i, (reference.attention(layer.scheme, schemes.constants(layer.parts),
          { heads = o.heads, dim = o.head_dim or o.d_model // o.heads, d_model = o.d_model,
            scale = o.attention_scale, softcap = o.attention_softcap }, true))
      end
    end
  end
end

-- The texts of tokens for config.json; nil without texts, or if one is not UTF-8.
local function written_tokens(list, count)
  if list and #list ~= count then
    error(("export_pytorch: option tokens: expected %d, one for each token of the model, got %d")
      :format(count, #list), 0)
  end
  for i, text in ipairs(list or {}) do
    arguments.check("export_pytorch", "option tokens: element " .. i, "string", text)
    if not utf8.len(text) then
      return nil
    end
  end
  return list and core.json_array(table.move(list, 1, #list, 1, {}))
end

options_of.define("ExportPytorchOptions", {
  { "tokens", "table?", nil, "the text of each token, for the field `tokens` of config.json, which "
    .. "is left out if a text is not UTF-8", type = "string[]" },
})

--- Writes a Transformer as a module of PyTorch: a folder with `model.py`, which needs PyTorch 1.13
--- or later and nothing else, `config.json`, `model.safetensors` and `check.safetensors`.
--- `python model.py --check` compares logits, loss, gradients and a completion with those that
--- roper computed, and exits with 1 if they differ. The module contains only what the model has:
--- its norm, its activation and its position scheme. `roper.load` and `--from` read the weights
--- that it saves after training.
---
--- A position scheme of your own can bring its text in PyTorch (`pytorch`, see `?Scheme`).
--- Otherwise, the module contains a function to fill in.
---
--- Errors: the model is not a Transformer, or its options do not describe it; the folder exists and
--- is not empty, or cannot be written.
---
---     > model = roper.nn.Transformer{vocabulary = 8, d_model = 8, heads = 2}
---     > folder = os.tmpname()
---     > os.remove(folder);
---     > roper.export_pytorch(model, folder)
---     > roper.load(folder .. "/model.safetensors"):count() == model:count()
---     true
---@param model Transformer
---@param folder string new or empty
---@param options? ExportPytorchOptions
function M.export_pytorch(model, folder, options)
  arguments.check("export_pytorch", "model", "module", model, "folder", "string", folder)
  local given = options_of.check("export_pytorch", options, options_of.rows "ExportPytorchOptions")
  if getmetatable(model).options_class ~= "TransformerOptions" then
    error(("export_pytorch: expected a Transformer, got %s; write its forward by hand"):format(
      options_of.shown(model)), 2)
  end
  local tokens = written_tokens(given.tokens, checkpoint.options(model).vocabulary)
  if files.names(folder)[1] then
    error(("export_pytorch: expected a new or empty folder, got %s, which contains %s"):format(
      folder, files.names(folder)[1]), 2)
  end
  check_unchanged(model)
  local o = options_of_model(model)
  if o.tied_embeddings and model.logits.weight ~= model.embedding.weight then
    error("export_pytorch: expected tied embeddings, as the options of the model say, got two "
      .. "weights", 2)
  end
  local layers, cycle = layers_of(model, o)
  local known, dtype = reference.of(model, layers, length_of(layers))
  local own, of_own = own_scheme(layers, o)
  for name, tensor in pairs(of_own or {}) do
    known["scheme " .. name] = tensor
  end
  local text = module_text.of { options = o, layers = layers, cycle = cycle, dtype = dtype,
    position = schemes.title(o.position), own = own }
  local config = { tokens = tokens, metadata = model_metadata.of(model) }
  for _, name in ipairs { "vocabulary", "d_model", "layers", "heads", "kv_heads", "d_ff",
    "head_dim", "norm_epsilon", "dropout", "short_convolution" } do
    config[name] = o[name]
  end
  files.make(folder)
  files.write(folder .. "/model.py", text)
  files.write(folder .. "/config.json", core.json_encode(config, { indent = 2 }) .. "\n")
  checkpoint.save_model(folder .. "/model.safetensors", model)
  core.save_safetensors(folder .. "/check.safetensors", known)
  local constants = constants_of(layers)
  if next(constants) then
    core.save_safetensors(folder .. "/constants.safetensors", constants)
  end
end

return M
