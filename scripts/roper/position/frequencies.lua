--- Common options of rotary schemes with a list of frequencies, and angles from positions.
local core = require "roper.core"
local options_of = require "roper.options.rows"
local tables = require "roper.base.tables"

local M = {}

options_of.define("FrequencyOptions", {
  { "dim", "size", nil, "features of a head" },
  { "base", "positive", 10000, "base of the frequencies" },
  { "fraction", "number", 1, "fraction of the features that is rotated" },
  { "pairing", { "half", "interleaved" }, "half", "which two features form a pair" },
  { "last", "boolean", false, "rotate the last features instead of the first" },
  { "rotate", "string", "qk", 'which tensors are rotated: any letters of "qkvo"' },
})

--- The number of rotated features, `fraction * dim`. Also checks the option `rotate`.
---
--- Errors: a number that is not even and whole, from 2 to `dim`; letters other than those of
--- "qkvo", or one twice.
---@param name string of the scheme
---@param o FrequencyOptions
---@return integer rotated
function M.rotated(name, o)
  if o.rotate:find "[^qkvo]" or o.rotate:find "(.).*%1" then
    error(('%s: option rotate: expected letters of "qkvo", each at most once, got %q'):format(name,
      o.rotate), 0)
  end
  local rotated = math.tointeger(o.fraction * o.dim)
  if not rotated or rotated < 2 or rotated > o.dim or rotated % 2 ~= 0 then
    error(("%s: expected fraction * dim to be an even integer from 2 to dim, got %g * %d")
      :format(name, o.fraction, o.dim), 0)
  end
  return rotated
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

--- A rotary scheme with these frequencies.
---@param o FrequencyOptions
---@param theta number[]
---@param more? table further options of `roper.rotary`
---@return rotary
function M.rotary(o, theta, more)
  return core.rotary(tables.merged({ dim = o.dim, frequencies = theta, pairing = o.pairing,
    last = o.last, rotate = o.rotate }, more))
end

--- The rotation of a batch by a rotary for each row.
---@param rotaries rotary[] one for each row, or one for all
---@return rotary|table turn the rotary itself if all are the same
function M.by_row(rotaries)
  local runs = {} -- of consecutive rows with the same rotary
  for row, rotary in ipairs(rotaries) do
    local last = runs[#runs]
    if last and last.rotary == rotary then
      last.count = last.count + 1
    else
      runs[#runs + 1] = { rotary = rotary, first = row, count = 1 }
    end
  end
  if #runs == 1 then
    return rotaries[1]
  end
  local function each(method)
    return function(_, x, positions, part)
      return core.cat(tables.map(runs, function(run)
        local own = positions:size(1) > 1 and positions:narrow(1, run.first, run.count) or positions
        return run.rotary[method](run.rotary, x:narrow(1, run.first, run.count), own, part)
      end), 1)
    end
  end
  return { rotate = each "rotate", unrotate = each "unrotate" }
end

-- If a part and its partner are both rotated, only the distance matters.
local PARTNER <const> = { q = "k", k = "q", v = "o", o = "v" }

--- The origin for `angles`: the smallest position of each row.
---@param rotate string the parts that are rotated
---@param part "q"|"k"|"v"|"o"
---@param positions Positions
---@return tensor? origin [1 or batch, 1]; nil if more than the distance matters, without tokens, or
---   with several coordinates
function M.origin(rotate, part, positions)
  local query, key = positions.query, positions.key
  if not rotate:find(PARTNER[part], 1, true) or query:rank() > 2 or key:rank() > 2
    or query:size(2) == 0 or key:size(2) == 0 then
    return nil
  end
  return query:min(2, true):minimum(key:min(2, true))
end

--- The angles of positions, differentiable with respect to the frequencies.
---
--- The gradient of a frequency is the sum over positions p of p times the gradient of the angle. If
--- only distances matter, these terms nearly cancel, and their sum loses digits at positions far
--- from 0. With p − origin in place of p, the sum is the same, but without this loss.
---@param name string of the scheme
---@param positions tensor [1 or batch, time], float64
---@param theta tensor [pairs] or [heads, pairs], floats
---@param origin? tensor [1 or batch, 1]; pass it only if the result is used for differences of
---   angles alone
---@return tensor angle [1 or batch, 1 or heads, time, pairs], float64
function M.angles(name, positions, theta, origin)
  if positions:rank() > 2 then
    error(("position: %s: expected one number per position, got several coordinates"):format(
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
