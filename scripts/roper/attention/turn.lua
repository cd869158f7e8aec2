--- The rotation of a part of attention as a position scheme returns it: a rotary, a map, or angles.
local core = require "roper.core"
local format = require "roper.text.format"
local schemes = require "roper.position.scheme"

local M = {}

-- The angles of the last tokens.
local function last(angle, time)
  local all = angle:size(3)
  return time == all and angle or angle:narrow(3, all - time + 1, time)
end

local function fail(scheme, part, expected, got, advice)
  error(("position: %s: turns: expected %s for %q, got %s%s"):format(scheme.name, expected, part,
    got, advice or ""), 0)
end

-- Advice for angles of a part with another number of tokens than `time`.
local function advice(positions, time, own)
  if own == time then
    return ""
  elseif time == positions.queries and own == positions.keys then
    return "; use positions:of_queries"
  end
  return own < time and positions.state
    and "; keep those of earlier tokens with positions:keep" or ""
end

-- Raises an error unless angles have a shape that fits the part.
local function check_angles(scheme, part, positions, dim, angle)
  local time = (part == "q" or part == "o") and positions.queries or positions.keys
  local batch, heads, own, pairs = table.unpack(angle:shape())
  if not angle:dtype():find "^float" or angle:rank() ~= 4
    or batch ~= 1 and batch ~= positions.batch or heads ~= 1 and heads ~= positions.heads
    or own ~= time or dim and 2 * pairs > dim then
    local function size_of(n) return n == 1 and "1" or "1 or " .. n end
    fail(scheme, part, ("angles, floats [%s, %s, %d, %s]"):format(size_of(positions.batch),
      size_of(positions.heads), time, dim and "up to " .. dim // 2 or "pairs"),
      format.summary(angle), own and advice(positions, time, own))
  end
end

--- The rotation of a part of attention.
---
--- Errors: a scheme that returns anything else; angles of a shape that does not fit.
---@param scheme Scheme
---@param part "q"|"k"|"v"|"o"
---@param positions Positions
---@param x? tensor the input of the layer
---@param dim? integer number of features of the part, if it is known
---@return table? turn a rotary, or a table with `rotate` and `unrotate`; nil for none. With
---   `by_angles`, `rotate` also takes the last tokens alone
function M.of(scheme, part, positions, x, dim)
  if schemes.is_rotary(scheme) then
    return scheme
  end
  local turn = scheme.turns and scheme:turns(part, positions, x)
  if not turn then
    return nil
  elseif format.is_tensor(turn) then
    check_angles(scheme, part, positions, dim, turn)
    return {
      by_angles = true,
      rotate = function(_, y) return core.rotate(y, last(turn, y:size(3))) end,
      unrotate = function(_, y) return core.rotate(y, turn, true) end,
    }
  elseif not (schemes.is_rotary(turn)
    or type(turn) == "table" and turn[part == "o" and "unrotate" or "rotate"]) then
    fail(scheme, part, "angles, a rotary or a table with rotate and unrotate",
      type(turn) == "table" and "a table without " .. (part == "o" and "unrotate" or "rotate")
      or type(turn))
  end
  return turn
end

return M
