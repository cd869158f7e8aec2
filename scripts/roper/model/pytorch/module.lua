--- Assembles the Python module of a model from its pieces.
local python = require "roper.model.pytorch.python"
local schemes = require "roper.model.pytorch.schemes"
local tables = require "roper.base.tables"
local version = require "roper.base.version"

local M = {}

-- Functions that schemes and attention call, in the order of the module.
local HELPERS <const> = { "powers", "places", "rotate", "rotate_interleaved", "turned",
  "magnified", "distances", "slopes", "causal" }

-- What the piece `turned` contains in place of "@name@".
local function values_of_turned(flags)
  local turn, parts = (flags.interleaved or flags.last) and "turn" or "rotate", {}
  for _, letter in ipairs { "q", "k", "v" } do
    parts[#parts + 1] = flags[letter] and ("%q: %s(%s, angle)"):format(letter, turn, letter) or nil
  end
  parts[#parts + 1] = flags.o and ("\"output\": lambda o: %s(o, -angle)"):format(turn) or nil
  local text = table.concat(parts, ", ")
  return { turn = turn, parts = #text > 86 and text:gsub(", \"output", ",\n            \"output")
    or text, ["function"] = flags.interleaved and "function" or "rotate",
    what = flags.mixed and "; the output is rotated back"
      or flags.o and "; the output is rotated back" or "" }
end

--- The pieces of the functions that parts of a module call, and that these call.
---@param parts string[]
---@param flags table<string, any>
---@return string[] pieces
function M.helpers(parts, flags)
  local used, found = table.concat(parts, "\n"), {}
  local values = values_of_turned(flags)
  for i = #HELPERS, 1, -1 do -- a helper calls only earlier ones
    if python.mentions(used, HELPERS[i]) then
      local text = python.piece(HELPERS[i], flags, values)
      table.insert(found, 1, text)
      used = used .. text
    end
  end
  return found
end

--- The classes of schemes.
---@param list PytorchScheme[] from `schemes.classes`
---@param flags table<string, any>
---@param has_joined boolean whether an attention combines schemes
---@return string[] parts
function M.classes(list, flags, has_joined)
  return tables.joined(tables.map(list, function(one) return schemes.class(one, flags) end),
    { has_joined and python.piece("joined", flags) or nil })
end

--- The function `attend`, for the terms of schemes.
---@param flags table<string, any>
---@param o? table attention_scale and attention_softcap
---@return string text
function M.attend(flags, o)
  return python.piece(flags.explicit and "attend_explicit" or "attend", flags, {
    attention_scale = python.literal(o and o.attention_scale),
    softcap = python.literal(o and o.attention_softcap),
    terms = flags.scheme and ", terms" or "",
    attend_doc = flags.stub and python.piece("attend_doc", flags)
      or ('    """The output of attention%s."""'):format(flags.scheme
        and ", where `terms` has what the position scheme changes" or ""),
    dropout = flags.dropout and ", dropout=0.0" or "",
    dropout_p = flags.dropout and ", dropout_p=dropout" or "",
  })
end

--- The expression that creates the scheme of an attention.
---@param schemes_of PytorchScheme[]
---@return string text
function M.expression(schemes_of)
  local parts = tables.map(schemes_of, function(one) return one.class .. "()" end)
  return parts[2] and ("Joined(%s)"):format(table.concat(parts, ", ")) or parts[1]
end

-- The statements that create the schemes that layers share, and the expression for the scheme of
-- layer i, from 0.
local function creation(layers, cycle)
  local uses = {} -- number of layers by scheme
  for _, layer in ipairs(layers) do
    local scheme = layer.scheme or "none"
    uses[scheme] = (uses[scheme] or 0) + 1
  end
  local statements, choices = {}, {}
  for slot = 1, cycle do
    local layer = layers[slot]
    choices[slot] = M.expression(layer.parts)
    if uses[layer.scheme or "none"] > 1 then
      local name = cycle == 1 and "position" or "position_" .. slot
      statements[slot] = ("        %s = %s"):format(name, choices[slot])
      choices[slot] = name
    end
  end
  local lines, text = tables.entries(statements), choices[1]
  if cycle > 1 or #text > 26 then
    text = cycle > 1 and ("(%s)[i %% %d]"):format(table.concat(choices,
      ",\n                    "), cycle) or text
    lines[#lines + 1] = ("\n        def position(i):  # of layer i, from 0\n"
      .. "            return %s\n"):format(text)
    text = "position(i)"
  end
  return table.concat(lines, "\n"), text
end

-- The flags of a model's options.
local function model_flags(o)
  local flags = {}
  for _, name in ipairs { "norm", "activation" } do
    flags[name .. "=" .. o[name]] = true
  end
  for _, name in ipairs { "parallel_residual", "tied", "tied_embeddings", "head_dim",
    "short_convolution" } do
    flags[name] = o[name] or nil
  end
  if o.qk_norm ~= "none" then
    flags.qk_norm, flags["qk_norm=" .. o.qk_norm] = true, true
  end
  flags.gate = o.activation:find "glu" and not o.activation:find "^gelu" or nil
  flags.given_scale, flags.softcap = o.attention_scale, o.attention_softcap
  flags.explicit = o.attention_softcap
  flags.grouped = o.kv_heads ~= o.heads or nil
  flags.dropout = o.dropout > 0 or nil
  return flags
end

local ACTIVATIONS <const> = { relu = "F.relu(self.inner(x))", gelu = "F.gelu(self.inner(x))",
  gelu_tanh = 'F.gelu(self.inner(x), approximate="tanh")',
  swiglu = "F.silu(self.gate(x)) * self.inner(x)",
  geglu = "F.gelu(self.gate(x)) * self.inner(x)",
  geglu_tanh = 'F.gelu(self.gate(x), approximate="tanh") * self.inner(x)' }

-- What the piece `attention` contains for the projections of queries, keys and values.
local function projections_of(o, inner)
  local names = o.tied and { "query", "key" } or { "query", "key", "value" }
  local is_normed = o.qk_norm == "all"
  return {
    inner = inner, qkv = o.tied and "q, k" or "q, k, v", blank = (" "):rep(o.tied and 7 or 10),
    projected = is_normed and "y" or "linear(x)", name = is_normed and "y" or "linear",
    projections = table.concat(tables.map(names, function(name)
      return (is_normed and (name == "value" and "self.%s(x)" or "self.%s_norm(self.%s(x))")
        or "self.%s"):format(name, name)
    end), is_normed and ",\n                             " or ", "),
    qk_norm_class = o.rms_norm and "Norm" or "RMSNorm",
  }
end

-- What pieces contain in place of "@name@".
local function values_of(o, flags)
  local function bias(...)
    for _, all in ipairs { ... } do
      if all then
        return ""
      end
    end
    return ", bias=False"
  end
  local inner = flags.head_dim and "inner" or "width"
  local logits = ("self.logits(%s)"):format(o.norm == "post" and "x" or "self.norm(x)")
  return tables.merged(projections_of(o, inner), {
    norm_class = o.rms_norm and "Norm" or "RMSNorm",
    qkv_bias = bias(o.attention_bias ~= "none"), output_bias = bias(o.attention_bias == "all"),
    feed_forward_bias = bias(o.feed_forward_bias ~= "none"),
    logits_bias = bias(o.logits_bias ~= "none"),
    position_argument = flags.scheme and ", position" or "",
    terms = flags.scheme and ", terms" or "",
    shared = flags.grouped and "shared" or inner,
    cached_input = flags.reads_x and ', ("x", x, 1)' or "",
    dropout_now = flags.dropout and ", self.dropout if self.training else 0.0" or "",
    open = flags.dropout and "self.dropout(" or "", close = flags.dropout and ")" or "",
    hidden = (flags.dropout and "self.dropout(%s)" or "%s"):format(ACTIVATIONS[o.activation]),
    embedding_scale = o.embedding_scale ~= 1 and " * " .. python.literal(o.embedding_scale) or "",
    logits = o.logits_softcap and ("%s * torch.tanh(%s / %s)"):format(
      python.literal(o.logits_softcap), logits, python.literal(o.logits_softcap)) or logits,
  })
end

local PRECISIONS <const> = { float32 = "(torch.float32, 1e-4, 1e-3)",
  float64 = "(torch.float64, 1e-9, 1e-9)" }

--- A model that can be written as a module of Python.
---@class PytorchModel
---@field options table of the Transformer, complete
---@field layers table[] for each layer its `scheme` and `parts`, a list of PytorchScheme
---@field cycle integer after this many layers, the schemes of the layers repeat
---@field position string the position schemes, for the title
---@field dtype string of the reference, "float32" or "float64"
---@field own? integer index of the first layer with a scheme of the user

--- The values of pieces that models and attention alone share.
---@param position string the position scheme, for the title
---@param dtype string of the reference
---@return table<string, string> values
function M.values(position, dtype)
  return { version = version, position = (#position > 20 and "\n" or " ") .. position,
    bounds = ("(%s%s)"):format(PRECISIONS.float32, dtype == "float64" and ", "
      .. PRECISIONS.float64 or ",") }
end

--- The module of a model.
---@param model PytorchModel
---@return string text
function M.of(model)
  local o, all = model.options, {}
  for _, layer in ipairs(model.layers) do
    table.move(layer.parts, 1, #layer.parts, #all + 1, all)
  end
  local classes, flags = schemes.classes(all, true)
  flags = tables.merged(flags, model_flags(o))
  local values = tables.merged(values_of(o, flags), M.values(model.position, model.dtype))
  local shared, of_layer = "", ""
  if flags.scheme then
    shared, of_layer = creation(model.layers, model.cycle)
    of_layer = ", " .. of_layer
  end
  values.schemes, values.scheme_of_layer = shared, of_layer
  local has_joined = false
  for _, layer in ipairs(model.layers) do
    has_joined = has_joined or #layer.parts > 1
  end

  local of_schemes = M.classes(classes, flags, has_joined)
  flags.own = model.own
  values.own_scheme = model.own and M.expression(model.layers[model.own].parts)
  local attend = M.attend(flags, o)
  local function piece(name)
    return python.piece(name, flags, values)
  end
  return python.module(tables.joined(
    { piece "header", piece "tensors", piece "write_tensors" },
    M.helpers(tables.joined(of_schemes, { attend }), flags), of_schemes,
    { attend, piece(o.rms_norm and "rms_norm" or "layer_norm") },
    { flags.qk_norm and not o.rms_norm and piece "rms_norm" or nil },
    { o.short_convolution and piece "short_convolution" or nil },
    { piece "feed_forward", piece "attention", piece "layer", piece "model" },
    flags.own and { piece "check_scheme" } or {}, { piece "check" }))
end

return M
