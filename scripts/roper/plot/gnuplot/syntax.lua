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

--- Numbers as lines of a gnuplot data block; an empty one for each stretch of nan.
---@param name string of the block, such as "$a"
---@param lists number[][] the columns
---@return string
function M.block(name, lists)
  local lines, is_gap = { name .. " << EOD" }, true
  for i = 1, #lists[1] do
    local numbers, sum = {}, 0
    for j, list in ipairs(lists) do
      numbers[j] = ("%.9g"):format(list[i])
      sum = sum + list[i] * 0
    end
    if sum == sum then
      lines[#lines + 1] = table.concat(numbers, " ")
      is_gap = false
    elseif not is_gap then
      lines[#lines + 1] = ""
      is_gap = true
    end
  end
  lines[#lines + 1] = "EOD"
  return table.concat(lines, "\n")
end

return M
