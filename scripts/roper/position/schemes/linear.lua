local frequencies = require "roper.position.frequencies"
local options_of = require "roper.base.options"
local schemes = require "roper.position.scheme"

local TAKES <const> = frequencies.takes { factor = { "number", 2 } }

---@class LinearScalingOptions: FrequencyOptions
---@field factor? number = 2; by how much longer the text is than in training

--- Position interpolation: RoPE at positions divided by a factor, so that a longer text stays among
--- the angles of training (Chen et al. 2023).
---
---     θ'_t = θ_t / f
---
--- Errors: no dim, a fraction of it that is no even number, a factor below 1.
---
---     > roper.position.linear{dim = 4, factor = 4}:thetas()
---     float64 [2]
---     0.2500 0.0025
---@param options LinearScalingOptions
---@return rotary scheme
local function linear(options)
  local o = options_of.check("linear", options, TAKES)
  frequencies.check_from_one("linear", o, "factor")
  local theta = frequencies.powers(o.base, frequencies.rotated("linear", o))
  for t = 1, #theta do
    theta[t] = theta[t] / o.factor
  end
  return frequencies.rotary(o, theta)
end

return schemes.entry({ takes = TAKES, relative = true,
  summary = "RoPE with all frequencies divided by a factor", formula = "θ'_t = θ_t / f",
  source = "position interpolation, Chen et al. 2023" }, linear)
