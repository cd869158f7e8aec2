--- Position schemes by name. A scheme is a function from options to an object that attention
--- takes as `position`. A new one is a line in `schemes`.
local core = require "roper.core"
local options_of = require "roper.base.options"
local suggest = require "roper.base.suggest"

local M = {}

-- Copy `options`, with `defaults` where it is silent.
local function with_defaults(options, defaults)
  if options ~= nil and type(options) ~= "table" then
    error("position: expected a table of options, got " .. type(options), 3)
  end
  local result = {}
  for name, value in pairs(defaults) do
    result[name] = value
  end
  for name, value in pairs(options or {}) do
    result[name] = value
  end
  return result
end

---@class RopeOptions: RotaryOptions
---@field dim? integer features of a head; only `none` does without

--- No rotation: the baseline without positions.
---
--- Errors: as for `rope`.
---
---     > roper.position.none()
---     rotary{dim = 2, base = 10000.0, pairing = "half", rotate = ""}
---@param options? RopeOptions
---@return rotary scheme
function M.none(options)
  return core.rotary(with_defaults(options, { dim = 2, rotate = "" }))
end

--- Rotary position encoding: queries and keys turn by position times θ, so that scores depend on
--- relative position (RoFormer, Su et al. 2021, eq. 13-16).
---
---     sᵢⱼ = (R_i qᵢ) · (R_j kⱼ) = qᵢ · R_{j−i} kⱼ
---
--- Errors: no dim, a fraction of it that is no even number.
---
---     > rope = roper.position.rope{dim = 4}
---     > q = roper.randn{1, 1, 6, 4}
---     > both = rope:rotate(rope:rotate(q, 1), 2)
---     > (rope:rotate(q, 3) - both):abs():max():item() < 1e-6
---     true
---@param options RotaryOptions
---@return rotary scheme
function M.rope(options)
  return core.rotary(with_defaults(options, { rotate = "qk" }))
end

--- RoPE with values turned too and the output turned back: what is carried is relative as well
--- (the RoPER study, Harik and Jayasiri 2022). As `rope`, but for rotate = "qkvo".
---
---     oᵢ = R_{−i} Σⱼ aᵢⱼ R_j vⱼ = Σⱼ aᵢⱼ R_{j−i} vⱼ
---
--- Errors: as for `rope`.
---
---     > roper.position.roper{dim = 4}
---     rotary{dim = 4, base = 10000.0, pairing = "half", rotate = "qkvo"}
---@param options RotaryOptions
---@return rotary scheme
function M.roper(options)
  return core.rotary(with_defaults(options, { rotate = "qkvo" }))
end

local schemes = { "none", "rope", "roper" }

--- The names of all schemes.
---
---     > roper.position.list()
---     {"none", "rope", "roper"}
---@return string[] names
function M.list()
  return table.move(schemes, 1, #schemes, 1, {})
end

--- A scheme from a name, from an options table with a field `type`, or as it is.
---
--- Errors: a name that no scheme has; the nearest one is suggested.
---
---     > roper.position.resolve("rope", 4)
---     rotary{dim = 4, base = 10000.0, pairing = "half", rotate = "qk"}
---     > roper.position.resolve({type = "rope", rotate = "vo"}, 4)
---     rotary{dim = 4, base = 10000.0, pairing = "half", rotate = "vo"}
---@param position? string|table|rotary
---@param dim integer features of a head
---@return rotary? scheme nil for nil and "none"
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

-- Where feature i of one pairing stands in the other: both turn the same pairs, in other places.
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

---@class ConvertPairingOptions
---@field heads? integer = 1
---@field rotated? integer all features of a head by default
---@field axis? integer = 1

--- Reorder the features of weights trained with one pairing for the other. Apply it to the rows of
--- the query and key projections; for RoPER also to the rows of the value projection and, with
--- axis 2, to the columns of the output projection.
---
--- Errors: features that the heads do not divide; an odd number of rotated ones.
---
---     > roper.position.convert_pairing(roper.arange(0, 8), "half", "interleaved")
---     float32 [8]
---     0 4 1 5 2 6 3 7
---@param weights tensor [heads * dim, inputs], [outputs, heads * dim] with axis 2, or [heads * dim]
---@param from "half"|"interleaved"
---@param to "half"|"interleaved"
---@param options? ConvertPairingOptions
---@return tensor y of the same shape
function M.convert_pairing(weights, from, to, options)
  local o = options_of.check("convert_pairing", options, { heads = { "size", 1 },
    rotated = "integer?", axis = { "integer", 1 } })
  local heads, axis = o.heads, o.axis
  local width = weights:size(axis)
  if width % heads ~= 0 then
    error(("convert_pairing: axis %d has %d features, which %d heads do not divide"):format(axis,
      width, heads), 2)
  end
  local dim = width // heads
  local rotated = o.rotated or dim
  if rotated < 0 or rotated > dim or rotated % 2 ~= 0 then
    error(("convert_pairing: rotated: expected an even number up to %d, got %d"):format(dim,
      rotated), 2)
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
