--- Elapsed time.
local uv = require "luv"

--- Run a function.
---@param f function
---@return number seconds
---@return any its result
return function(f, ...)
  local start = uv.hrtime()
  local result = f(...)
  return (uv.hrtime() - start) * 1e-9, result
end
