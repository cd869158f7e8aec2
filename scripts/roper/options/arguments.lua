--- Argument checks of public functions.
local options_of = require "roper.options.rows"

local M = {}

--- Raises an error in the name of a function unless its arguments have the right kinds.
---@param name string of the function
---@param ... any for each argument: its name; its kind, as for `options.mismatch`, followed by "?"
---   if the argument is optional, or a list of choices with `optional`; and its value
function M.check(name, ...)
  for i = 1, select("#", ...), 3 do
    local what, kind, value = select(i, ...)
    local is_missing = value == nil and type(kind) == "table" and kind.optional
    local refusal = not is_missing and options_of.refusal(kind, value)
    if refusal then
      error(("%s: %s: %s"):format(name, what, refusal), 3)
    end
  end
end

return M
