--- Tables as aligned text.
local printable = require "roper.base.printable"

local M = {}

--- Rows of cells, the first column to the left, the others to the right, each row on a line.
---@param rows string[][]
---@return string
function M.align(rows)
  local shown, widths = {}, {}
  for j, row in ipairs(rows) do
    shown[j] = {}
    for i, cell in ipairs(row) do
      shown[j][i] = printable.line(cell)
      widths[i] = math.max(widths[i] or 0, utf8.len(shown[j][i]))
    end
  end
  local lines = {}
  for _, row in ipairs(shown) do
    local cells = {}
    for i, cell in ipairs(row) do
      local space = (" "):rep(widths[i] - utf8.len(cell))
      cells[i] = i == 1 and cell .. space or space .. cell
    end
    lines[#lines + 1] = (("  " .. table.concat(cells, "  ")):gsub("%s+$", ""))
  end
  return table.concat(lines, "\n")
end

--- Text broken between words, further lines below where the first began.
---@param text string
---@param start integer columns before the text
---@param width integer? of the whole; 80
---@return string
function M.wrap(text, start, width)
  local lines, room = { "" }, (width or 80) - start
  for word in text:gmatch "%S+" do
    local line = lines[#lines]
    if line == "" then
      lines[#lines] = word
    elseif utf8.len(line) + 1 + utf8.len(word) <= room then
      lines[#lines] = line .. " " .. word
    else
      lines[#lines + 1] = word
    end
  end
  return table.concat(lines, "\n" .. (" "):rep(start))
end

return M
