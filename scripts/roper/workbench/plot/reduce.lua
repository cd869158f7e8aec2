--- Reduces the number of points and cells of a plot with little effect on its appearance.
local core = require "roper.core"
local tables = require "roper.base.tables"

local M = {}

local MOST_POINTS <const> = 4000 -- of a path; more than the number of columns of a picture
local GRID <const> = { 200, 150 } -- one point of a cloud is kept in each cell

-- Returns the indices, from first to last, of the first, the last, the smallest and the largest
-- number in each list.
local function extremes(lists, first, last)
  local kept = {}
  for _, list in ipairs(lists) do
    local least, greatest, from, to
    for i = first, last do
      local value = list[i]
      if value == value then
        from, to = from or i, i
        least = (not least or value < list[least]) and i or least
        greatest = (not greatest or value > list[greatest]) and i or greatest
      end
    end
    for _, i in ipairs { from, to, least, greatest } do
      kept[i] = true
    end
  end
  return tables.keys(kept)
end

--- Reduces a path to a few thousand points: the first, the last, the smallest and the largest point
--- of each stretch. Gaps are preserved.
---@param series table with x, y and optionally low and high; nan for a gap
---@return table series the argument itself if it is short enough
function M.path(series)
  local count = #series.y
  if count <= MOST_POINTS then
    return series
  end
  local lists = { series.y, series.x, series.low, series.high }
  local kept, last_kept = {}, 0 -- indices; 0 for a gap
  local stretch = math.ceil(4 * count / MOST_POINTS)
  for first = 1, count, stretch do
    for _, i in ipairs(extremes(lists, first, math.min(first + stretch - 1, count))) do
      local has_gap = false
      for between = last_kept + 1, i - 1 do
        has_gap = has_gap or series.y[between] ~= series.y[between]
          or series.x[between] ~= series.x[between]
      end
      kept[#kept + 1] = has_gap and 0 or nil
      kept[#kept + 1], last_kept = i, i
    end
  end
  local function reduced(list)
    return list and tables.map(kept, function(i) return list[i] or 0 / 0 end)
  end
  return setmetatable({ x = reduced(series.x), y = reduced(series.y), low = reduced(series.low),
    high = reduced(series.high) }, { __index = series })
end

--- Reduces a large cloud of points to one point in each cell of a grid.
---@param series table with x and y; nan for a gap
---@return table series the argument itself if it is small enough
function M.cloud(series, x_axis, y_axis)
  if #series.y <= MOST_POINTS then
    return series
  end
  local result = setmetatable({ x = {}, y = {} }, { __index = series })
  local seen = {}
  for i = 1, #series.y do
    local column = x_axis:place(series.x[i]) * GRID[1]
    local row = y_axis:place(series.y[i]) * GRID[2]
    local cell = column == column and row == row
      and math.floor(column) * 2 * GRID[2] + math.floor(row)
    if cell and not seen[cell] then
      seen[cell] = true
      table.insert(result.x, series.x[i])
      table.insert(result.y, series.y[i])
    end
  end
  return result
end

-- Returns a matrix [parts, count] whose row i computes the mean of the i-th of `parts` stretches of
-- nearly equal length in `count` elements.
local function averaging(parts, count, dtype)
  local part = (core.arange(0, count, 1, "float64") * (parts / count) + 1e-9):floor()
  local member = part:view { 1, count }:eq(core.arange(0, parts, 1, "float64"):view { parts, 1 })
    :to(dtype)
  return member / member:sum(2):view { parts, 1 }
end

--- Reduces a matrix to at most `rows` x `columns` cells, each the mean of the finite elements in a
--- block; nan if a block has none.
function M.matrix(matrix, rows, columns)
  rows, columns = math.min(rows, matrix:size(1)), math.min(columns, matrix:size(2))
  if rows == matrix:size(1) and columns == matrix:size(2) then
    return matrix
  end
  local dtype = matrix:dtype()
  local left = averaging(rows, matrix:size(1), dtype)
  local right = averaging(columns, matrix:size(2), dtype):transpose(1, 2)
  local is_finite = (matrix - matrix):eq(0)
  local sums = left:matmul(core.where(is_finite, matrix, 0)):matmul(right)
  return sums / left:matmul(is_finite:to(dtype)):matmul(right)
end

return M
