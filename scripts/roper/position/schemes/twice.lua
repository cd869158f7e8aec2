--- RoPER with a mistake, for comparison: values are rotated twice, as in an implementation (labml)
--- until June 2024. After the output is rotated back, values are rotated by 2 j − i instead of
--- j − i, which is not a relative distance.
---
---     oᵢ = R_{−i} Σⱼ aᵢⱼ R_j R_j vⱼ = Σⱼ aᵢⱼ R_{2j−i} vⱼ
---
--- Errors: as for `rope`.
---
---     > q = roper.randn{1, 1, 3, 4}
---     > function o(scheme, offset)
---     >>   return roper.attention(q, q, q, {position = scheme, offset = offset})
---     >> end
---     > twice = roper.position.twice{dim = 4}
---     > (o(twice, 0) - o(twice, 1)):abs():max():item() > 1e-3
---     true
---@param options TwiceOptions
---@return Scheme scheme
local core = require "roper.core"
local equation = require "roper.position.equation"
local tables = require "roper.base.tables"

return {
  takes = { class = "TwiceOptions",
    { "dim", "size", nil, "features of a head" },
    { "base", "number", 10000, "of the frequencies" },
    { "fraction", "number", 1, "of the features of queries and keys that is rotated" },
    { "value_fraction", "number?", nil, "the same of values and output; by default `fraction`" },
    { "pairing", { "half", "interleaved" }, "half", "which two features form a pair" },
  },
  init = function(self)
    self.rotary = core.rotary(tables.merged(self.given, { rotate = "qkvo" }))
  end,
  turns = function(self, part)
    local rotary = self.rotary
    if part ~= "v" then
      return rotary
    end
    return { rotate = function(_, v, positions)
      return rotary:rotate(rotary:rotate(v, positions, "v"), positions, "v")
    end }
  end,
  pytorch = [[
def forward(self, q, k, v, positions, x):
    theta = powers(self.base, int(self.fraction * q.shape[-1]), q.device)
    terms = turned(self, q, k, v, positions[:, None, :, None] * theta)
    theta = powers(self.base, int(self.value_fraction * v.shape[-1]), q.device)  #? value_fraction
    angle = positions[:, None, :, None] * theta
    of_values = turned(self, q, k, v, angle)
    v = turned(self, q, k, of_values["v"], angle)["v"]  # the mistake: rotated again
    return {**terms, "v": v, "output": of_values["output"]}
]],
  mistake = "values are rotated twice",
  summary = "RoPER that rotates values twice",
  formula = equation.text { rotate = "qk", after = "oᵢ = Σⱼ aᵢⱼ R_{2j−i} vⱼ" },
  source = "labml_nn.transformers.rope.value_pe until June 2024",
}
