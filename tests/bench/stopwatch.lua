--- Time that passes.
local uv = require "luv"

--- Run a function.
---@param f function
---@return number seconds it took
---@return any what it returned
return function(f, ...)
  local start = uv.hrtime()
  local result = f(...)
  return (uv.hrtime() - start) * 1e-9, result
end
