--- Formats tensors: a head with dtype, shape and scale, followed by elements in aligned columns.
local options = require "roper.base.format.options"

local M = {}

local GAP <const> = "…"

-- The elements to show as nested tables, with GAP in place of omitted ones. cuts[axis] is the
-- number of elements to keep at each end of an axis; nil keeps all.
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

-- The cuts of a tensor: if it is too large, only the last two axes keep several elements.
local function cuts_of(tensor)
  local cuts = {}
  if tensor:count() > options.current.threshold then
    for axis = 1, tensor:rank() do
      cuts[axis] = axis > tensor:rank() - 2 and options.current.edge_items or 1
    end
  end
  return cuts
end

-- Calls `visit` with each number in nested tables.
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

-- The notation and the common scale of the finite numbers of a tensor. Integers and decimals
-- are preferred, if no number becomes zero; a scale is used for large or small numbers within three
-- orders of magnitude; all others have scientific notation.
local function notation(nested, dtype)
  local largest, smallest, is_whole = 0.0, math.huge, true
  each_number(nested, function(x)
    if x ~= 0 and is_finite(x) then
      largest, smallest = math.max(largest, math.abs(x)), math.min(smallest, math.abs(x))
      is_whole = is_whole and x == math.floor(x)
    end
  end)
  if dtype == "int32" or (is_whole and largest < 1e7) then
    return "%.0f", 1
  end
  local decimal = ("%%.%df"):format(options.current.precision)
  if largest >= 1e5 or largest < 1e-3 then
    local scale = 10.0 ^ math.max(math.floor(math.log(largest, 10)), -300)
    if smallest / scale >= 1e-3 then
      return decimal, scale
    end
  elseif tonumber(decimal:format(smallest)) > 0 then
    return decimal, 1
  end
  return ("%%.%de"):format(options.current.precision), 1
end

-- A function from number to text, and the common scale.
local function cell_style(nested, dtype)
  local form, scale = notation(nested, dtype)
  local function cell(x)
    if x ~= x then
      return "nan"
    elseif not is_finite(x) then
      return x > 0 and "inf" or "-inf"
    end
    return form:format(x / scale + 0.0) -- the sum turns -0 into 0
  end
  return cell, scale
end

-- Nested tables of numbers as nested tables of texts, and the length of the longest text.
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

-- Cells first .. last of a row, each right-aligned to `width` except the gap.
local function row_line(row, first, last, width)
  local aligned = {}
  for i = first, last do
    aligned[#aligned + 1] = row[i] == GAP and GAP or (" "):rep(width - #row[i]) .. row[i]
  end
  return table.concat(aligned, " ")
end

-- A text of aligned cells: its lines, the width of a cell and the number of cells on a line.
local Page = {}
Page.__index = Page

function Page:add(line)
  self.lines[#self.lines + 1] = line
end

-- Adds a vector, on several lines if needed.
function Page:add_vector(row)
  for first = 1, #row, self.fit do
    self:add(row_line(row, first, math.min(first + self.fit - 1, #row), self.width))
  end
end

-- Adds a matrix, in groups of columns if it is too wide.
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

-- Visits the matrices in nested cells below the leading indices `index`.
local function visit_below(nested, shape, index, visit)
  local axis = #index + 1
  if axis >= #shape - 1 then
    return visit(nested, ("[%s]"):format(table.concat(index, ", ")))
  end
  local before_gap = true
  for i, block in ipairs(nested) do
    if block == GAP then
      before_gap = false
      visit(nil, GAP)
    else
      local inner = table.move(index, 1, #index, 1, {})
      inner[axis] = before_gap and i or shape[axis] - (#nested - i)
      visit_below(block, shape, inner, visit)
    end
  end
end

-- The elements as nested tables of texts, the length of the longest text, and the common scale.
local function cells_of(tensor)
  local nested = gather(tensor, cuts_of(tensor), 1)
  local cell, scale = cell_style(nested, tensor:dtype())
  local cells, longest = write_cells(nested, cell)
  return cells, longest, scale
end

-- Visits the matrices in the cells of a tensor; a single one has no label.
local function visit_matrices(tensor, cells, visit)
  local shape = tensor:shape()
  local is_single = tensor:count() == shape[#shape] * (shape[#shape - 1] or 1)
  visit_below(cells, shape, {}, function(rows, label)
    visit(rows, not is_single and label or nil)
  end)
end

--- Visits the matrices of a non-empty tensor of rank 1 or more, as texts.
---@param tensor tensor
---@param visit fun(rows?: table[], label?: string) rows: texts, "…" for those left out; for a
---   vector, a list of texts; nil for matrices left out. label: the leading indices
function M.each_matrix(tensor, visit)
  visit_matrices(tensor, cells_of(tensor), visit)
end

--- The elements of a non-empty tensor of rank 1 or more, below a head.
---@param tensor tensor
---@param head string first line, to which a common scale is added
---@param columns integer width of the text
---@return string
function M.write(tensor, head, columns)
  local cells, width, scale = cells_of(tensor)
  local page = setmetatable({ lines = {}, width = width,
    fit = math.max(1, (columns + 1) // (width + 1)) }, Page)
  page:add(head .. (scale == 1 and "" or (", times %.0e"):format(scale)))
  visit_matrices(tensor, cells, function(rows, label)
    if label then
      page:add(label)
    end
    if tensor:rank() == 1 then
      page:add_vector(rows)
    elseif rows then
      page:add_matrix(rows)
    end
  end)
  return table.concat(page.lines, "\n")
end

return M
