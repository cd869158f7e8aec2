--- Print options.
local M = {}

-- The default, smallest and largest value of each option.
local LIMITS <const> = {
  precision = { 4, 0, 17 }, threshold = { 1000, 0, math.maxinteger },
  edge_items = { 3, 1, 1000 }, line_width = { 0, 0, 100000 }, depth = { 4, 1, 100 },
  entries = { 100, 1, math.maxinteger },
}

--- The current options.
M.current = {}
for name, limits in pairs(LIMITS) do
  M.current[name] = limits[1]
end

---@class PrintOptions
---@field precision? integer = 4; digits after the decimal point in tensors; numbers in tables have
---   3 significant digits more
---@field threshold? integer = 1000; tensors with more elements are summarized by their edges
---@field edge_items? integer = 3; elements at each end of an axis in a summary
---@field line_width? integer = 0; width of a line in columns, 0 for that of the terminal
---@field depth? integer = 4; depth to which nested tables are shown
---@field entries? integer = 100; limit of entries of a table

--- Changes print options and returns all of them.
---
--- Errors: an unknown option; a number out of range.
---
---     > roper.print_options{precision = 2}.precision
---     2
---     > roper.linspace(0, 1, 4)
---     float32 [4]
---     0.00 0.33 0.67 1.00
---     > roper.print_options{precision = 4};
---@param options? PrintOptions options to change
---@return PrintOptions all current options
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
