--- Plots as lines of text, in Braille dots and Unicode blocks.
local screens = require "roper.plot.screen"
local text = require "roper.plot.text"

local M = {}

-- What draws a figure of a kind: a function of the screen, the first row, the figure, and whether
-- there are colours, that returns the row below.
local function drawer(kind)
  return require("roper.plot.terminal." .. kind)
end

--- A plot as text.
---@param figure table
---@param columns integer to stay within
---@param colored boolean with control sequences for the colours?
---@param rows integer? of the terminal, which a heatmap is to fit where it can
---@return string[] lines
function M.lines(figure, columns, colored, rows)
  local screen, row = screens.new(columns, rows), 1
  if figure.title ~= "" then
    local title = text.fit(figure.title, columns - 2)
    local is_narrow = figure.is_square or figure.kind == "matrix"
    screen:put(1, is_narrow and 3 or 1 + (columns - text.width(title)) // 2, title)
    row = 2
  end
  row = drawer(figure.kind)(screen, row, figure, colored)
  screen:label(row, 1, figure.note, columns)
  return screen:lines(colored)
end

return M
