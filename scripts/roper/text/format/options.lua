--- Print options.
local options_of = require "roper.options.rows"
local tables = require "roper.base.tables"

local M = {}

local OPTIONS <const> = options_of.define("PrintOptions", {
  { "precision", { smallest = 0, largest = 17 }, 4,
    "digits after the decimal point in tensors; numbers in tables have 3 significant digits more" },
  { "threshold", "count", 1000, "tensors with more elements are summarized by their edges" },
  { "edge_items", { smallest = 1, largest = 1000 }, 3,
    "elements at each end of an axis in a summary" },
  { "line_width", { smallest = 0, largest = 100000 }, 0,
    "width of a line in columns, 0 for that of the terminal" },
  { "depth", { smallest = 1, largest = 100 }, 4, "depth to which nested tables are shown" },
  { "entries", "size", 100, "maximum number of entries shown of a table" },
})

--- The current options.
M.current = options_of.completed("PrintOptions", {})

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
  if options == nil or type(options) == "table" then
    options = tables.merged(M.current, options)
  end
  local asked = options_of.check("print_options", options, OPTIONS)
  M.current = tables.merged(asked)
  return asked
end

return M
