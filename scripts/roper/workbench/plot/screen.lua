--- Buffer of coloured characters that is converted to lines of text.
local color = require "roper.workbench.plot.color"
local text = require "roper.text.width"

local Screen = {}
Screen.__index = Screen

local M = {}

--- Creates an empty screen, which grows downwards as text is written to it.
---@param most_rows integer? preferred maximum number of rows
---@return table screen with the methods put and lines
function M.new(columns, most_rows)
  return setmetatable({ columns = columns, most_rows = most_rows or math.huge, rows = {} }, Screen)
end

function Screen:set(row, column, cell)
  if row < 1 or column < 1 or column > self.columns then
    return
  end
  for i = #self.rows + 1, row do
    self.rows[i] = {}
  end
  self.rows[row][column] = cell
end

--- Writes text, clipped at the edges of the screen.
---@param row integer from 1 at the top
---@param column integer from 1
---@param string string UTF-8 without control characters
---@param foreground string? "#RRGGBB"; the terminal's own by default
function Screen:put(row, column, string, foreground, background)
  for _, _, character, width in text.characters(string) do
    for i = 1, width do
      self:set(row, column + i - 1, { i == 1 and character or "", foreground, background })
    end
    column = column + width
  end
end

--- Writes text in a row of its own, cut to fit. Does nothing if the text is nil or empty.
---@param columns integer available for the text
---@return integer row the next one
function Screen:label(row, column, string, columns)
  if not string or string == "" then
    return row
  end
  self:put(row, column, text.fit(string, columns))
  return row + 1
end

-- Returns the last column of a row that is not blank.
local function last_column(row, columns)
  for column = columns, 1, -1 do
    local cell = row[column]
    if cell and (cell[1] ~= " " or cell[3]) then
      return column
    end
  end
  return 0
end

--- Returns the screen as lines, without trailing spaces.
---@param colored boolean true to include control sequences for colours
---@return string[]
function Screen:lines(colored)
  local lines = {}
  for i, row in ipairs(self.rows) do
    local parts, foreground, background = {}, nil, nil
    for column = 1, last_column(row, self.columns) do
      local cell = row[column] or { " ", foreground }
      if colored and (cell[2] ~= foreground or cell[3] ~= background) then
        foreground, background = cell[2], cell[3]
        parts[#parts + 1] = "\27[0m"
        parts[#parts + 1] = foreground and color.sequence(foreground, "foreground")
        parts[#parts + 1] = background and color.sequence(background, "background")
      end
      parts[#parts + 1] = cell[1]
    end
    if foreground or background then
      parts[#parts + 1] = "\27[0m"
    end
    lines[i] = table.concat(parts)
  end
  return lines
end

return M
