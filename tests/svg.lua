-- Reads charts back from SVG, in the units of their axes, as a reader of the picture does.

local M = {}

-- The next position of a path's pen for each command, from its numbers and the present position.
local MOVES <const> = {
  M = function(_, _, a, b) return a, b end,
  m = function(x, y, a, b) return x + a, y + b end,
  H = function(_, y, a) return a, y end,
  h = function(x, y, a) return x + a, y end,
  V = function(x, _, a) return x, a end,
  v = function(x, y, a) return x, y + a end,
}
MOVES.L, MOVES.l = MOVES.M, MOVES.m

--- The lines of a path made of straight parts. A point that repeats the one before is left out.
---@param d string attribute of <path>
---@return number[][][] lines, each a list of points {x, y}
function M.lines(d)
  local lines, x, y = {}, 0, 0
  for command, text in d:gmatch "([%a])([^%a]*)" do
    local numbers = {}
    for number in text:gmatch "-?[%d.]+" do
      numbers[#numbers + 1] = tonumber(number)
    end
    if command ~= "z" and command ~= "Z" then
      local before_x, before_y = x, y
      x, y = MOVES[command](x, y, table.unpack(numbers))
      if command == "M" or command == "m" then
        lines[#lines + 1] = { { x, y } }
      elseif x ~= before_x or y ~= before_y then
        table.insert(lines[#lines], { x, y })
      end
    end
  end
  return lines
end

-- A function from a fraction of an axis to its value: through the first and the last number of the
-- ticks, a list of {fraction, text}; nil if the ticks are names.
local function scale(ticks)
  local known = {}
  for _, tick in ipairs(ticks) do
    local value = tonumber((tick[2]:gsub("−", "-")))
    known[#known + 1] = value and { tick[1], value }
  end
  local first, last = known[1], known[#known]
  return first and function(fraction)
    return first[2] + (fraction - first[1]) / (last[1] - first[1]) * (last[2] - first[2])
  end
end

--- The axes of a chart with linear scales.
---@param picture string with one chart
---@return table axes x, y: functions from a fraction of the area, from its left and its top, to a
---   value; width and height of the area; point(x, y): the values of a position in it; path(d): the
---   lines of a path, in values
function M.axes(picture)
  local across, down = {}, {}
  local tick = '<svg x="([%d.-]+)%%" y="100.00%%"><text class="tick"[^>]*>([^<]*)'
  for at, text in picture:gmatch(tick) do
    across[#across + 1] = { at / 100, text }
  end
  for at, text in picture:gmatch '<text class="tick"[^>]* y="([%d.-]+)%%">([^<]*)' do
    down[#down + 1] = { at / 100, text }
  end
  -- The area of the data is the first picture inside the picture.
  local width, height = picture:match '<svg [^>]*>.-<svg [^>]-viewBox="0 0 ([%d.]+) ([%d.]+)"'
  local axes = { width = width, height = height, x = scale(across), y = scale(down) }
  function axes.point(x, y)
    return axes.x(x / width), axes.y(y / height)
  end
  function axes.path(d)
    local lines = M.lines(d)
    for _, line in ipairs(lines) do
      for i, point in ipairs(line) do
        line[i] = { axes.point(point[1], point[2]) }
      end
    end
    return lines
  end
  return axes
end

--- Checks that numbers, lists of numbers, or lists of these agree.
---@param expected table
---@param got table
---@param tolerance number
function M.near(expected, got, tolerance)
  if type(expected) ~= "table" then
    return assert(math.abs(expected - got) <= tolerance,
      ("expected %s, got %s"):format(expected, got))
  end
  assert(#expected == #got, ("expected %d elements, got %d"):format(#expected, #got))
  for i, one in ipairs(expected) do
    M.near(one, got[i], tolerance)
  end
end

return M
