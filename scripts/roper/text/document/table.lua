--- Fits the rows of a table into the width of a terminal.
local tables = require "roper.base.tables"
local text = require "roper.text.width"

local M = {}

local GAP <const> = 2 -- columns of the terminal between cells
local SHORTEST <const> = 8 -- columns to which a cell can be shortened
local LONGEST_WORD <const> = 24 -- longer words can be broken

-- The columns of a table, each with its width and the width to which it can be reduced.
local function columns_of(rows, head, o)
  local columns, is_short = {}, tables.set(o.shorten or {})
  for _, row in ipairs(rows) do
    for i, cell in ipairs(row) do
      local column = columns[i] or { index = i, side = text.side(o.sides, i), width = 0,
        least = 0, is_short = is_short[i] }
      local can_wrap = row == head or column.side == "l"
      local longest = can_wrap and 0 or text.width(cell)
      for _, part in ipairs(can_wrap and text.wrap(cell, 1) or {}) do
        longest = math.max(longest, math.min(text.width(part), LONGEST_WORD))
      end
      column.width = math.max(column.width, text.width(cell))
      column.least = math.max(column.least, longest)
      columns[i] = column
    end
  end
  for _, column in ipairs(columns) do
    column.least = column.is_short and math.min(column.width, SHORTEST) or column.least
  end
  return columns
end

local function total(columns, field)
  local sum = GAP * (#columns - 1)
  for _, column in ipairs(columns) do
    sum = sum + column[field]
  end
  return sum
end

-- Leaves out columns until the others fit: those of `drop`, then the last ones.
local function dropped(columns, drop, width)
  local names = {}
  while #columns > 1 and total(columns, "least") > width do
    local at = #columns
    for i, column in ipairs(columns) do
      at = column.index == (drop or {})[#names + 1] and i or at
    end
    names[#names + 1] = table.remove(columns, at).index
  end
  return names
end

-- Reduces the widths of columns until they fit: first those that are shortened, then the widest.
local function reduce(columns, width)
  for _, column in ipairs(columns) do
    column.width = math.max(math.min(column.width, width), math.min(column.least, width))
  end
  for _ = 1, total(columns, "width") - width do
    local best
    for _, column in ipairs(columns) do
      local is_better = not best or column.is_short and not best.is_short
        or column.is_short == best.is_short and column.width > best.width
      best = column.width > column.least and is_better and column or best
    end
    if best then
      best.width = best.width - 1
    end
  end
end

-- The lines of a cell. Words that are too long are broken.
local function lines_of(cell, column)
  if text.width(cell) <= column.width then
    return { cell }
  elseif column.is_short then
    return { text.fit(cell, column.width) }
  end
  local lines = {}
  for _, line in ipairs(text.wrap(cell, column.width)) do
    while text.width(line) > column.width do
      local part = text.cut(line, math.max(column.width, 2))
      lines[#lines + 1], line = part, line:sub(#part + 1)
    end
    lines[#lines + 1] = line
  end
  return lines
end

--- Fits rows into a width: shortens or wraps cells; if that does not suffice, leaves out columns.
---@param rows string[][]
---@param head string[]? the row that is the head
---@param o DocumentTable
---@param width number columns of the terminal
---@return string[] lines
---@return integer head_lines number of lines of the head
---@return integer[] dropped the columns that were left out
function M.fit(rows, head, o, width)
  local columns = columns_of(rows, head, o)
  local out = dropped(columns, o.drop, width)
  reduce(columns, width)
  local cells, head_lines = {}, 0
  for _, row in ipairs(rows) do
    local first = #cells
    for i, column in ipairs(columns) do
      for j, line in ipairs(lines_of(row[column.index] or "", column)) do
        cells[first + j] = cells[first + j] or tables.map(columns, function() return "" end)
        cells[first + j][i] = line
      end
    end
    head_lines = row == head and #cells or head_lines
  end
  return text.rows(cells, table.concat(tables.map(columns, function(column)
    return column.side
  end))), head_lines, out
end

return M
