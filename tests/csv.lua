-- Reads comma-separated values back, strictly.

local assert = require("luassert")

local M = {}

--- The rows of a CSV file as tables by column, and its columns.
---@param text string
---@return table[] rows
---@return string[] columns
function M.parse(text)
  local rows, row, at = {}, {}, 1
  while at <= #text do
    local cell, after
    if text:sub(at, at) == '"' then
      local last = at + 1
      while text:sub(last, last) ~= '"' or text:sub(last + 1, last + 1) == '"' do
        last = last + (text:sub(last, last) == '"' and 2 or 1)
        assert.is_true(last <= #text, "a quotation mark is missing")
      end
      cell, after = text:sub(at + 1, last - 1):gsub('""', '"'), last + 1
    else
      cell, after = text:match('^([^",\r\n]*)()', at)
    end
    row[#row + 1] = cell
    local separator = text:sub(after, after)
    assert.is_true(separator == "," or separator == "\n", "expected a comma or the end of a line")
    if separator == "\n" then
      rows[#rows + 1], row = row, {}
    end
    at = after + 1
  end
  local columns, list = table.remove(rows, 1), {}
  for i, cells in ipairs(rows) do
    assert.equal(#columns, #cells)
    list[i] = {}
    for k, column in ipairs(columns) do
      list[i][column] = cells[k]
    end
  end
  return list, columns
end

return M
