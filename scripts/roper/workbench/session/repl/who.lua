--- A table of variables with their types, shapes and sizes.
local columns = require "roper.base.format.columns"
local escape = require "roper.base.escape"
local format = require "roper.base.format"
local tables = require "roper.base.tables"
local terminal = require "roper.base.terminal"

local M = {}

local LONGEST <const> = 1000 -- bytes of a string to look at, more than fit in a line

local function entries(value)
  local count = tables.count(value)
  return ("%d %s"):format(count, count == 1 and "entry" or "entries")
end

-- The cells after the name: four for a tensor, two for other values.
local function describe(value)
  if format.is_tensor(value) then
    local size = value:dtype() == "float64" and 8 or 4
    return { "tensor", value:dtype(), ("[%s]"):format(table.concat(value:shape(), ", ")),
      ("%d"):format(value:count() * size) }
  end
  local metatable = debug.getmetatable(value)
  local class = metatable and (rawget(metatable, "__name") or rawget(metatable, "name"))
  local kind = type(class) == "string" and class:gsub("^roper%.", "") or type(value)
  if type(value) == "table" and not (metatable and rawget(metatable, "__tostring")) then
    return { kind, entries(value) }
  end
  value = kind == "string" and value:sub(1, LONGEST) or value
  local shown, text = pcall(format.value, value)
  return { kind, shown and escape.line((text:gsub("\n.*", " …"))) or "?" }
end

--- Variables as lines of a table, with a header.
---@param variables table[] a name and a value each
---@return string[] lines empty without variables
function M.rows(variables)
  local rows, titles = {}, { "name", "type" }
  for i, variable in ipairs(variables) do
    rows[i] = { escape.line(variable[1]), table.unpack(describe(variable[2])) }
    titles = #rows[i] > 3 and { "name", "type", "dtype", "shape", "bytes" } or titles
  end
  if #rows == 0 then
    return {}
  end
  table.insert(rows, 1, titles)
  local lines = columns.lines(rows, 4) -- the fifth counts bytes
  for i, line in ipairs(lines) do
    lines[i] = terminal.cut(line, terminal.columns(io.stdout))
  end
  return lines
end

--- The variables of a table as `rows`, sorted by name.
---@param globals table
---@param known table as keys, the names to leave out
---@return string[] lines
function M.lines(globals, known)
  local variables = {}
  for name, value in next, globals do
    if type(name) == "string" and not known[name] then
      variables[#variables + 1] = { name, value }
    end
  end
  table.sort(variables, function(a, b)
    return a[1] < b[1]
  end)
  return M.rows(variables)
end

return M
