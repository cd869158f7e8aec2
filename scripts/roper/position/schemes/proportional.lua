--- p-RoPE: the fastest pairs are rotated with the frequencies that RoPE has for the whole head; the
--- others are not rotated and are free for content (Barbero et al. 2024; Gemma 4). In contrast, the
--- option `fraction` of `rope` computes frequencies for the rotated features only. The number of
--- rotated pairs is rounded down, as in the authors' code and in Hugging Face.
---
---     θ_t = base^(−2t/d) for t < ⌊p d/2⌋, else 0
---
--- Errors: `dim` is missing or odd; a fraction outside 0 .. 1.
---
---     > roper.position.proportional{dim = 8, fraction = 0.5}:thetas()
---     float64 [4]
---     1.0000 0.1000 0.0000 0.0000
---@param options ProportionalOptions
---@return rotary scheme
local equation = require "roper.position.equation"
local frequencies = require "roper.position.frequencies"

return {
  takes = { class = "ProportionalOptions",
    { "dim", "size", nil, "features of a head" },
    { "base", "positive", 10000, "of the frequencies" },
    { "fraction", "share", 0.75, "p, fraction of the pairs that is rotated: the fastest" },
    { "pairing", { "half", "interleaved" }, "half", "which two features form a pair" },
    { "rotate", "string", "qk", 'which tensors are rotated: any letters of "qkvo"' },
  },
  build = function(o)
    local theta = frequencies.powers(o.base, frequencies.rotated("proportional",
      { dim = o.dim, fraction = 1, rotate = o.rotate }))
    for t = math.floor(o.fraction * o.dim / 2) + 1, #theta do
      theta[t] = 0
    end
    return frequencies.rotary(o, theta)
  end,
  pytorch = [[
def forward(self, q, k, v, positions, x):
    theta = powers(self.base, q.shape[-1], q.device)
    theta[int(self.fraction * q.shape[-1] / 2):] = 0
    return turned(self, q, k, v, positions[:, None, :, None] * theta)
]],
  relative = true,
  summary = "the fastest pairs are rotated, the others are not",
  formula = function(o)
    return equation.text { rotate = o.rotate,
      before = "θ_t = base^(−2t/d) for t < ⌊p d/2⌋, else 0" }
  end,
  source = "p-RoPE, Barbero et al. 2024",
}
