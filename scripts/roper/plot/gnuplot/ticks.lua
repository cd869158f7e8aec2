--- Names in place of the numbers of a gnuplot axis.
local syntax = require "roper.plot.gnuplot.syntax"
local text = require "roper.plot.text"

local M = {}

local LONGEST_NAME <const> = 24
local ROOM <const> = 48 -- letters that fit side by side below a plot

--- The command that names the places 1, 2, ... of an axis; names that are too long to stand side
--- by side below a plot are turned.
---@param letter "x"|"y"
---@param names string[]
---@return string
function M.named(letter, names)
  local ticks, longest = {}, 0
  for i, name in ipairs(names) do
    name = text.fit(name, LONGEST_NAME)
    longest = math.max(longest, text.width(name))
    ticks[i] = ("%s %d"):format(syntax.quote((name:gsub("%%", "%%%%"))), i)
  end
  local is_turned = letter == "x" and #names * (longest + 1) > ROOM and longest > 1
  return ("set %stics %s scale 0 (%s)"):format(letter, is_turned and "rotate by 90 right" or "",
    table.concat(ticks, ", "))
end

return M
