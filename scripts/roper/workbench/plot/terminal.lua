--- Renders plots as lines of text, with Braille dots and Unicode blocks.
local screens = require "roper.workbench.plot.screen"
local text = require "roper.text.width"

local M = {}

--- Renders a plot as text.
---@param columns integer maximum width
---@param colored boolean true to include control sequences for colours
---@param rows integer? of the terminal, which a heatmap fits if possible
---@return string[] lines
function M.lines(figure, columns, colored, rows)
  local screen, row = screens.new(columns, rows), 1
  if figure.title ~= "" then
    local title = text.fit(figure.title, columns - 2)
    local is_narrow = figure.is_square or figure.kind == "matrix"
    screen:put(1, is_narrow and 3 or 1 + (columns - text.width(title)) // 2, title)
    row = 2
  end
  local draw = require("roper.workbench.plot.terminal." .. figure.kind)
  row = draw(screen, row, figure, colored) -- the row below
  screen:label(row, 1, figure.note, columns)
  return screen:lines(colored)
end

return M
