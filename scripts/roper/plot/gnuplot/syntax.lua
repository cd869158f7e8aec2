--- How texts and numbers are written in gnuplot's language.
local text = require "roper.plot.text"

local M = {}

--- Text as a gnuplot expression: strings in single quotes, which nothing can escape from, joined
--- by single quotes in double ones.
---@param string string any bytes
---@return string
function M.quote(string)
  return "'" .. text.clean(string):gsub("'", [['."'".']]) .. "'"
end

--- Numbers as lines of a gnuplot data block; an empty one, which breaks a line, for nan.
---@param name string of the block, such as "$a"
---@param lists number[][] the columns
---@return string
function M.block(name, lists)
  local lines = { name .. " << EOD" }
  for i = 1, #lists[1] do
    local numbers, sum = {}, 0
    for j, list in ipairs(lists) do
      numbers[j] = ("%.9g"):format(list[i])
      sum = sum + list[i] * 0
    end
    lines[i + 1] = sum == sum and table.concat(numbers, " ") or ""
  end
  lines[#lines + 1] = "EOD"
  return table.concat(lines, "\n")
end

return M
