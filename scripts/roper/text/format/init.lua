--- Formats values for printing: tensors with dtype, shape and aligned columns, tables sorted and
--- nested, everything else like Lua.
local arguments = require "roper.options.arguments"
local arity = require "roper.options.arity"
local numbers = require "roper.text.format.number"
local escape = require "roper.base.escape"
local options = require "roper.text.format.options"
local tables = require "roper.base.tables"
local terminal = require "roper.text.terminal"
local widths = require "roper.text.width"

local M = {}

local LONGEST_COLUMN <const> = 24 -- entries; longer tables have several entries on a line

-- Significant digits of a number in a table in addition to the precision: 7 by default, those of a
-- float32.
local MORE_DIGITS <const> = 3

local GAP <const> = "…"
local KEYWORDS <const> = tables.set { "and", "break", "do", "else", "elseif", "end", "false", "for",
  "function", "goto", "if", "in", "local", "nil", "not", "or", "repeat", "return", "then", "true",
  "until", "while" }

--- Is the value a tensor?
---
---     > roper.format.is_tensor(roper.zeros{2})
---     true
---@param value any
---@return boolean yes
function M.is_tensor(value)
  local metatable = debug.getmetatable(value)
  return metatable ~= nil and rawget(metatable, "__name") == "roper.tensor"
end

--- The dtype and shape of a tensor as text.
---
---     > roper.format.summary(roper.zeros{2, 3})
---     "float32 [2, 3]"
---@param tensor tensor
---@return string text
function M.summary(tensor)
  arguments.check("format.summary", "tensor", "tensor", tensor)
  return ("%s [%s]"):format(tensor:dtype(), table.concat(tensor:shape(), ", "))
end

-- The width of printed text.
local function width()
  local fixed = options.current.line_width
  return fixed > 0 and fixed or terminal.columns(io.stdout)
end

--- A tensor as text with dtype, shape and aligned columns. A large tensor is summarized by its
--- edges. A scalar tensor is followed by its dtype, to distinguish it from a Lua number.
---
---     > roper.format.tensor(roper.eye(2))
---     "float32 [2, 2]\n1 0\n0 1"
---@param tensor tensor
---@param columns? integer width of the text; by default that of the terminal
---@return string text
function M.tensor(tensor, columns)
  arguments.check("format.tensor", "tensor", "tensor", tensor, "columns", "integer?", columns)
  if tensor:rank() == 0 then
    return ("%s (%s)"):format(M.scalar(tensor:totable()), tensor:dtype())
  elseif tensor:count() == 0 then
    return M.summary(tensor) .. ", empty"
  end
  local head = M.summary(tensor) .. (tensor:is_mask() and ", mask" or "")
  return require("roper.text.format.tensor").write(tensor, head, columns or width())
end

--- A number with the digits of a scalar tensor.
---
---     > roper.format.scalar(1 / 3)
---     "0.33333"
---@param x number
---@return string text
function M.scalar(x)
  arguments.check("format.scalar", "x", "real", x)
  if x ~= x then
    return "nan"
  elseif x == math.floor(x) and math.abs(x) < 1e15 then
    return ("%.0f"):format(x)
  end
  return ("%%.%dg"):format(options.current.precision + 1):format(x)
end

-- A string as a Lua literal, without control characters.
local function quoted(text)
  return escape.line((("%q"):format(text):gsub("\\\n", "\\n")))
end

-- A function with the file and line of its definition.
local function function_text(value)
  local where = debug.getinfo(arity.original(value), "S")
  if where.what == "C" then
    return "function (C)"
  end
  local file = escape.line(where.short_src:match "[^/]*$")
  return ("function (%s:%d)"):format(file, where.linedefined)
end

local render

-- `name = ` or `[key] = `; "" for the next item of a list.
local function key_text(key, next_index)
  if key == next_index then
    return ""
  elseif type(key) == "string" and key:match "^[%a_][%w_]*$" and not KEYWORDS[key] then
    return key .. " = "
  end
  return ("[%s] = "):format(type(key) == "table" and tostring(key) or render(key, {}, 0, 0, 0))
