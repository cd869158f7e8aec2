--- The RoPE extension of Llama 3.1: pairs with many rotations within the trained length keep their
--- frequency, the frequency of pairs with few is divided by a factor, and that of the others is
--- interpolated (Llama Team 2024).
---
---     n_t = L θ_t / 2π:   θ_t if n_t > high, θ_t / f if n_t < low, else
---     (1 − s) θ_t / f + s θ_t,   s = (n_t − low) / (high − low)
---
--- Errors: `dim` is missing; `fraction * dim` is not an even number; a factor below 1; `high` is
--- not above `low`.
---
---     > roper.position.llama3{dim = 8, trained_length = 128}:thetas()
---     float64 [4]
---     1.0000 0.0428 0.0013 0.0001
---@param options Llama3Options
---@return rotary scheme
local equation = require "roper.position.equation"
local frequencies = require "roper.position.frequencies"

return {
  takes = { class = "Llama3Options", parent = "FrequencyOptions",
    { "factor", "factor", 8, "f" },
    { "trained_length", "size", 8192, "L" },
    { "low", "number", 1,
      "the frequency of pairs with at most this many rotations within L is divided by the factor" },
    { "high", "number", 4, "pairs with at least this many keep their frequency" },
  },
  build = function(o)
    if o.high <= o.low then
      error(("llama3: option high: expected a number above low = %g, got %g"):format(o.low,
        o.high), 2)
    end
    local theta = frequencies.powers(o.base, frequencies.rotated("llama3", o))
    for t = 1, #theta do
      local turns = o.trained_length * theta[t] / (2 * math.pi)
      local s = math.min(math.max((turns - o.low) / (o.high - o.low), 0), 1)
      theta[t] = (1 - s) * theta[t] / o.factor + s * theta[t]
    end
    return frequencies.rotary(o, theta)
  end,
  pytorch = [[
def forward(self, q, k, v, positions, x):
    theta = powers(self.base, int(self.fraction * q.shape[-1]), q.device)
    turns = self.trained_length * theta / (2 * math.pi)
    share = ((turns - self.low) / (self.high - self.low)).clamp(0, 1)
    theta = (1 - share) * theta / self.factor + share * theta
    return turned(self, q, k, v, positions[:, None, :, None] * theta)
]],
  relative = true,
  summary = "RoPE with low frequencies divided by a factor, as in Llama 3.1",
  formula = function(o)
    return equation.text { rotate = o.rotate, before = "θ'_t = (1 − s_t) θ_t / f + s_t θ_t" }
  end,
  source = "Llama 3.1, Llama Team 2024",
}
