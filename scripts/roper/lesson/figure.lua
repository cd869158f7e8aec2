--- Figures of lessons: the code that draws one, told what for.
local code = require "roper.base.code"

local M = {}

--- Draw a figure of a step whose code was run.
---@param figure {draw: string} Lua that draws with `plot`, with `format = format` among the options
---@param scope table
---@param format "svg"? on the terminal by default
---@return string? svg
function M.draw(figure, scope, format)
  local drawing = setmetatable({ format = format }, { __index = scope })
  local action, _, message = code.compile(figure.draw, "figure", drawing)
  if not action then
    error(message, 0)
  end
  return action()
end

return M
