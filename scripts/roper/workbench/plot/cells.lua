--- Cells of a heatmap and their colours.
local axes = require "roper.workbench.plot.axis"
local color = require "roper.workbench.plot.color"
local data = require "roper.workbench.plot.data"
local reduce = require "roper.workbench.plot.reduce"

local M = {}

-- Replaces numbers that are not finite with nan. Returns the smallest and the largest finite
-- number, and whether there are gaps.
local function clean(rows)
  local low, high, has_gaps = math.huge, -math.huge, false
  for _, row in ipairs(rows) do
    for j, value in ipairs(row) do
      if value - value == 0 then
        low, high = math.min(low, value), math.max(high, value)
      else
        row[j], has_gaps = 0 / 0, true
      end
    end
  end
  return low, high, has_gaps
end

-- Returns the number of rows (or columns) that a cell averages as text: "8", or "7 to 8".
local function share(size, cells)
  local least = size // cells
  return size % cells == 0 and tostring(least) or ("%d to %d"):format(least, least + 1)
end

--- Returns the cells to draw for a matrix, averaged if there are more than fit.
---@param figure table with matrix, and optionally range, {low, high}, and palette
---@return table cells rows: lists of numbers, nan for a gap; axis: from the smallest to the largest
---   value; palette: its name; map: its colours; gap_color; has_gaps; note: about averaging, if any
function M.read(figure, most_rows, most_columns)
  local rows, columns = figure.matrix:size(1), figure.matrix:size(2)
  local reduced = reduce.matrix(figure.matrix, most_rows, most_columns)
  local cells = { rows = reduced:totable() }
  local low, high
  low, high, cells.has_gaps = clean(cells.rows)
  if low > high then
    error(figure.name .. ": expected at least one finite number, got none", 0)
  end
  data.check_size(figure.name, low)
  data.check_size(figure.name, high)
  local palette = figure.palette or (low < 0 and high > 0 and "diverging" or "viridis")
  cells.palette, cells.map, cells.gap_color = palette, color.MAPS[palette], color.GAPS[palette]
  local range = figure.range
  if not range and palette == "diverging" then
    local most = math.max(math.abs(low), math.abs(high))
    low, high = -most, most
  elseif not range and figure.from_zero then
    low = math.min(low, 0)
  end
  cells.axis = axes.new({ { low, high } }, { range = range })
  if reduced ~= figure.matrix then
    cells.note = ("%d x %d; each cell is the mean of %s x %s"):format(rows, columns,
      share(rows, #cells.rows), share(columns, #cells.rows[1]))
  end
  return cells
end

--- Converts a value to a coordinate on the colour map, from 0 to 1; nan for a gap.
function M.place(cells, value)
  if value ~= value then
    return value
  end
  return math.min(math.max(cells.axis:place(value), 0), 1)
end

--- Creates an axis that numbers the rows or columns of a matrix from `first` on.
function M.numbering(first, count)
  return axes.new({ { 0 } },
    { range = { first - 0.5, first + count - 0.5 }, integers = true })
end

return M
