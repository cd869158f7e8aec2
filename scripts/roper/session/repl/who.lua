--- A table of variables: what each is, and what its elements take.
local printable = require "roper.base.printable"
local format = require "roper.base.format"
local tables = require "roper.base.tables"
local terminal = require "roper.base.terminal"

local M = {}

local function entries(value)
  local count = tables.count(value)
  return ("%d %s"):format(count, count == 1 and "entry" or "entries")
end

-- The cells after the name: of a tensor four, of anything else two.
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
  local shown, text = pcall(format.value, value)
  return { kind, shown and printable.line((text:gsub("\n.*", " …"))) or "?" }
end

-- How wide each column is, counting cells of tensors alone from the third on.
local function widths_of(rows)
  local widths = {}
  for _, row in ipairs(rows) do
    for i = 1, #row > 3 and #row or 2 do
      widths[i] = math.max(widths[i] or 0, #row[i])
    end
  end
  return widths
end

local function line_of(row, widths)
  local cells = {}
  for i, cell in ipairs(row) do
    local gap = (" "):rep((widths[i] or 0) - #cell)
    cells[i] = i == 5 and gap .. cell or cell .. gap
  end
  return (table.concat(cells, "  "):gsub(" +$", ""))
end

--- The variables of a table as lines of text, sorted by name, below a line of titles.
---@param globals table
---@param known table as keys, the names to leave out
---@return string[] lines none where there are no variables
function M.lines(globals, known)
  local rows, titles = {}, { "name", "type" }
  for name, value in next, globals do
    if type(name) == "string" and not known[name] then
      local row = { printable.line(name), table.unpack(describe(value)) }
      rows[#rows + 1] = row
      titles = #row > 3 and { "name", "type", "dtype", "shape", "bytes" } or titles
    end
  end
  if #rows == 0 then
    return {}
  end
  table.sort(rows, function(a, b)
    return a[1] < b[1]
  end)
  table.insert(rows, 1, titles)
  local widths, columns = widths_of(rows), terminal.columns(io.stdout)
  for i, row in ipairs(rows) do
    rows[i] = terminal.cut(line_of(row, widths), columns)
  end
  return rows
end

return M
