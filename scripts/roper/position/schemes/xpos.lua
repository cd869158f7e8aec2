--- RoPE whose scores decay with the distance, at a different rate for each pair (xPos, Sun et al.
--- 2022, section 3.2). With the position, queries shrink and keys grow, so that their product
--- depends on the distance only. Positions so far from `centre` that keys overflow raise an error;
--- choose a centre near the positions in use. Values and output, if rotated, keep their length:
--- ζ is in the scores alone.
---
---     qᵢ ζ^((i−c)/512),   kⱼ ζ^(−(j−c)/512),   ζ_t = (2t + 0.4 r) / (1.4 r)
---
--- Errors: `dim` is missing; `fraction * dim` is not an even number; a span that is not positive.
---
---     > xpos = roper.position.xpos{dim = 4, centre = 100}
---     > q = roper.tensor{1, 1, 0, 0}
---     > xpos:rotate(q, 612, "q"):square():sum():sqrt() -- at 100: 1.41421
---     0.70349 (float32)
---@param options XposOptions
---@return rotary scheme
local equation = require "roper.position.equation"
local frequencies = require "roper.position.frequencies"

return {
  takes = { class = "XposOptions", parent = "FrequencyOptions",
    { "centre", "number", 0, "position at which queries and keys keep their length" },
    { "span", "positive", 512, "distance over which a score decays by the factor ζ" },
  },
  build = function(o)
    local rotated = frequencies.rotated("xpos", o)
    local growth = {}
    for t = 0, rotated // 2 - 1 do
      growth[t + 1] = math.log((2 * t + 0.4 * rotated) / (1.4 * rotated)) / o.span
    end
    return frequencies.rotary(o, frequencies.powers(o.base, rotated),
      { growth = growth, centre = o.centre })
  end,
  describe = function(o)
    return o.rotate:find "[vo]" and "values and output are only rotated: ζ is in the scores alone"
  end,
  pytorch = [[
def forward(self, q, k, v, positions, x):
    rotated = int(self.fraction * q.shape[-1])
    zeta = (torch.arange(0, rotated, 2, device=q.device).double() / rotated + 0.4) / 1.4
    gain = zeta ** ((positions - self.centre)[:, None, :, None] / self.span)
    q, k = magnified(self, q, gain[:, :, -q.shape[2]:]), magnified(self, k, 1 / gain)
    angle = positions[:, None, :, None] * powers(self.base, rotated, q.device)
    return turned(self, q, k, v, angle)
]],
  relative = true,
  summary = "RoPE whose scores decay with the distance",
  formula = function(o)
    local factor = {}
    for letters, distance in pairs { qk = "i−j", q = "i−c", k = "c−j" } do
      factor[letters] = ("Σ_t ζ_t^((%s)/%g)"):format(distance, o.span)
    end
    return equation.text { rotate = o.rotate, factor = factor }
  end,
  source = "xPos, Sun et al. 2022, section 3.2",
}
