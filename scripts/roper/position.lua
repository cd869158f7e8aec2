--- Position schemes by name. A scheme is a function from options to an object that attention
--- takes as `position`. A new one is a line in `schemes`.
local core = require "roper.core"
local suggest = require "roper.suggest"

local M = {}

--- Copy `options`, with `defaults` where it is silent.
local function with_defaults(options, defaults)
  local result = {}
  for name, value in pairs(defaults) do
    result[name] = value
  end
  for name, value in pairs(options or {}) do
    result[name] = value
  end
  return result
end

--- No rotation at all: the baseline without positions.
---@param options table? dim (features of a head; any even number)
---@return rotary
function M.none(options)
  return core.rotary(with_defaults(options, { dim = 2, rotate = "" }))
end

--- Rotary position encoding: queries and keys turn by position times theta, so that scores depend
--- on relative position (RoFormer, Su et al. 2021, eq. 13-16).
---@param options table dim: features of a head; base = 10000; pairing = "half" or "interleaved";
---   fraction = 1 of the features of queries and keys that turn; value_fraction = fraction, the
---   same for values and output; rotate = "qk", any subset of "qkvo"
---@return rotary with methods rotate, unrotate, matrix, only, thetas, options
function M.rope(options)
  return core.rotary(with_defaults(options, { rotate = "qk" }))
end

--- RoPE with values turned too and the output turned back: what is carried is relative as well,
--- o_i = sum_j a_ij R_{j-i} v_j (the RoPER study, Harik and Jayasiri 2022).
---@param options table as for `rope`; rotate = "qkvo"
---@return rotary
function M.roper(options)
  return core.rotary(with_defaults(options, { rotate = "qkvo" }))
end

local schemes = { "none", "rope", "roper" }

--- The names of all schemes.
---@return string[]
function M.list()
  return table.move(schemes, 1, #schemes, 1, {})
end

--- A scheme from a name, from an options table with a field `type`, or as it is.
---@param position string|table|userdata|nil
---@param dim integer features of a head
---@return userdata? the scheme; nil for nil and "none"
function M.resolve(position, dim)
  if position == nil or position == "none" or type(position) == "userdata" then
    return type(position) == "userdata" and position or nil
  end
  local options = type(position) == "table" and position or { type = position }
  local name = options.type
  for _, known in ipairs(schemes) do
    if known == name then
      local rest = with_defaults(options, { dim = dim })
      rest.type = nil
      return M[name](rest)
    end
  end
  error(("position: expected one of %s, got %s%s"):format(table.concat(schemes, ", "),
    tostring(name), suggest.hint(tostring(name), schemes)), 0)
end

--- Where feature i of one pairing stands in the other: both turn the same pairs, in other places.
local function pairing_order(rotated, from, to)
  local half = rotated // 2
  local order = {}
  for t = 0, half - 1 do
    local a = { half = { t, t + half }, interleaved = { 2 * t, 2 * t + 1 } }
    if not a[from] or not a[to] then
      error(('convert_pairing: expected "half" or "interleaved", got %q and %q'):format(
        tostring(from), tostring(to)), 3)
    end
    order[a[to][1] + 1] = a[from][1] + 1
    order[a[to][2] + 1] = a[from][2] + 1
  end
  return order
end

--- Reorder the features of weights trained with one pairing for the other. Apply it to the rows of
--- the query and key projections; for RoPER also to the rows of the value projection and, with
--- axis 2, to the columns of the output projection.
---@param weights tensor [heads * dim, in] (or [out, heads * dim] with axis 2), or [heads * dim]
---@param from string "half" or "interleaved"
---@param to string the other
---@param options table? heads = 1; rotated = all features of a head; axis = 1
---@return tensor of the same shape
function M.convert_pairing(weights, from, to, options)
  options = options or {}
  for name in pairs(options) do
    if name ~= "heads" and name ~= "rotated" and name ~= "axis" then
      error("convert_pairing: unknown option " .. tostring(name)
        .. "; it takes heads, rotated, axis", 2)
    end
  end
  local heads, axis = options.heads or 1, options.axis or 1
  local width = weights:size(axis)
  if math.type(heads) ~= "integer" or heads < 1 or width % heads ~= 0 then
    error(("convert_pairing: axis %d has %d features, which %s heads do not divide"):format(axis,
      width, tostring(heads)), 2)
  end
  local dim = width // heads
  local rotated = options.rotated or dim
  if math.type(rotated) ~= "integer" or rotated < 0 or rotated > dim or rotated % 2 ~= 0 then
    error(("convert_pairing: rotated: expected an even number up to %d, got %s"):format(dim,
      tostring(rotated)), 2)
  end
  local order = pairing_order(rotated, from, to)
  local parts = {}
  for head = 0, heads - 1 do
    for i = 1, dim do
      parts[#parts + 1] = weights:narrow(axis, head * dim + (order[i] or i), 1)
    end
  end
  return core.cat(parts, axis)
end

return M
