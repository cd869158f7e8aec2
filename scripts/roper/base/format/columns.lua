--- Aligned columns and wrapped text.
local escape = require "roper.base.escape"

local M = {}

--- The width of text in columns; a combining accent has none.
---@param text string
---@return integer
function M.width(text)
  return utf8.len((text:gsub("\xCC[\x80-\xBF]", ""):gsub("\xCD[\x80-\xAF]", ""))) or #text
end

--- Rows of cells as lines with aligned columns. A left-aligned cell at the end of a row may be
--- wider than its column.
---@param rows string[][]
---@param left integer number of left-aligned columns; the others are right-aligned
---@return string[] lines
function M.lines(rows, left)
  local widths, lines = {}, {}
  for _, row in ipairs(rows) do
    for i, cell in ipairs(row) do
      local width = (i < #row or i > left) and M.width(cell) or 0
      widths[i] = math.max(widths[i] or 0, width)
    end
  end
  for j, row in ipairs(rows) do
    local cells = {}
    for i, cell in ipairs(row) do
      local space = (" "):rep(widths[i] - M.width(cell))
      cells[i] = i <= left and cell .. space or space .. cell
    end
    lines[j] = table.concat(cells, "  "):match "^.*%S" or "" -- "%s+$" takes n^2 steps for n spaces
  end
  return lines
end

--- A table of untrusted text, which is escaped. The first column is left-aligned, the others are
--- right-aligned.
---@param rows string[][]
---@return string
function M.align(rows)
  local shown = {}
  for j, row in ipairs(rows) do
    shown[j] = {}
    for i, cell in ipairs(row) do
      shown[j][i] = escape.line(cell)
    end
  end
  return "  " .. table.concat(M.lines(shown, 1), "\n  ")
end

--- Fills lines of at most `width` columns with words. A longer word has its own line.
---@param words string|string[] a text is split at white space
---@param width integer
---@param lead string? text before the first word; "" by default
---@param hang integer? spaces before the other lines; 0 by default
---@param length? fun(text: string): integer width of a text; `width` by default
---@return string[] lines
function M.fill(words, width, lead, hang, length)
  local lines, line, is_empty = {}, lead or "", true
  length = length or M.width
  if type(words) == "string" then
    local text = words
    words = {}
    for word in text:gmatch "%S+" do
      words[#words + 1] = word
    end
  end
  for _, word in ipairs(words) do
    if not is_empty and length(line) + 1 + length(word) > width then
      lines[#lines + 1] = line
      line, is_empty = (" "):rep(hang or 0), true
    end
    line = line .. (is_empty and "" or " ") .. word
    is_empty = false
  end
  lines[#lines + 1] = line
  return lines
end

--- Wraps text between words; further lines are indented by `start`.
---@param text string
---@param start integer columns before the text
---@param width integer? of the lines with indentation; 80 by default
---@return string
function M.wrap(text, start, width)
  return table.concat(M.fill(text, (width or 80) - start), "\n" .. (" "):rep(start))
end

return M
