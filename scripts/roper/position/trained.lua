--- Tables of trained vectors that schemes read by distance.
local core = require "roper.core"

local M = {}

--- Rows of a table for numbers: the nearest whole one, clipped to what the table has.
---@param x tensor float64
---@param last integer
---@return tensor index of the shape of x, int32, 0 .. last
function M.clipped(x, last)
  return x:round():maximum(0):minimum(last):to "int32"
end

--- Rows of a table, of each head apart.
---@param table tensor [rows, heads * features]
---@param index tensor [n], int32, from 0
---@param heads integer
---@return tensor y [heads, n, features]
function M.rows(table, index, heads)
  return core.embedding(table, index):view { index:count(), heads, -1 }:transpose(1, 2)
end

--- A table as it starts: small, so that the scores are nearly those without positions.
---@param rows integer
---@param features integer
---@return tensor table [rows, features], a parameter
function M.table(rows, features)
  return (core.randn { rows, features } * 0.02):parameter()
end

return M
