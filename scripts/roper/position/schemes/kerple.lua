--- Each head subtracts a multiple of the logarithm of the distance from the scores (Chi et al.
--- 2022, the logarithmic kernel). The trained tensors are ln a and ln b, which keeps a and b above
--- 0. Initially, a is random in (0, 2] and b in (0, 1]. Each layer has its own tensors.
---
---     sᵢⱼ −= a_h ln(1 + b_h |i − j|)
---
--- Errors: `heads` is missing.
---
---     > kerple = roper.position.kerple{heads = 1}
---     > kerple.log_a:fill(0);
---     > kerple.log_b:fill(0);
---     > q = roper.zeros{1, 1, 3, 4}
---     > roper.attention_weights(q, q, {position = kerple})[1][1]
---     float32 [3, 3]
---     0.5455 0.2727 0.1818
---     0.2500 0.5000 0.2500
---     0.1818 0.2727 0.5455
---@param options KerpleOptions
---@return Scheme scheme
local core = require "roper.core"

-- The logarithm of a random number in (0, limit] for each head.
local function log_of_uniform(heads, limit)
  return ((1 - core.rand { heads, 1 }) * limit):log():parameter()
end

return {
  takes = { class = "KerpleOptions",
    { "heads", "size", nil, "number of heads" },
  },
  per_layer = true,
  init = function(self)
    self.log_a, self.log_b = log_of_uniform(self.heads, 2), log_of_uniform(self.heads, 1)
  end,
  bias = function(self, _, _, positions)
    return positions:by_distance(function(distance)
      local a, b = self.log_a:to "float64":exp(), self.log_b:to "float64":exp()
      return -a * (1 + b * distance:abs()):log()
    end)
  end,
  pytorch = [[
def forward(self, q, k, v, positions, x):
    a, b = self.log_a.double().exp()[:, None], self.log_b.double().exp()[:, None]
    return {"bias": (-a * (1 + b * distances(positions, q).abs()).log()).to(q.dtype)}
]],
  relative = true,
  summary = "a trained multiple of log distance is subtracted from scores",
  formula = "sᵢⱼ = qᵢ · kⱼ / √d − a_h ln(1 + b_h |i − j|)",
  source = "Chi et al. 2022, eq. 8, the logarithmic kernel",
}
