--- How values look when they are printed: tensors with dtype, shape and aligned
--- columns, tables sorted and nested, everything else as Lua writes it.
local terminal = require "roper.terminal"

local M = {}

--- What `tensor` and `value` go by; change a field to change all printing.
M.options = {
  decimals = 4, -- after the point, in tensors
  threshold = 1000, -- tensors with more elements show their edges only
  edge = 3, -- elements at each end of an axis that is cut
  depth = 4, -- tables nested deeper than this show as {…}
  entries = 100, -- of one table
  lines = 24, -- longer tables have several entries a line
}

local GAP <const> = "…"
local KEYWORDS = {}
for word in ([[and break do else elseif end false for function goto if in local nil not or
  repeat return then true until while]]):gmatch "%a+" do
  KEYWORDS[word] = true
end

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

--- A tensor in a word.
---
---     > roper.format.summary(roper.zeros{2, 3})
---     "float32 [2, 3]"
---@param tensor tensor
---@return string text
function M.summary(tensor)
  return ("%s [%s]"):format(tensor:dtype(), table.concat(tensor:shape(), ", "))
end

-- The elements that are shown as nested tables, with GAP where some are left
-- out. `cuts` says for each axis how many to keep at each end, nil for all.
local function gather(tensor, cuts, axis)
  local size, keep = #tensor, cuts[axis]
  local is_cut = keep ~= nil and size > 2 * keep
  local is_row = tensor:rank() == 1
  if is_row and not is_cut then
    return tensor:totable()
  end
  local list = {}
  local function add(first, last)
    if is_row then
      table.move(tensor:narrow(1, first, last - first + 1):totable(), 1, last - first + 1,
        #list + 1, list)
      return
    end
    for i = first, last do
      list[#list + 1] = gather(tensor[i], cuts, axis + 1)
    end
  end
  if not is_cut then
    add(1, size)
    return list
  end
  add(1, keep)
  list[#list + 1] = GAP
  add(size - keep + 1, size)
  return list
end

-- The axes of a tensor that is too large: only the last two keep several elements.
local function cuts_of(tensor)
  local cuts = {}
  if tensor:count() > M.options.threshold then
    for axis = 1, tensor:rank() do
      cuts[axis] = axis > tensor:rank() - 2 and M.options.edge or 1
    end
  end
  return cuts
end

-- Call `visit` with each number in nested tables.
local function each_number(nested, visit)
  for _, item in ipairs(nested) do
    if type(item) == "table" then
      each_number(item, visit)
    elseif item ~= GAP then
      visit(item)
    end
  end
end

local function is_finite(x)
  return x == x and math.abs(x) ~= math.huge
end

-- One number of a tensor that is no integer; tiny ones never pass for zero.
local function float_cell(x, decimals)
  local text = ("%%.%df"):format(decimals):format(x)
  if x ~= 0 and tonumber(text) == 0 then
    return ("%.1e"):format(x)
  end
  return text
end

-- How numbers are written: a function from number to text, and the common scale.
local function cell_style(nested, dtype)
  local largest, all_whole = 0.0, true
  each_number(nested, function(x)
    if is_finite(x) then
      largest = math.max(largest, math.abs(x))
      all_whole = all_whole and x == math.floor(x)
    end
  end)
  local is_whole = dtype == "int32" or (all_whole and largest < 1e7)
  local scale = 1
  if not is_whole and (largest >= 1e5 or largest < 1e-3) then
    scale = 10.0 ^ math.max(math.floor(math.log(largest, 10)), -300)
  end
  local function cell(x)
    if x ~= x then
      return "nan"
    elseif not is_finite(x) then
      return x > 0 and "inf" or "-inf"
    end
    x = x / scale + 0.0 -- the sum turns -0 into 0
    return is_whole and ("%.0f"):format(x) or float_cell(x, M.options.decimals)
  end
  return cell, scale
end

-- Nested tables of numbers as nested tables of texts, and the longest of these.
local function write_cells(nested, cell)
  local texts, longest = {}, 0
  for i, item in ipairs(nested) do
    local width
    if type(item) == "table" then
      texts[i], width = write_cells(item, cell)
    else
      texts[i] = item == GAP and GAP or cell(item)
      width = item == GAP and 1 or #texts[i]
    end
    longest = math.max(longest, width)
  end
  return texts, longest
end

-- Cells first .. last of a row, each right-aligned to `width` but for the gap.
local function row_line(row, first, last, width)
  local aligned = {}
  for i = first, last do
    aligned[#aligned + 1] = row[i] == GAP and GAP or (" "):rep(width - #row[i]) .. row[i]
  end
  return table.concat(aligned, " ")
end

-- What is being written: its lines so far, the shape, how wide a cell is and how
-- many fit on a line, and whether blocks need a label with their leading indices.
local Page = {}
Page.__index = Page

function Page:add(line)
  self.lines[#self.lines + 1] = line
end

-- A vector: as many cells a line as fit.
function Page:add_vector(row)
  for first = 1, #row, self.fit do
    self:add(row_line(row, first, math.min(first + self.fit - 1, #row), self.width))
  end
end

-- A matrix; one too wide comes in groups of columns.
function Page:add_matrix(rows)
  local columns = #rows[1]
  for first = 1, columns, self.fit do
    local last = math.min(first + self.fit - 1, columns)
    if columns > self.fit then
      self:add(("columns %d to %d"):format(first, last))
    end
    for _, row in ipairs(rows) do
      self:add(row == GAP and (" "):rep(self.width - 1) .. GAP
        or row_line(row, first, last, self.width))
    end
  end
end

-- Nested cells below the leading indices `index`: matrices under their labels.
function Page:add_nested(nested, index)
  local axis = #index + 1
  if axis == #self.shape then
    return self:add_vector(nested)
  elseif axis == #self.shape - 1 then
    if self.labelled then
      self:add(("[%s]"):format(table.concat(index, ", ")))
    end
    return self:add_matrix(nested)
  end
  local before_gap = true
  for i, block in ipairs(nested) do
    if block == GAP then
      before_gap = false
      self:add(GAP)
    else
      local inner = table.move(index, 1, #index, 1, {})
      inner[axis] = before_gap and i or self.shape[axis] - (#nested - i)
      self:add_nested(block, inner)
    end
  end
end

--- A tensor with dtype, shape and aligned columns; one with many elements shows its edges.
---
---     > roper.format.tensor(roper.eye(2))
---     "float32 [2, 2]\n1 0\n0 1"
---@param tensor tensor
---@param columns? integer the width to stay within; by default that of the terminal
---@return string text
function M.tensor(tensor, columns)
  if tensor:rank() == 0 then
    return M.scalar(tensor:totable())
  elseif tensor:count() == 0 then
    return M.summary(tensor) .. ", empty"
  end
  local nested = gather(tensor, cuts_of(tensor), 1)
  local cell, scale = cell_style(nested, tensor:dtype())
  local cells, width = write_cells(nested, cell)
  local shape = tensor:shape()
  local matrix = #shape < 2 and tensor:count() or shape[#shape] * shape[#shape - 1]
  local page = setmetatable({
    lines = {},
    shape = shape,
    width = width,
    fit = math.max(1, ((columns or terminal.columns(io.stdout)) + 1) // (width + 1)),
    labelled = tensor:count() > matrix,
  }, Page)
  page:add(M.summary(tensor) .. (scale == 1 and "" or (", times %.0e"):format(scale)))
  page:add_nested(cells, {})
  return table.concat(page.lines, "\n")
end

--- A number of no dtype, such as a scalar tensor holds.
---
---     > roper.format.scalar(1 / 3)
---     "0.33333"
---@param x number
---@return string text
function M.scalar(x)
  if x ~= x then
    return "nan"
  elseif is_finite(x) and x == math.floor(x) and math.abs(x) < 1e15 then
    return ("%.0f"):format(x)
  end
  return ("%.5g"):format(x)
end

-- A Lua string as it would be typed.
local function quoted(text)
  local escaped = ("%q"):format(text):gsub("\\\n", "\\n")
  if not utf8.len(text) then
    escaped = escaped:gsub("[\x80-\xff]", function(byte)
      return ("\\x%02X"):format(byte:byte())
    end)
  end
  return escaped
end

-- A function by where it was defined.
local function function_text(value)
  local where = debug.getinfo(value, "S")
  if where.what == "C" then
    return "function (C)"
  end
  return ("function (%s:%d)"):format(where.short_src:match "[^/]*$", where.linedefined)
end

-- Keys in the order they are shown: 1, 2, ..., other numbers, strings, the rest.
local function sorted_keys(value)
  local ranks = { number = 1, string = 2 }
  local keys = {}
  for key in next, value do
    keys[#keys + 1] = key
  end
  table.sort(keys, function(a, b)
    local rank_a, rank_b = ranks[type(a)] or 3, ranks[type(b)] or 3
    if rank_a ~= rank_b then
      return rank_a < rank_b
    elseif rank_a < 3 then
      return a < b
    end
    return tostring(a) < tostring(b)
  end)
  return keys
end

local render

-- `name = ` or `[key] = `, "" for the next item of a list.
local function key_text(key, next_index)
  if key == next_index then
    return ""
  elseif type(key) == "string" and key:match "^[%a_][%w_]*$" and not KEYWORDS[key] then
    return key .. " = "
  end
  return ("[%s] = "):format(type(key) == "table" and tostring(key) or render(key, {}, 0, 0))
end

-- Items joined to lines, as many as fit, without a last comma.
local function packed(items, columns)
  local lines = {}
  for _, item in ipairs(items) do
    local line = lines[#lines]
    if line and #line + #item + 3 <= columns and not (line .. item):find "\n" then
      lines[#lines] = line .. ", " .. item
    else
      lines[#lines + 1] = item
    end
  end
  return lines
end

-- A table; `around` holds the tables it lies in.
local function render_table(value, around, indent, columns)
  local keys = sorted_keys(value)
  around[value] = true
  local items, length, next_index = {}, 2, 1
  for i = 1, math.min(#keys, M.options.entries) do
    local name = key_text(keys[i], next_index)
    next_index = name == "" and next_index + 1 or next_index
    items[i] = name .. render(rawget(value, keys[i]), around, indent + 2, columns)
    length = length + (utf8.len(items[i]) or #items[i]) + 2
  end
  local is_list = next_index > #items
  if #keys > #items then
    items[#items + 1] = ("%s %d more"):format(GAP, #keys - #items)
  end
  around[value] = nil
  local all = table.concat(items, ", ")
  if indent + length <= columns + 2 and not all:find "\n" then
    return ("{%s}"):format(all)
  end
  local margin = (" "):rep(indent + 2)
  local is_long = is_list or #items > M.options.lines
  local lines = is_long and packed(items, columns - indent - 2) or items
  return ("{\n%s%s\n%s}"):format(margin, table.concat(lines, ",\n" .. margin), (" "):rep(indent))
end

function render(value, around, indent, columns)
  local kind = type(value)
  local metatable = debug.getmetatable(value)
  if kind == "string" then
    return quoted(value)
  elseif value ~= value then
    return "nan"
  elseif kind == "function" then
    return indent > 0 and "function" or function_text(value)
  elseif M.is_tensor(value) then
    return M.summary(value)
  elseif kind ~= "table" or (metatable and rawget(metatable, "__tostring")) then
    return tostring(value)
  elseif around[value] then
    return "{cycle}"
  elseif indent >= 2 * M.options.depth and next(value) ~= nil then
    return ("{%s}"):format(GAP)
  end
  return render_table(value, around, indent, columns)
end

--- Any value as text: strings quoted, tables with sorted keys, nested tables to a depth, tables
--- inside themselves as {cycle}; tensors whole, or by dtype and shape inside a table.
---
---     > roper.format.value({b = 1, a = {"x"}})
---     "{a = {\"x\"}, b = 1}"
---@param value any
---@param columns? integer the width to stay within; by default that of the terminal
---@return string text
function M.value(value, columns)
  columns = columns or terminal.columns(io.stdout)
  if M.is_tensor(value) then
    return M.tensor(value, columns)
  end
  return render(value, {}, 0, columns)
end

--- The results of an expression as text, one beside the other where each is one line.
---
---     > roper.format.results(table.pack(1, "a"))
---     "1\9\"a\""
---@param results table as table.pack makes it
---@return string text
function M.results(results)
  local texts, separator = {}, "\t"
  for i = 1, results.n do
    texts[i] = M.value(results[i])
    separator = texts[i]:find "\n" and "\n" or separator
  end
  return table.concat(texts, separator)
end

return M
