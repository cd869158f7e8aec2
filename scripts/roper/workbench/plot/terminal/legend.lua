--- Draws the legend below a plot.
local color = require "roper.workbench.plot.color"
local text = require "roper.text.width"

local GAP <const> = 3

--- Writes the labels of the series, each beside a sample of its line or mark.
---@param left integer the first column
---@param sample fun(series: table): string
---@return integer row the next one
return function(screen, row, left, figure, sample)
  if not figure.legend then
    return row
  end
  local seen, column = {}, left
  for _, series in ipairs(figure.series) do
    if series.label and not seen[series.label] then
      seen[series.label] = true
      local mark = sample(series) .. " "
      local label = text.fit(series.label, screen.columns - left - text.width(mark))
      local width = text.width(mark .. label)
      if column > left and column + width - 1 > screen.columns then
        row, column = row + 1, left
      end
      screen:put(row, column, mark, color.series(series.index))
      screen:put(row, column + text.width(mark), label)
      column = column + width + GAP
    end
  end
  return column > left and row + 1 or row
end
