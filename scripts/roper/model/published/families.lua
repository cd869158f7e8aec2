--- The families of published models.
local position = require "roper.position"

local M = {}

--- The families, each a PublishedFamily.
M.LIST = { require "roper.model.published.llama", require "roper.model.published.gpt_neox",
  (require "roper.model.published.gpt2") }

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

--- Reorders the rows of queries and keys for another pairing. Returns other parameters unchanged.
---@param name string of the parameter
---@param x tensor
---@param from "half"|"interleaved"
---@param to "half"|"interleaved"
---@param o table options of the Transformer; position is a table
---@return tensor x
function M.turned(name, x, from, to, o)
  local part = name:match "attention%.(%a+)%.%a+$"
  local heads = part == "query" and o.heads or part == "key" and (o.kv_heads or o.heads)
  if not heads or from == to then
    return x
  end
  local dim, scheme = o.d_model // o.heads, o.position
  local fraction = scheme.type ~= "proportional" and scheme.fraction or 1
  return position.convert_pairing(x, from, to, { heads = heads,
    rotated = math.floor(fraction * dim + 0.5) })
end

return M
