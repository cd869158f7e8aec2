--- A table of variables with their types, shapes and sizes.
local d = require "roper.text.document"
local format = require "roper.text.format"
local render = require("roper.text.document.terminal").render
local tables = require "roper.base.tables"
local terminal = require "roper.text.terminal"

local M = {}

local LONGEST <const> = 1000 -- bytes of a string to look at, more than fit in a line

-- The type of a value, a description and, for a tensor, the bytes of its elements.
local function describe(value)
  if format.is_tensor(value) then
    local size = value:dtype() == "float64" and 8 or 4
    return "tensor", ("%s [%s]"):format(value:dtype(), table.concat(value:shape(), ", ")),
      ("%d"):format(value:count() * size)
  end
  local metatable = debug.getmetatable(value)
  local class = metatable and (rawget(metatable, "__name") or rawget(metatable, "name"))
  local kind = type(class) == "string" and class:gsub("^roper%.", "") or type(value)
  if type(value) == "table" and not (metatable and rawget(metatable, "__tostring")) then
    local count = tables.count(value)
    return kind, ("%d %s"):format(count, count == 1 and "entry" or "entries")
  end
  value = kind == "string" and value:sub(1, LONGEST) or value
  local shown, text = pcall(format.value, value)
  return kind, shown and text:gsub("\n.*", " …") or "?"
end

--- Variables as a table.
---@param variables table[] a name and a value each
---@return string text "" without variables
function M.text(variables)
  local has_bytes = false
  local rows = tables.map(variables, function(variable)
    local kind, text, bytes = describe(variable[2])
    has_bytes = has_bytes or bytes ~= nil
    return { variable[1], kind, text, bytes }
  end)
  return rows[1] and render(d.table { rows = rows, sides = "lllr", shorten = { 3 }, indent = 0,
    head = { "name", "type", "value", has_bytes and "bytes" or nil } },
    { width = terminal.columns(io.stdout) }) or ""
end

--- The globals of a session, sorted by name.
---@param globals table
---@param known table as keys, the names to leave out
---@return table[] variables
function M.variables(globals, known)
  local variables = {}
  for name, value in next, globals do
    if type(name) == "string" and not known[name] then
      variables[#variables + 1] = { name, value }
    end
  end
  table.sort(variables, function(a, b)
    return a[1] < b[1]
  end)
  return variables
end

return M
