--- Conversion of weights between the two pairings of rotated features.
local arguments = require "roper.options.arguments"
local core = require "roper.core"
local options_of = require "roper.options.rows"

local M = {}

-- For each feature in the order of `to`, its index, from 1, in the order of `from`.
local function pairing_order(rotated, from, to)
  local indices = core.arange(1, rotated + 1, 1, "int32")
  if from == to then
    return indices
  end
  local pairs_of = from == "half" and { 2, rotated // 2 } or { rotated // 2, 2 }
  return indices:view(pairs_of):transpose(1, 2):view { rotated }
end

local OPTIONS <const> = options_of.define("ConvertPairingOptions", {
  { "heads", "size", 1, "number of heads" },
  { "rotated", "integer?", nil, "number of rotated features in a head; by default all of them" },
  { "axis", "integer", 1, "axis of the features" },
})

local PAIRINGS <const> = { "half", "interleaved" }

--- Reorders weights that were trained with one pairing of features, for use with the other. Convert
--- the rows of the query and key projections and, for RoPER, also the rows of the value projection
--- and (with axis 2) the columns of the output projection.
---
--- Errors: a number of features that is not a multiple of `heads`; an odd `rotated`, or one larger
--- than a head.
---
---     > roper.position.convert_pairing(roper.arange(0, 8), "half", "interleaved")
---     float32 [8]
---     0 4 1 5 2 6 3 7
---@param weights tensor [heads * dim, inputs], [outputs, heads * dim] with axis 2, or [heads * dim]
---@param from "half"|"interleaved"
---@param to "half"|"interleaved"
---@param options? ConvertPairingOptions
---@return tensor y of the shape of weights
function M.convert_pairing(weights, from, to, options)
  arguments.check("convert_pairing", "weights", "tensor", weights, "from", PAIRINGS, from, "to",
    PAIRINGS, to)
  local o = options_of.check("convert_pairing", options, OPTIONS)
  local heads, axis = o.heads, o.axis
  local width = weights:size(axis)
  if width % heads ~= 0 then
    error(("convert_pairing: axis %d: expected a multiple of %d heads, got %d features"):format(
      axis, heads, width), 2)
  end
  local dim = width // heads
  local rotated = o.rotated or dim
  if rotated < 0 or rotated > dim or rotated % 2 ~= 0 then
    error(("convert_pairing: rotated: expected an even number up to %d, got %d"):format(dim,
      rotated), 2)
  end
  local order = core.cat({ pairing_order(rotated, from, to),
    core.arange(rotated + 1, dim + 1, 1, "int32") }, 1)
  local first = core.arange(0, width, math.max(dim, 1), "int32"):unsqueeze(2) -- of each head
  return weights:index_select(axis, (first + order):view { width })
end

return M
