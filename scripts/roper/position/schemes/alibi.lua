--- Attention with linear biases: each head subtracts its own multiple of the distance from the
--- scores (Press et al. 2021).
---
---     sᵢⱼ −= m_h |i − j|,   m_h = 2^(−8h/p), h = 1..p, p = 2^⌊log₂ heads⌋;
---     for the other heads 2^(−4(2g−1)/p), g = 1..heads − p
---
--- Errors: `heads` is missing.
---
---     > alibi = roper.position.alibi{heads = 2}
---     > q = roper.zeros{1, 2, 3, 4}
---     > roper.attention_weights(q, q, {position = alibi})[1][1]
---     float32 [3, 3]
---     0.3544 0.3329 0.3127
---     0.3263 0.3474 0.3263
---     0.3127 0.3329 0.3544
---@param options AlibiOptions
---@return Scheme scheme
local core = require "roper.core"

-- 2^(-8h/p) for the first p heads, p the largest power of two up to heads; the others take the odd
-- members of the series for 2p heads.
local function slopes(heads)
  local power = 1
  while power * 2 <= heads do
    power = power * 2
  end
  local list = {}
  for h = 1, heads do
    list[h] = h <= power and 2 ^ (-8 * h / power) or 2 ^ (-4 * (2 * (h - power) - 1) / power)
  end
  return core.tensor(list, "float64"):unsqueeze(2)
end

return {
  takes = { class = "AlibiOptions",
    { "heads", "size", nil, "number of heads" },
  },
  init = function(self)
    self.slopes = slopes(self.heads)
  end,
  bias = function(self, _, _, positions)
    return positions:by_distance(function(distance)
      return -self.slopes * distance:abs()
    end)
  end,
  pytorch = [[
def forward(self, q, k, v, positions, x):
    return {"bias": (-slopes(q) * distances(positions, q).abs()).to(q.dtype)}
]],
  relative = true,
  summary = "a multiple of the distance is subtracted from scores",
  formula = "sᵢⱼ = qᵢ · kⱼ / √d − m_h |i − j|",
  source = "Press et al. 2021, section 3",
}
