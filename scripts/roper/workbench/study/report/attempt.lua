--- Draws the parts of a report one by one: a part that fails is replaced by a line that names it.
local d = require "roper.text.document"
local eval = require "roper.text.eval"

local M = {}

--- Calls a function. Ctrl-C is an error.
---@param f function
---@return any result nil after an error
---@return string? message of the error
function M.call(f, ...)
  local ok, result = eval.call(f, ...)
  if not ok and result.interrupted then
    error("interrupted", 0)
  end
  return ok and result or nil, not ok and result.message or nil
end

--- Draws a part of a report. If that fails, its name and the reason are added to `view.failed`.
---@param view table
---@param name string of the part
---@param draw function
---@param ... any its arguments
---@return any nodes of the part, or a paragraph with its name and the reason
function M.draw(view, name, draw, ...)
  local nodes, message = M.call(draw, ...)
  if not message then
    return nodes
  end
  view.failed = view.failed or {}
  table.insert(view.failed, ("%s: %s"):format(name, message))
  return d.paragraph({ d.styled("name", name), " could not be drawn: ", message }, "missing")
end

return M
