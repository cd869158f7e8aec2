--- What printing goes by.
local M = {}

-- The standard, least and largest value of each.
local LIMITS <const> = {
  precision = { 4, 0, 17 }, threshold = { 1000, 0, math.maxinteger },
  edge_items = { 3, 1, 1000 }, line_width = { 0, 0, 100000 }, depth = { 4, 1, 100 },
  entries = { 100, 1, math.maxinteger },
}

--- The options as they are now.
M.current = {}
for name, limits in pairs(LIMITS) do
  M.current[name] = limits[1]
end

---@class PrintOptions
---@field precision? integer = 4; digits after the point, in tensors; tables: 3 more in all
---@field threshold? integer = 1000; tensors with more elements show their edges only
---@field edge_items? integer = 3; elements at each end of an axis that is cut
---@field line_width? integer = 0; columns to stay within, 0 for those of the terminal
---@field depth? integer = 4; nested tables show that far
---@field entries? integer = 100; of one table

--- Change how values are printed.
---
--- Errors: an unknown option, a number out of its range.
---
---     > roper.print_options{precision = 2}.precision
---     2
---     > roper.linspace(0, 1, 4)
---     float32 [4]
---     0.00 0.33 0.67 1.00
---     > roper.print_options{precision = 4};
---@param options? PrintOptions those to change
---@return PrintOptions all as they are now
function M.print_options(options)
  local rules = {}
  for name, value in pairs(M.current) do
    rules[name] = { { smallest = LIMITS[name][2], largest = LIMITS[name][3] }, value }
  end
  local asked = require("roper.base.options").check("print_options", options, rules)
  M.current = require("roper.base.tables").merged(asked)
  return asked
end

return M
