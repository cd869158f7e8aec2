--- Reads the data of plots: converts tensors and Lua lists to series of points or to a matrix.
local core = require "roper.core"
local format = require "roper.text.format"
local options_of = require "roper.options.rows"

local M = {}

local MOST_POINTS <const> = 10000000
local MOST_SERIES <const> = 64
local GREATEST <const> = 1e300 -- differences of larger numbers could overflow

local function fail(form, ...)
  error(form:format(...), 0)
end

--- Describes a value for messages: the dtype and shape of a tensor, or the type of another value.
function M.kind(value)
  return format.is_tensor(value) and format.summary(value) or type(value)
end

--- Raises an error if a number is too large to draw.
---@param what string for messages
function M.check_size(what, number)
  if math.abs(number) > GREATEST then
    fail("%s: expected numbers up to %g, got %g", what, GREATEST, number)
  end
end

--- Converts a list or a vector to a list of floats; numbers that are not finite become nan.
---@param what string for messages
---@return number[]
function M.numbers(what, value)
  local is_tensor = format.is_tensor(value)
  if is_tensor and value:rank() ~= 1 or not is_tensor and type(value) ~= "table" then
    fail("%s: expected a vector or a list of numbers, got %s", what, M.kind(value))
  end
  local count = is_tensor and value:count() or #value
  if count > MOST_POINTS then
    fail("%s: expected at most %d numbers, got %d", what, MOST_POINTS, count)
  end
  local list, result = is_tensor and value:totable() or value, {}
  for i = 1, count do
    local number = list[i]
    if type(number) ~= "number" then
      fail("%s: expected numbers, got %s as element %d", what, M.kind(number), i)
    end
    if number - number == 0 then
      M.check_size(what, number)
      result[i] = number + 0.0
    else
      result[i] = 0 / 0
    end
  end
  return result
end

local function has_names(value)
  for key in next, value do
    if type(key) == "string" then
      return true
    end
  end
  return false
end

local FIELDS <const> = options_of.define("plot.Series", {
  text = "a line, or a group of points or bars",
  { "y", "any", nil, "one number for each point; nan and inf are gaps", type = "tensor|number[]" },
  { "x", "any?", nil, "one number for each point; by default 1, 2, ...", type = "tensor|number[]" },
  { "low", "any?", nil, "lower edge of a shaded band, such as the mean - standard error",
    type = "tensor|number[]" },
  { "high", "any?", nil, "upper edge of the band", type = "tensor|number[]" },
  { "label", "string?", nil, "in the legend; series with the same label share a colour" },
  { "dashed", "boolean", false, "draw a dashed line" },
  { "thin", "boolean", false, "draw a thin line, as for a bound" },
})

-- Reads a series from a table with its fields, or from a list of its y.
local function read_series(what, given)
  if type(given) ~= "table" or not has_names(given) then
    given = { y = given }
  end
  local fields = options_of.check(what, given, FIELDS, 0)
  local series = { label = fields.label, dashed = fields.dashed, thin = fields.thin,
    y = M.numbers(what, fields.y) }
  if (fields.low == nil) ~= (fields.high == nil) then
    fail("%s: expected both low and high of a band, got one", what)
  end
  for _, name in ipairs { "x", "low", "high" } do
    if fields[name] ~= nil then
      series[name] = M.numbers(what .. ": " .. name, fields[name])
      if #series[name] ~= #series.y then
        fail("%s: expected as many numbers in %s as in y, got %d and %d", what, name,
          #series[name], #series.y)
      end
    end
  end
  if not series.x then
    series.x = {}
    for i = 1, #series.y do
      series.x[i] = i + 0.0
    end
  end
  return series
end

-- Returns the series in the data of a plot as a list, without checking them.
local function split(name, data)
  local is_tensor = format.is_tensor(data)
  if is_tensor and data:rank() == 2 then
    if data:size(2) > MOST_SERIES then
      fail("%s: expected at most %d columns, one per series, got %s; plot.heatmap shows a matrix",
        name, MOST_SERIES, format.summary(data))
    end
    return data:transpose(1, 2):totable()
  elseif is_tensor and data:rank() ~= 1 or not is_tensor and type(data) ~= "table" then
    fail("%s: expected a vector, a matrix, a list or a series {x =, y =}, got %s", name,
      M.kind(data))
  elseif is_tensor or type(data[1]) == "number" or has_names(data) then
    return { data }
  end
  if #data > MOST_SERIES then
    fail("%s: expected at most %d series, got %d", name, MOST_SERIES, #data)
  end
  return data
end

--- Reads series of points from a vector or a list of numbers (y over 1, 2, ...), from a series
--- {x =, y =, ...}, from a list of these, or from a matrix with a series in each column.
---@param name string of the function, for messages
---@return table[] series each with lists x, y and, if it has a band, low and high, of the same
---   length, with nan for gaps; label; dashed; thin; index, equal for series with the same label
function M.series(name, data)
  local given, list, indices, count = split(name, data), {}, {}, 0
  for i, item in ipairs(given) do
    local series = read_series(#given == 1 and name or ("%s: series %d"):format(name, i), item)
    series.index = indices[series.label]
    if not series.index then
      count = count + 1
      series.index = count
      indices[series.label or series] = count
    end
    list[i] = series
  end
  return list
end

--- Reads a matrix with at least one element.
---@param name string of the function, for messages
---@param value any a tensor, or a list of rows
---@return tensor matrix detached, float32 or float64
function M.matrix(name, value)
  local tensor = format.is_tensor(value) and value or nil
  if type(value) == "table" then
    local ok, made = pcall(core.tensor, value, "float64")
    if not ok then
      fail("%s: %s", name, tostring(made):gsub("^tensor: ", ""))
    end
    tensor = made
  end
  if not tensor or tensor:rank() ~= 2 or tensor:count() == 0 then
    fail("%s: expected a matrix [rows, columns], got %s%s", name, M.kind(tensor or value),
      tensor and tensor:rank() > 2 and "; index it down to one matrix, such as x[1][1]" or "")
  end
  return tensor:dtype() == "int32" and tensor:to "float64" or tensor:detach()
end

--- Reads a list of `count` texts.
---@param what string for messages
---@param list any strings and numbers
---@param show fun(text: string): string escapes a text
---@return string[]?
function M.texts(what, list, count, show)
  if list == nil then
    return nil
  elseif type(list) ~= "table" or #list ~= count then
    fail("%s: expected a list of %d texts, got %s", what, count,
      type(list) == "table" and #list or type(list))
  end
  local texts = {}
  for i = 1, count do
    if type(list[i]) ~= "string" and type(list[i]) ~= "number" then
      fail("%s: expected texts, got %s as element %d", what, type(list[i]), i)
    end
    texts[i] = show(tostring(list[i]))
  end
  return texts
end

--- Checks the range of an axis.
---@param what string for messages
---@param log boolean? true for a logarithmic scale
---@return number[]? {low, high}
function M.range(what, range, log)
  if range == nil then
    return nil
  end
  local low, high = range[1], range[2]
  local is_range = type(low) == "number" and type(high) == "number" and #range == 2
    and math.abs(low) <= GREATEST and math.abs(high) <= GREATEST
    and high - low > 1e-10 * math.max(math.abs(low), math.abs(high), 1e-280)
  if not is_range then
    fail("%s: expected {low, high} with low < high, got {%s, %s}", what, low, high)
  elseif log and low <= 0 then
    fail("%s: expected numbers above 0 on a logarithmic scale, got %g", what, low)
  end
  return range
end

return M
