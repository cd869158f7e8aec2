--- Formats a module as a tree of its parts, with shapes and numbers of parameters.
local format = require "roper.text.format"
local escape = require "roper.base.escape"
local schemes = require "roper.position.scheme"
local tables = require "roper.base.tables"
local widths = require "roper.text.width"
local traverse = require "roper.model.traverse"

local WIDTH <const> = 80

---@class TreeRow
---@field label string
---@field words string[] shapes and position schemes
---@field count integer elements in all parameters

-- Returns the parameters and position schemes of a module as words, and its direct submodules.
local function contents(module)
  local words, modules = {}, {}
  traverse.walk(module, function(path, value)
    local name = escape.line(path)
    if traverse.is_module(value) then
      modules[#modules + 1] = { name = name, module = value }
      return true
    elseif format.is_tensor(value) then
      words[#words + 1] = value:is_parameter()
        and ("%s [%s]"):format(name, table.concat(value:shape(), ", ")) or nil
    elseif schemes.is_rotary(value) then
      words[#words + 1] = ("%s rotary %s"):format(name, value:options().rotate)
    elseif schemes.is_scheme(value) then
      words[#words + 1] = ("%s %s"):format(name, value.name)
    end
    return false
  end)
  for i = 1, #words - 1 do
    words[i] = words[i] .. ","
  end
  return words, modules
end

-- Returns a text that is equal for equal rows.
local function text_of(rows)
  local lines = {}
  for i, row in ipairs(rows) do
    lines[i] = ("%s %s %d"):format(row.label, table.concat(row.words, " "), row.count)
  end
  return table.concat(lines, "\n")
end

-- Returns the row of a module, labelled with its class, and the rows of the modules in it.
-- Consecutive equal modules of a list share one row. Modules in `around`, which enclose this one,
-- are left out.
local function rows_of(module, margin, around)
  local words, modules = contents(module)
  local rows = { { label = escape.line(getmetatable(module).name), words = words,
    count = module:count() } }
  local last = {}
  around[module] = true
  for _, inner in ipairs(modules) do
    if not around[inner.module] then
      local below = rows_of(inner.module, margin .. "  ", around)
      local row, class, text = below[1], below[1].label, text_of(below)
      local list, number = inner.name:match "^(.*)%.(%d+)$"
      if list and list == last.list and text == last.text then
        last.times = last.times + 1
        last.row.label = ("%s%s.%s-%s: %d x %s"):format(margin, list, last.number, number,
          last.times, class)
      else
        row.label = ("%s%s: %s"):format(margin, inner.name, class)
        table.move(below, 1, #below, #rows + 1, rows)
        last = { list = list, number = number, times = 1, row = row, text = text }
      end
    end
  end
  around[module] = nil
  return rows
end

--- Returns a module as a tree. A row for several equal modules shows the count of one of them.
--- Shared modules and parameters appear wherever they are used.
---@param module Module
---@return string
return function(module)
  local rows = rows_of(module, "  ", {})
  local head = table.remove(rows, 1)
  local lines = widths.wrap(head.words, WIDTH, ("%s: %d parameters%s"):format(head.label,
    head.count, head.words[1] and " in " or ""), 2)
  local widest, digits = 0, 0
  for _, row in ipairs(rows) do
    widest = math.max(widest, widths.width(row.label))
    digits = math.max(digits, #tostring(row.count))
  end
  local cells = {}
  for _, row in ipairs(rows) do
    for i, text in ipairs(widths.wrap(row.words, WIDTH - widest - digits - 4)) do
      cells[#cells + 1] = i == 1 and { row.label, text, tostring(row.count) } or { "", text }
    end
  end
  return table.concat(tables.joined(lines, widths.rows(cells, "llr")), "\n")
end
