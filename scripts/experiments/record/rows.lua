--- The recorded runs of a study: `runs.csv`, a row for each run, and `machines.csv`, a row for each
--- commit and machine that they name.
local csv = require "roper.text.csv"
local files = require "roper.system.file"
local tables = require "roper.base.tables"

local M = {}

--- Columns of `machines.csv`.
M.MACHINE = { "machine", "commit", "processor", "instructions", "blas", "threads" }

-- Numbers are recorded with this many decimals, those by length and of curves with fewer.
local DIGITS <const>, SHORT_DIGITS <const> = 5, 4

-- A number with at most some decimals.
local function rounded(number, digits)
  local text = ("%%.%df"):format(digits):format(number)
  return (text:gsub("(%..-)0+$", "%1"):gsub("%.$", ""))
end

-- Splits a line into its cells.
local function cells_of(line, path)
  local list, rest = {}, line .. ","
  while rest ~= "" do
    local cell, after = rest:match '^"([^"]*)",()'
    if not cell then
      cell, after = rest:match '^([^,"]*),()'
    end
    if not cell then
      error(("%s: expected comma-separated values, got %s"):format(path, line:sub(1, 60)), 0)
    end
    list[#list + 1], rest = cell, rest:sub(after)
  end
  return list
end

--- Reads a table.
---
--- Errors: a row with more or fewer cells than the head.
---@param path string
---@return table[] rows texts by column; an empty cell is missing. None if there is no file
---@return string[] columns
function M.read(path)
  local rows, columns = {}, {}
  for line in (files.read(path) or ""):gmatch "[^\n]+" do
    local cells = cells_of(line, path)
    if #columns == 0 then
      columns = cells
    elseif #cells ~= #columns then
      error(("%s: expected %d cells, got %d in %s"):format(path, #columns, #cells,
        line:sub(1, 60)), 0)
    else
      local row = {}
      for i, column in ipairs(columns) do
        row[column] = cells[i] ~= "" and cells[i] or nil
      end
      rows[#rows + 1] = row
    end
  end
  return rows, columns
end

--- Writes a table, in one piece. Numbers are rounded.
---@param path string
---@param columns string[]
---@param rows table[] texts and numbers by column
function M.write(path, columns, rows)
  files.write(path, csv.encode(columns, tables.map(rows, function(row)
    local cells = {}
    for name, value in pairs(row) do
      cells[name] = math.type(value) == "float"
        and rounded(value, name:find "_%d" and SHORT_DIGITS or DIGITS) or value
    end
    return cells
  end)))
end

--- Encodes the points of a curve, "50:0.5 100:0.75".
---@param points number[][] step and value each
---@return string
function M.curve(points)
  return table.concat(tables.map(points, function(point)
    return ("%d:%s"):format(point[1], rounded(point[2], SHORT_DIGITS))
  end), " ")
end

--- Returns the points of a curve.
---@param text string
---@return number[][] points step and value each
function M.points(text)
  local points = {}
  for step, value in text:gmatch "(%d+):(%S+)" do
    points[#points + 1] = { tonumber(step), tonumber(value) }
  end
  return points
end

return M
