--- Text and tables of documents as LaTeX.
local escape = require "roper.base.escape"
local tables = require "roper.base.tables"
local terminal = require "roper.text.document.terminal"
local text = require "roper.text.width"

local M = {}

-- LaTeX for characters that it does not print as they are.
local SPECIAL <const> = {
  ["\\"] = "\\textbackslash{}", ["{"] = "\\{", ["}"] = "\\}", ["$"] = "\\symbol{36}", ["&"] = "\\&",
  ["#"] = "\\#", ["_"] = "\\_", ["%"] = "\\%", ["~"] = "\\textasciitilde{}",
  ["^"] = "\\textasciicircum{}", ["<"] = "\\textless{}", [">"] = "\\textgreater{}",
  ["|"] = "\\textbar{}", ['"'] = "\\symbol{34}", ["'"] = "\\symbol{39}", ["`"] = "\\symbol{96}",
  ["["] = "{[}", ["]"] = "{]}", ["*"] = "{*}", ["\0"] = "{}",
  ["−"] = "$-$", ["±"] = "$\\pm$", ["≥"] = "$\\geq$", ["×"] = "$\\times$",
  ["–"] = "\\textendash{}", ["’"] = "'", ["“"] = "``", ["”"] = "''",
  ["…"] = "\\ldots{}", ["\u{A0}"] = "~",
}

-- Latin letters with accents, which LaTeX reads as UTF-8.
local function is_latin(code)
  return code >= 0xC0 and code <= 0x17F and code ~= 0xD7 and code ~= 0xF7 and code ~= 0x149
end

--- Escapes text. Characters that LaTeX's fonts lack are shown by their number, such as [U+03BB].
---@param words string
---@return string
function M.escape(words)
  local parts = {}
  words = escape.line(words):gsub("%-%-+", function(dashes)
    return (dashes:gsub("-", "-\0")) -- LaTeX would print "--" as a longer dash
  end)
  for _, code in utf8.codes(words) do
    local character = utf8.char(code)
    parts[#parts + 1] = SPECIAL[character] or (code < 128 or is_latin(code)) and character
      or ("{[}U+%04X{]}"):format(code)
  end
  return table.concat(parts)
end

--- Inline text of a document.
---@param node any
---@return string
function M.inline(node)
  return M.escape(terminal.line(node))
end

--- A table in the style of booktabs.
---@param node table from `table` of `roper.text.document`
---@return string
function M.table(node)
  local sides, lines = {}, {}
  local function row(cells)
    return table.concat(tables.map(cells, M.inline), " & ") .. " \\\\"
  end
  for i in ipairs(node.head) do
    sides[i] = node.columns and node.columns[i] or text.side(node.sides, i)
  end
  for i, cells in ipairs(node.rows) do
    lines[i] = row(cells)
  end
  return ([[
\begin{tabular}{@{}%s@{}}
\toprule
%s
\midrule
%s
\bottomrule
\end{tabular}
]]):format(table.concat(sides), row(node.head), table.concat(lines, "\n"))
end

return M
