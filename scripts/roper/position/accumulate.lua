--- Rotations by angles that are summed over the tokens.
local core = require "roper.core"
local frequencies = require "roper.position.frequencies"

local M = {}

--- The number of pairs of features of a head, and θ_p = base^(−2p/d) for the pairs of all heads.
---
--- Errors: `dim` is odd; `rotate` has letters other than those of "qkvo".
---@param scheme Scheme with the fields `dim`, `heads`, `base` and `rotate`
---@return integer pairs
---@return tensor theta [heads * pairs], float64
function M.frequencies(scheme)
  local rotated = frequencies.rotated(scheme.name, { dim = scheme.dim, fraction = 1,
    rotate = scheme.rotate })
  local theta = core.tensor(frequencies.powers(scheme.base, rotated), "float64")
  return rotated // 2, theta:expand({ scheme.heads, rotated // 2 }):contiguous():view { -1 }
end

--- The angles by which a scheme rotates a part: the sums of `steps` over the tokens up to and
--- including each. The scheme has the field `rotate` and the state "step".
---
---     Φ_t = Σ_{s<=t} step_s
---
--- Errors: as for `Positions:keep`.
---@param scheme Scheme
---@param part "q"|"k"|"v"|"o"
---@param positions Positions
---@param x? tensor [batch, time, d_model], the input of the layer
---@param steps fun(): tensor of the tokens of x: [batch, time, heads, pairs]
---@return tensor? angle [batch, heads, queries or keys, pairs]; nil if the part is not rotated
function M.turns(scheme, part, positions, x, steps)
  if not scheme.rotate:find(part, 1, true) then
    return nil
  end
  local angle = positions:once(scheme, "angle", function()
    local of_keys = positions:accumulate(scheme, "step", x, steps):transpose(2, 3)
    return { of_keys = of_keys, of_queries = positions:of_queries(of_keys, 3) }
  end)
  return (part == "q" or part == "o") and angle.of_queries or angle.of_keys
end

return M
