--- Trained tables of vectors indexed by distance.
local core = require "roper.core"

local M = {}

--- Row indices: x rounded and clipped to 0 .. last.
---@param x tensor float64
---@param last integer
---@return tensor index int32, with the shape of x
function M.clipped(x, last)
  return x:round():maximum(0):minimum(last):to "int32"
end

--- Rows of a table, split into heads.
---@param table tensor [rows, heads * features]
---@param index tensor [n], int32, from 0
---@param heads integer
---@return tensor y [heads, n, features]
function M.rows(table, index, heads)
  return core.embedding(table, index):view { index:count(), heads, -1 }:transpose(1, 2)
end

--- A new table. Its values are small, so that scores are initially almost those without positions.
---@param rows integer
---@param features integer
---@return tensor table [rows, features], a parameter
function M.table(rows, features)
  return (core.randn { rows, features } * 0.02):parameter()
end

return M
