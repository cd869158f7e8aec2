--- Trained tables of vectors indexed by distance.
local core = require "roper.core"

local M = {}

--- Rows of a table, split into heads. Indices are rounded, and clipped to those of the table.
---@param table tensor [rows, heads * features]
---@param index tensor [n], float64, from 0
---@param heads integer
---@return tensor y [heads, n, features]
function M.rows(table, index, heads)
  local whole = index:round():maximum(0):minimum(table:size(1) - 1):to "int32"
  return core.embedding(table, whole):view { index:count(), heads, -1 }:transpose(1, 2)
end

--- A new table. Its values are small, so that scores are initially almost those without positions.
---@param rows integer
---@param features integer
---@return tensor table [rows, features], a parameter
function M.table(rows, features)
  return (core.randn { rows, features } * 0.02):parameter()
end

return M