end

-- Items joined into lines as wide as possible, without a comma at the end.
local function packed(items, columns)
  local lines = {}
  for _, item in ipairs(items) do
    local line = lines[#lines]
    if line and widths.width(line) + widths.width(item) + 3 <= columns
      and not (line .. item):find "\n" then
      lines[#lines] = line .. ", " .. item
    else
      lines[#lines + 1] = item
    end
  end
  return lines
end

-- A table. `around` is the set of tables that contain it; `lead` is the number of columns before it
-- on its first line.
local function render_table(value, around, indent, columns, lead)
  local keys = tables.keys(value)
  around[value] = true
  local items, next_index = {}, 1
  for i = 1, math.min(#keys, options.current.entries) do
    local name = key_text(keys[i], next_index)
    next_index = name == "" and next_index + 1 or next_index
    items[i] = name .. render(rawget(value, keys[i]), around, indent + 2, columns,
      widths.width(name))
  end
  local is_list = next_index > #items
  if #keys > #items then
    items[#items + 1] = ("%s %d more"):format(GAP, #keys - #items)
  end
  around[value] = nil
  local all = table.concat(items, ", ")
  local room = columns - indent - lead - #"{}" - (indent > 0 and #"," or 0)
  if room >= 0 and widths.cut(all, room) == all and not all:find "\n" then
    return ("{%s}"):format(all)
  end
  local margin = (" "):rep(indent + 2)
  local is_long = is_list or #items > LONGEST_COLUMN
  local lines = is_long and packed(items, columns - indent - 2) or items
  return ("{\n%s%s\n%s}"):format(margin, table.concat(lines, ",\n" .. margin), (" "):rep(indent))
end

function render(value, around, indent, columns, lead)
  local kind = type(value)
  local metatable = debug.getmetatable(value)
  if kind == "string" then
    return quoted(value)
  elseif value ~= value then
    return "nan"
  elseif kind == "number" and indent > 0 then
    return numbers.brief(value, options.current.precision + MORE_DIGITS)
  elseif kind == "function" then
    return indent > 0 and "function" or function_text(value)
  elseif M.is_tensor(value) then
    return M.summary(value)
  elseif kind ~= "table" or (metatable and rawget(metatable, "__tostring")) then
    return indent > 0 and tostring(value):gsub("\n.*", " " .. GAP) or tostring(value)
  elseif around[value] then
    return "{cycle}"
  elseif indent >= 2 * options.current.depth and next(value) ~= nil then
    return ("{%s}"):format(GAP)
  end
  return render_table(value, around, indent, columns, lead)
end

--- Any value as text. Strings are quoted, tables have sorted keys, nested tables are shown to a
--- depth, and a table inside itself as {cycle}. Tensors are written in full, or inside tables as
--- dtype and shape. A number in a table has 3 significant digits more than the precision, 7 by
--- default; a number alone looks as in `print`.
---
---     > roper.format.value({b = 1, a = {"x"}})
---     "{a = {\"x\"}, b = 1}"
---@param value any
---@param columns? integer width of the text; by default that of the terminal
---@return string text
function M.value(value, columns)
  arguments.check("format.value", "columns", "integer?", columns)
  columns = columns or width()
  if M.is_tensor(value) then
    return M.tensor(value, columns)
  end
  return render(value, {}, 0, columns, 0)
end

--- The results of an expression as text, separated by tabs, or by newlines if one has several
--- lines; as many as the print option `entries` says.
---
---     > roper.format.results(table.pack(1, "a"))
---     "1\9\"a\""
---@param results table as returned by table.pack
---@return string text
function M.results(results)
  arguments.check("format.results", "results", "table", results)
  local texts, separator = {}, "\t"
  local count, columns = results.n or #results, width()
  local shown = math.min(count, options.current.entries)
  for i = 1, shown do
    texts[i] = M.value(results[i], columns)
    separator = texts[i]:find "\n" and "\n" or separator
  end
  if count > shown then
    texts[shown + 1] = ("%s %d more"):format(GAP, count - shown)
  end
  return table.concat(texts, separator)
end

return M
