--- Deprecated names of functions in `base/text`; tables are built with `base/document`.
local escape = require "roper.base.escape"
local tables = require "roper.base.tables"
local text = require "roper.base.text"

local M = { width = text.width, fill = text.wrap }

function M.lines(rows, left)
  return text.rows(rows, ("l"):rep(left) .. "r")
end

function M.align(rows)
  return "  " .. table.concat(text.rows(tables.map(rows, function(row)
    return tables.map(row, escape.line)
  end)), "\n  ")
end

function M.wrap(words, start, width)
  return table.concat(text.wrap(words, (width or 80) - start), "\n" .. (" "):rep(start))
end

return M
