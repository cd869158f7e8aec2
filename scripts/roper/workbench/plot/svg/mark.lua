--- Marks that distinguish series without colour.
local h = require("roper.text.markup").h

local M = {}

-- Paths in a box of 10 by 10.
local MARKS <const> = {
  "M5 1A4 4 0 1 0 5 9A4 4 0 1 0 5 1Z", -- disc
  "M1.5 1.5H8.5V8.5H1.5Z", -- square
  "M5 0.8L9.4 8.8H0.6Z", -- triangle
  "M5 0.2L9.8 5L5 9.8L0.2 5Z", -- diamond
  "M5 9.2L9.4 1.2H0.6Z", -- triangle on its tip
  "M3.6 0.5H6.4V3.6H9.5V6.4H6.4V9.5H3.6V6.4H0.5V3.6H3.6Z", -- cross
  "M5 0L6.3 3.5H10L7 5.8L8 9.6L5 7.2L2 9.6L3 5.8L0 3.5H3.7Z", -- star
}

-- Classes of the lines of the first series, as many as there are marks, the second, ...
local DASHES <const> = { false, "dashed", "dash-dotted", "long-dashed" }

--- Returns the CSS class that sets the colour of a series.
---@param index integer number of the series
function M.class(index)
  return "s" .. (index - 1) % #MARKS + 1
end

--- Returns the CSS classes that set the colour of a series: that of its number, and that of its
--- quantity if it has one.
---@param series table with index and perhaps quantity
function M.classes(series)
  local quantity = series.quantity
  return M.class(series.index) .. (quantity and quantity ~= "x" and " " .. quantity or "")
end

--- Returns the CSS class that dashes the lines of a series; nil for solid ones.
---@param index integer number of the series
function M.dashes(index)
  return DASHES[(index - 1) // #MARKS % #DASHES + 1] or nil
end

--- Returns the mark of a series. Series of the same colour have different marks.
---@param transform string? an SVG transformation that places it in a chart
function M.path(index, transform)
  return h.path { d = MARKS[(index - 1 + (index - 1) // #MARKS) % #MARKS + 1],
    transform = transform }
end

--- Returns the mark of a series as an inline picture for text.
function M.beside_text(index)
  return h.svg { class = "mark " .. M.class(index), viewBox = "0 0 10 10",
    ["aria-hidden"] = "true", M.path(index) }
end

return M
