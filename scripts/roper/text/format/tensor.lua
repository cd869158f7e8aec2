--- Formats tensors: a head with dtype, shape and scale, followed by elements in aligned columns.
local options = require "roper.text.format.options"
local tables = require "roper.base.tables"

local M = {}

local GAP <const> = "…"

-- The elements to show as nested tables. If the tensor `is_large`, GAP replaces all but the edges:
-- only the last two axes keep several elements at each end.
local function gather(tensor, is_large)
  local size, list = #tensor, {}
  local keep = is_large and (tensor:rank() > 2 and 1 or options.current.edge_items)
  local function add(first, last)
    if tensor:rank() == 1 then
      list = tables.joined(list, tensor:narrow(1, first, last - first + 1):totable())
      return
    end
    for i = first, last do
      list[#list + 1] = gather(tensor[i], is_large)
    end
  end
  if not keep or size <= 2 * keep then
    add(1, size)
  else
    add(1, keep)
    list[#list + 1] = GAP
    add(size - keep + 1, size)
  end
  return list
end

-- The notation and the common scale of the finite numbers of a tensor. Integers and decimals
-- are preferred, if no number becomes zero; a scale is used for large or small numbers within three
-- orders of magnitude; all others have scientific notation.
local function notation(nested, dtype)
  local largest, smallest, is_whole = 0.0, math.huge, true
  local function measure(item)
    if type(item) == "table" then
      for _, inner in ipairs(item) do
        measure(inner)
      end
    elseif item ~= GAP and item ~= 0 and item - item == 0 then -- finite
      largest, smallest = math.max(largest, math.abs(item)), math.min(smallest, math.abs(item))
      is_whole = is_whole and item == math.floor(item)
    end
  end
  measure(nested)
  if dtype == "int32" or (is_whole and largest < 1e7) then
    return "%.0f", 1
  end
  local decimal = ("%%.%df"):format(options.current.precision)
  if largest >= 1e5 or largest < 1e-3 then
    local exponent = ("%%.%de"):format(options.current.precision):format(largest):match "e(.*)"
    local scale = 10.0 ^ math.max(tonumber(exponent), -300)
    if smallest / scale >= 1e-3 then
      return decimal, scale
    end
  elseif tonumber(decimal:format(smallest)) > 0 then
    return decimal, 1
  end
  return ("%%.%de"):format(options.current.precision), 1
end

-- Cells first .. last of a row, each right-aligned to `width` except the gap.
local function row_line(row, first, last, width)
  local aligned = {}
  for i = first, last do
    aligned[#aligned + 1] = row[i] == GAP and GAP or (" "):rep(width - #row[i]) .. row[i]
  end
  return table.concat(aligned, " ")
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
  local nested = gather(tensor, tensor:count() > options.current.threshold)
  local form, scale = notation(nested, tensor:dtype())
  local longest = 1
  local function text_of(item)
    if type(item) == "table" then
      return tables.map(item, text_of)
    elseif item == GAP then
      return GAP
    end
    local text = item ~= item and "nan" or form:format(item / scale + 0.0) -- not -0
    longest = math.max(longest, #text)
    return text
  end
  return text_of(nested), longest, scale
end

-- Visits the matrices in the cells of a tensor; a single one has no label.
local function visit_matrices(tensor, cells, visit)
  local shape = tensor:shape()
  local is_single = tensor:count() == shape[#shape] * (shape[#shape - 1] or 1)
  visit_below(#shape == 1 and { cells } or cells, shape, {}, function(rows, label)
    visit(rows, not is_single and label or nil)
  end)
end

--- Visits the matrices of a non-empty tensor of rank 1 or more, as texts. A vector is one row.
---@param tensor tensor
---@param visit fun(rows?: (string[]|string)[], label?: string) rows: "…" for those left out; nil
---   for matrices left out. label: the leading indices
function M.each_matrix(tensor, visit)
  visit_matrices(tensor, cells_of(tensor), visit)
end

--- The elements of a non-empty tensor of rank 1 or more, below a head. Rows that are too wide are
--- divided into groups of columns.
---@param tensor tensor
---@param head string first line, to which a common scale is added
---@param columns integer width of the text
---@return string
function M.write(tensor, head, columns)
  local cells, width, scale = cells_of(tensor)
  local fit = math.max(1, (columns + 1) // (width + 1)) -- cells on a line
  local lines = { head .. (scale == 1 and "" or (", times %.0e"):format(scale)) }
  visit_matrices(tensor, cells, function(rows, label)
    lines[#lines + 1] = label
    local count = rows and #rows[1] or 0
    for first = 1, count, fit do
      local last = math.min(first + fit - 1, count)
      if tensor:rank() > 1 and count > fit then
        lines[#lines + 1] = ("columns %d to %d"):format(first, last)
      end
      for _, row in ipairs(rows) do
        lines[#lines + 1] = row == GAP and (" "):rep(width - 1) .. GAP
          or row_line(row, first, last, width)
      end
    end
  end)
  return table.concat(lines, "\n")
end

return M
