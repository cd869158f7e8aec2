--- RoPE with trained frequencies: each layer has its own list, for all heads or for each head. They
--- are initialized like those of RoPE. Angles are computed in float64, so that they are precise at
--- positions far from 0. The features of a pair are t and t + dim/2.
---
---     R rotates pair t by p θ_t;   initially θ_t = base^(−2t/d)
---
--- Errors: `dim` is missing or odd; `rotate` has other letters than those of "qkvo"; `heads` is
--- missing with `per_head`.
---
---     > learned = roper.position.learned_frequencies{dim = 4}
---     > learned:parameters().theta
---     float32 [2]
---     1.0000 0.0100
---     > q = roper.randn{1, 2, 3, 4}
---     > o = roper.attention(q, q, q, {position = learned})
---     > rope = roper.attention(q, q, q, {position = "rope"})
---     > (o - rope):abs():max():item() < 1e-5
---     true
---@param options LearnedFrequenciesOptions
---@return Scheme scheme
local core = require "roper.core"
local equation = require "roper.position.equation"
local frequencies = require "roper.position.frequencies"

-- x rotated by angles; feature t and feature t + dim/2 form a pair.
local function turned(x, angle)
  local half = angle:size(-1)
  if x:size(-1) ~= 2 * half then
    error(("position: learned_frequencies: expected %d features, got %d"):format(2 * half,
      x:size(-1)), 0)
  end
  local cosine, sine = angle:cos():to(x:dtype()), angle:sin():to(x:dtype())
  local a, b = x:narrow(-1, 1, half), x:narrow(-1, half + 1, half)
  return core.cat({ a * cosine - b * sine, a * sine + b * cosine }, -1)
end

return {
  takes = { class = "LearnedFrequenciesOptions",
    { "dim", "size", nil, "features of a head" },
    { "heads", "size?", nil, "required with `per_head`" },
    { "per_head", "boolean", false, "separate frequencies for each head" },
    { "base", "positive", 10000, "base of the initial frequencies" },
    { "rotate", "string", "qk", 'which tensors are rotated: any letters of "qkvo"' },
  },
  per_layer = true,
  init = function(self)
    local rotated = frequencies.rotated("learned_frequencies", { dim = self.dim, fraction = 1,
      rotate = self.rotate })
    local theta = core.tensor(frequencies.powers(self.base, rotated))
    if self.per_head then
      if not self.heads then
        error("learned_frequencies: option heads: expected a number with per_head, got nil", 0)
      end
      theta = theta:expand { self.heads, rotated // 2 }:contiguous()
    end
    self.theta = theta:parameter()
  end,
  turns = function(self, part, positions)
    if not self.rotate:find(part, 1, true) then
      return nil
    end
    local origin = frequencies.origin(self.rotate, part, positions)
    local function angle(at)
      return frequencies.angles(self.name, at, self.theta, origin)
    end
    return {
      rotate = function(_, x, at) return turned(x, angle(at)) end,
      unrotate = function(_, x, at) return turned(x, -angle(at)) end,
    }
  end,
  pytorch = [[
def forward(self, q, k, v, positions, x):
    theta = self.theta.double()
    theta = theta[:, None]  # [heads, 1, pairs]  #? per_head
    return turned(self, q, k, v, positions[:, None, :, None] * theta)
]],
  relative = true,
  summary = "RoPE with trained frequencies",
  formula = function(o)
    return equation.text { rotate = o.rotate, after = "R_p rotates pair t by p θ_t, θ trained" }
  end,
  source = "RoFormer, Su et al. 2021, eq. 15; trained as in RoPE-ViT, Heo et al. 2024, section 3.2",
}
