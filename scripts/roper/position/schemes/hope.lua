--- HoPE, high-frequency rotary position encoding: only pairs that complete at least one rotation
--- within the trained length L are rotated, with the frequencies of RoPE (Chen et al. 2024). In a
--- longer text, the other pairs would reach angles that do not occur in training. They are not
--- rotated, and are free for content. Scores then do not decay with the distance. In contrast to
--- `proportional`, the number of rotated pairs follows from L.
---
---     θ_t = base^(−2t/r) if L θ_t >= 2π, else 0
---
--- Errors: `dim` is missing; `fraction * dim` is not an even number; no pair completes a rotation.
---
---     > roper.position.hope{dim = 8, trained_length = 128}:thetas()
---     float64 [4]
---     1.0000 0.1000 0.0000 0.0000
---@param options HopeOptions
---@return rotary scheme
local equation = require "roper.position.equation"
local frequencies = require "roper.position.frequencies"

return {
  takes = { class = "HopeOptions", parent = "FrequencyOptions",
    { "trained_length", "size", 2048, "L" },
  },
  build = function(o)
    local theta, any = frequencies.powers(o.base, frequencies.rotated("hope", o)), false
    for t = 1, #theta do
      local is_fast = o.trained_length * theta[t] >= 2 * math.pi
      theta[t], any = is_fast and theta[t] or 0, any or is_fast
    end
    if not any then
      error(("hope: option trained_length: expected at least one rotation of the fastest pair, "
        .. "2 pi = 6.28..., got %d"):format(o.trained_length), 2)
    end
    return frequencies.rotary(o, theta)
  end,
  pytorch = [[
def forward(self, q, k, v, positions, x):
    theta = powers(self.base, int(self.fraction * q.shape[-1]), q.device)
    theta = theta * (self.trained_length * theta >= 2 * math.pi)
    return turned(self, q, k, v, positions[:, None, :, None] * theta)
]],
  relative = true,
  summary = "RoPE without the pairs that do not complete a rotation in training",
  formula = function(o)
    return equation.text { rotate = o.rotate,
      before = "θ_t = base^(−2t/r) if L θ_t >= 2π, else 0" }
  end,
  source = "HoPE, Chen et al. 2024, arXiv 2410.21216",
}
