--- The families of published models.
local position = require "roper.position"

local M = {}

--- The families, each a PublishedFamily.
M.LIST = { require "roper.model.published.llama", require "roper.model.published.qwen",
  require "roper.model.published.smollm3", require "roper.model.published.olmo2",
  require "roper.model.published.phi3", require "roper.model.published.gemma2",
  require "roper.model.published.gpt_neox", (require "roper.model.published.gpt2") }

--- The types that can be written, in the order in which they are tried.
M.TYPES = { "llama", "qwen2", "mistral", "qwen3", "smollm3", "olmo2", "phi3", "gemma2", "gpt_neox",
  "gpt2" }

--- The options that models of a type always have, without those that a row describes.
---@param kind table of `types`
---@param o table options of the Transformer
---@return table<string, any> options
function M.fixed(kind, o)
  local options = {}
  for name, value in pairs(kind.fixed) do
    if type(value) == "function" then
      options[name] = value(o)
    else
      options[name] = value
    end
  end
  for _, row in ipairs(kind.rows) do
    options[row.option or ""] = nil
  end
  return options
end

--- The features of a head.
---@param o table options of the Transformer
---@return integer count
function M.head_dim(o)
  return o.head_dim or o.d_model // o.heads
end

--- All entries of a model, one list after the other, so that a wrong number of layers is found at
--- the first one that is missing.
---@param family PublishedFamily
---@param o table options of the Transformer, with all sizes
---@return fun(): LayoutEntry? next
function M.entries(family, o)
  return coroutine.wrap(function()
    for _, entry in ipairs(family.ends(o)) do
      coroutine.yield(entry)
    end
    for index = 1, o.layers do
      for _, entry in ipairs(family.layer(o, index)) do
        coroutine.yield(entry)
      end
    end
  end)
end

--- Reorders the rows of queries and keys, and of their norms, for another pairing. Returns other
--- parameters unchanged.
---@param name string of the parameter
---@param x tensor
---@param from "half"|"interleaved"
---@param to "half"|"interleaved"
---@param o table options of the Transformer
---@param scheme table the one of all layers, {type = name, ...}
---@return tensor x
function M.turned(name, x, from, to, o, scheme)
  local part = name:match "attention%.(%a+)%.%a+$" or name:match "attention%.(%a+)_norm%.gain$"
  if part ~= "query" and part ~= "key" or from == to then
    return x
  end
  local dim = M.head_dim(o)
  local heads = x:size(1) // dim
  local fraction = scheme.type ~= "proportional" and scheme.fraction or 1
  return position.convert_pairing(x, from, to, { heads = heads,
    rotated = math.floor(fraction * dim + 0.5) })
end

return M
