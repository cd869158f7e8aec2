--- Series of points and axes for plots of arrows.
local axes = require "roper.workbench.plot.axis"
local color = require "roper.workbench.plot.color"
local data = require "roper.workbench.plot.data"
local format = require "roper.text.format"
local options_of = require "roper.options.rows"
local text = require "roper.workbench.plot.text"
local width_of = require("roper.text.width").width

local M = {}

local MOST <const> = 64
local ARC_STEP <const> = math.rad(6) -- between the points of an arc
local MARGIN <const> = 0.05 -- share of the plane, on each side
local TINIEST <const> = 1e-9 -- smallest half-width of a plane, relative to its coordinates

local FIELDS <const> = options_of.define("plot.Arrow", {
  text = "or {x, y}, optionally with the fields below `y`",
  { "x", "any?", nil, "from the tail to the tip", type = "number" },
  { "y", "any?", nil, "from the tail to the tip", type = "number" },
  { "from", "any?", nil, "{x, y}, the tail, such as the tip of another arrow; by default {0, 0}",
    type = "tensor|number[]" },
  { "label", "string?", nil, "beside the arrow, or below the plot in the terminal; arrows with the "
    .. "same label share a colour" },
  { "quantity", { "x", "q", "k", "v", "o" }, "x", "what the arrow is; a query, key, value or "
    .. "output has its own colour and, in files, its own head" },
  { "dashed", "boolean", false },
  { "turned", "number?", nil, "the angle, in radians, by which the arrow has been rotated about "
    .. "its tail; the path of its tip is then drawn too" },
  { "about", "any?", nil, "{x, y}, the centre of this rotation, if it is not the tail; no path is "
    .. "drawn then", type = "tensor|number[]" },
})

-- Numbers of the colours of quantities.
local COLORS <const> = { q = 1, k = 2, v = 3, o = 4 }

--- Returns the arc from one tip to another around a centre.
---@param x1 number from the centre to the first tip
---@param x2 number from the centre to the second tip
---@param angle number in radians
---@param x0 number? the centre; by default the origin
---@return number[] xs
---@return number[] ys
function M.arc(x1, y1, x2, y2, angle, x0, y0)
  local xs, ys = {}, {}
  local start, from, to = math.atan(y1, x1), (x1 ^ 2 + y1 ^ 2) ^ 0.5, (x2 ^ 2 + y2 ^ 2) ^ 0.5
  local count = math.max(1, math.ceil(math.abs(angle) / ARC_STEP))
  for i = 0, count do
    local part = i / count
    local radius = from + (to - from) * part
    xs[i + 1] = (x0 or 0) + radius * math.cos(start + angle * part)
    ys[i + 1] = (y0 or 0) + radius * math.sin(start + angle * part)
  end
  return xs, ys
end

-- Reads two finite numbers from a list or a vector.
local function pair(what, value)
  local list = data.numbers(what, value)
  local x, y = list[1], list[2]
  if #list ~= 2 then
    error(("%s: expected two numbers, x and y, got %d"):format(what, #list), 0)
  elseif x ~= x or y ~= y then
    error(what .. ": expected finite numbers, got nan or inf", 0)
  end
  return x, y
end

-- Reads the fields of an arrow; x and y can be given without names.
local function read(what, given)
  local is_table = type(given) == "table"
  local is_named = is_table and (given.x ~= nil or given.y ~= nil)
  local fields = {}
  for name, value in pairs(is_table and given or {}) do
    fields[name] = (is_named or type(name) == "string") and value or nil
  end
  fields = options_of.check(what, fields, FIELDS, 0)
  fields.x, fields.y = pair(what, is_named and { fields.x, fields.y } or given)
  return fields
end

-- Checks that the argument of a plot is a list or a matrix of arrows.
local function check_list(list)
  local is_tensor = format.is_tensor(list)
  if is_tensor and list:rank() ~= 2 or not is_tensor and type(list) ~= "table"
    or type(list[1]) == "number" or not is_tensor and list.x ~= nil then
    error("plot.arrows: expected a list of arrows, such as {{1, 2}, {3, 1}}, or a matrix of them, "
      .. "got " .. (type(list) == "table" and "one" or data.kind(list)), 0)
  elseif #list == 0 then
    error("plot.arrows: expected at least one arrow, got none", 0)
  elseif #list > MOST then
    error(("plot.arrows: expected at most %d arrows, got %d"):format(MOST, #list), 0)
  end
end

local function extremes(lists)
  local low, high = math.huge, -math.huge
  for _, list in ipairs(lists) do
    low, high = math.min(low, table.unpack(list)), math.max(high, table.unpack(list))
  end
  return low, high
end

-- Returns two axes of the same scale that contain all numbers of the lists.
local function square(xs, ys)
  local left, right = extremes(xs)
  local low, high = extremes(ys)
  local size = math.max(right - left, high - low)
  local least = TINIEST * math.max(1, -left, right, -low, high)
  local half = size > 0 and math.max((0.5 + MARGIN) * size, least) or 1
  local function axis(lists, from, to)
    local middle = from + (to - from) / 2
    return axes.new(lists, { range = { middle - half, middle + half } })
  end
  return axis(xs, left, right), axis(ys, low, high)
end

-- Returns a character for each label that identifies it without colours: its first digit or, if it
-- has none, its first letter. Returns no characters if two labels would have the same.
local function marks_of(series)
  local marks, labels = {}, {}
  for _, one in ipairs(series) do
    local label = one.label
    local mark = label and (label:match "%d" or label:match(utf8.charpattern))
    if mark and (labels[mark] or label) ~= label or mark and width_of(mark) ~= 1 then
      return {}
    elseif mark then
      marks[label], labels[mark] = mark, label
    end
  end
  return marks
end

--- Returns the series and axes of `plot.arrows`.
---@return table[] series
---@return Axis x
---@return Axis y of the same scale
function M.series(list)
  check_list(list)
  local series, xs, ys, indices, count = {}, {}, {}, {}, 0
  local function add(index, x, y, fields)
    fields.index, fields.x, fields.y = index, x, y
    series[#series + 1], xs[#xs + 1], ys[#ys + 1] = fields, x, y
  end
  for i = 1, #list do
    local what = "plot.arrows: arrow " .. i
    local arrow = read(what, list[i])
    local x0, y0 = 0.0, 0.0
    if arrow.from ~= nil then
      x0, y0 = pair(what .. ": from", arrow.from)
    end
    local x, y, turned = arrow.x, arrow.y, arrow.turned
    local index = COLORS[arrow.quantity] or indices[arrow.label]
    if not index then
      count = count + 1
      index = (count - 1) % #color.SERIES + 1
      indices[arrow.label or i] = index
    end
    local centre
    if turned and arrow.about ~= nil then
      centre = { pair(what .. ": about", arrow.about) }
    elseif turned then
      local c, s = math.cos(turned), math.sin(turned)
      local arc_x, arc_y = M.arc(x * c + y * s, y * c - x * s, x, y, turned, x0, y0)
      centre = { x0, y0 }
      add(index, arc_x, arc_y, { thin = true, trail = true, quantity = arrow.quantity })
    end
    add(index, { x0, x0 + x }, { y0, y0 + y }, { style = "arrow", dashed = arrow.dashed,
      quantity = arrow.quantity, turned = turned and { turned, centre[1], centre[2] },
      label = arrow.label and text.clean(arrow.label) })
  end
  local marks = marks_of(series)
  for _, one in ipairs(series) do
    one.mark = marks[one.label]
  end
  return series, square(xs, ys)
end

return M
