--- Positions elements in a chart relative to its size.
local h = require("roper.text.markup").h

local M = {}

M.EM = 17 -- pixels; the text is still legible if a picture is displayed 350 pixels wide
M.LETTER = 0.58 -- em; approximate width of a letter

--- Formats a share of the plot's width or height.
function M.percent(share)
  return ("%.2f%%"):format(100 * share)
end

--- Moves the origin of elements to a point.
---@param x number share of the width
---@param y number share of the height, from the top
---@param fields table attributes and elements
function M.at(x, y, fields)
  fields.x, fields.y = M.percent(x), M.percent(y)
  return h.svg(fields)
end

--- Returns the ticks of an axis.
---@param count integer approximate number of ticks
---@return table[] ticks texts, with the Unicode minus sign, each at a share of the axis
function M.ticks(axis, count, from_top)
  local list = {}
  for i, tick in ipairs(axis:ticks(count)) do
    local place = axis:place(tick.value)
    list[i] = { at = from_top and 1 - place or place, text = (tick.text:gsub("^-", "−")) }
  end
  return list
end

--- Returns grid lines at the ticks of the vertical axis.
---@param width number of the plot, in units
function M.rules(ticks, width, height)
  local rules = {}
  for i, tick in ipairs(ticks) do
    rules[i] = h.path { class = "grid", d = ("M0 %.1fH%.1f"):format(height * tick.at, width) }
  end
  return rules
end

return M
