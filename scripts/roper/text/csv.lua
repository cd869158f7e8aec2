--- Tables as comma-separated values (RFC 4180, with "\n" at the end of lines). A spreadsheet runs a
--- cell that begins with "=", "+", "-" or "@" as a formula; "'" in front of a text prevents that.
local core = require "roper.core"

local M = {}

-- Returns a number with as few digits as give back the same number.
local function shortest(value)
  for digits = 15, 17 do
    local text = ("%%.%dg"):format(digits):format(value)
    if tonumber(text) == value then
      return text
    end
  end
end

-- Returns the text of a value. A number that is not finite is NaN, Inf or -Inf, which pandas and R
-- read as such.
local function plain(value)
  if value == nil then
    return ""
  elseif value == core.json_null then
    return "NaN"
  elseif math.type(value) == "float" then
    return value ~= value and "NaN" or value == math.huge and "Inf"
      or value == -math.huge and "-Inf" or shortest(value)
  end
  return type(value) == "table" and core.json_encode(value) or tostring(value)
end

-- Returns a text that no spreadsheet runs as a formula. A "'" at the beginning is doubled, so that
-- readers can remove the first one of every text.
local function neutral(text)
  return (text:gsub("^[=+%-@\t\r\n']", "'%0"))
end

local function cell(value)
  local text = type(value) == "string" and neutral(value) or plain(value)
  return text:find '[",\r\n]' and ('"%s"'):format(text:gsub('"', '""')) or text
end

local function line(values, count)
  local cells = {}
  for i = 1, count do
    cells[i] = cell(values[i])
  end
  return table.concat(cells, ",") .. "\n"
end

--- Encodes a table.
---@param columns string[]
---@param rows table[] tables of values by column; a missing value becomes an empty cell
---@return string text
function M.encode(columns, rows)
  local lines = { line(columns, #columns) }
  for i, row in ipairs(rows) do
    local values = {}
    for k, column in ipairs(columns) do
      values[k] = row[column]
    end
    lines[i + 1] = line(values, #columns)
  end
  return table.concat(lines)
end

return M
