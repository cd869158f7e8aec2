--- Position interpolation: RoPE with positions divided by a factor, which keeps the angles of a
--- longer text within the range seen in training (Chen et al. 2023).
---
---     θ'_t = θ_t / f
---
--- Errors: `dim` is missing; `fraction * dim` is not an even number; a factor below 1.
---
---     > roper.position.linear{dim = 4, factor = 4}:thetas()
---     float64 [2]
---     0.2500 0.0025
---@param options LinearScalingOptions
---@return rotary scheme
local equation = require "roper.position.equation"
local frequencies = require "roper.position.frequencies"

return {
  takes = { class = "LinearScalingOptions", parent = "FrequencyOptions",
    { "factor", "factor", 2, "f, length of the text divided by that in training" },
  },
  build = function(o)
    local theta = frequencies.powers(o.base, frequencies.rotated("linear", o))
    for t = 1, #theta do
      theta[t] = theta[t] / o.factor
    end
    return frequencies.rotary(o, theta)
  end,
  pytorch = [[
def forward(self, q, k, v, positions, x):
    theta = powers(self.base, int(self.fraction * q.shape[-1]), q.device) / self.factor
    return turned(self, q, k, v, positions[:, None, :, None] * theta)
]],
  relative = true,
  summary = "RoPE with all frequencies divided by a factor",
  formula = function(o)
    return equation.text { rotate = o.rotate, before = "θ'_t = θ_t / f" }
  end,
  source = "position interpolation, Chen et al. 2023",
}
