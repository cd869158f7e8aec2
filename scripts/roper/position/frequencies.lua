--- Rotary schemes from a list of frequencies: what their options have in common, and the angles of
--- positions.
local core = require "roper.core"
local tables = require "roper.base.tables"

local M = {}

--- What rotary schemes take that list their frequencies.
---@class FrequencyOptions
---@field dim integer features of a head
---@field base? number = 10000; of the frequencies
---@field fraction? number = 1; of the features that turn
---@field pairing? "half"|"interleaved" = "half"; which features turn together
---@field last? boolean = false; the last features turn, not the first
---@field rotate? string = "qk"; what turns: any letters of "qkvo"

--- The kinds of `FrequencyOptions`, and of more.
---@param more table option to kind, as `options.check` has them
---@return table
function M.takes(more)
  return tables.merged({ dim = "size", base = { "number", 10000 }, fraction = { "number", 1 },
    pairing = { { "half", "interleaved" }, "half" }, last = { "boolean", false },
    rotate = { "string", "qk" } }, more)
end

--- How many features turn, by `fraction` of `dim`.
---@param name string of the scheme
---@param o FrequencyOptions
---@return integer rotated even, from 2 on
function M.rotated(name, o)
  local rotated = math.tointeger(o.fraction * o.dim)
  if not rotated or rotated < 2 or rotated > o.dim or rotated % 2 ~= 0 then
    error(("%s: fraction %g of %d features: expected an even whole number of them from 2 on")
      :format(name, o.fraction, o.dim), 0)
  end
  return rotated
end

--- An option that must be a number from 1 on, such as a factor of extension.
---@param name string of the scheme
---@param o table
---@param option string
function M.check_from_one(name, o, option)
  if o[option] < 1 then
    error(("%s: option %s: expected a number from 1 on, got %g"):format(name, option, o[option]), 0)
  end
end

--- θ_t = base^(−2t/r), 0 <= t < r/2.
---@param base number
---@param rotated integer r
---@return number[] theta
function M.powers(base, rotated)
  local theta = {}
  for t = 0, rotated // 2 - 1 do
    theta[t + 1] = base ^ (-2 * t / rotated)
  end
  return theta
end

--- The rotary of the core for these frequencies.
---@param o FrequencyOptions
---@param theta number[]
---@param more? table further options of `roper.rotary`
---@return rotary
function M.rotary(o, theta, more)
  return core.rotary(tables.merged({ dim = o.dim, frequencies = theta, pairing = o.pairing,
    last = o.last, rotate = o.rotate }, more))
end

--- The angles of positions, in the graph of the frequencies.
---
--- The gradient of a frequency is a sum over positions p of p times the gradient of the angle. If
--- only distances count, these terms cancel but for a small rest, and far from 0 the rest has few
--- digits; p − origin in place of p gives the same sum without that loss.
---@param name string of the scheme
---@param positions tensor [1 or batch, time], float64
---@param theta tensor [pairs] or [heads, pairs], floats
---@param origin? tensor [1 or batch, 1]; only for angles of which differences alone matter
---@return tensor angle [1 or batch, 1 or heads, time, pairs], float64
function M.angles(name, positions, theta, origin)
  if positions:rank() > 2 then
    error(("position: %s: expected positions of one number each, got several coordinates"):format(
      name), 0)
  end
  local function product(p, frequencies)
    return p:unsqueeze(2):unsqueeze(4) * frequencies:view { -1, 1, theta:size(-1) }
  end
  local wide = theta:to "float64"
  if not origin then
    return product(positions, wide)
  end
  local value = wide:detach()
  return product(positions, value) + product(positions - origin, wide - value)
end

return M
