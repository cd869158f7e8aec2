--- Accumulated rotations: RoPE with angles that each token chooses. Queries and keys are rotated by
--- the sums of the angles so far, in place of multiples of a fixed angle (Godavarti 2026). Far
--- tokens are suppressed: the more tokens there are between key and query, the less the pairs of
--- features agree. The angles are computed from the input of the layer: outside a model, pass it as
--- the option `input`. A cache keeps the angles of each token.
---
---     u_t = W x_t + m,   Φ_t = θ Σ_{s<=t} u_s,   θ_p = base^(−2p/d)
---     sᵢⱼ = qᵢ · R_{Φⱼ−Φᵢ} kⱼ / √d
---
--- Learned angles: W and m are trained; initially, m is 1 and W almost 0, which is almost RoPE.
--- Random angles: m is 0, and W is drawn with `seed`, the same in each layer, and is not trained;
--- if the features of x have variance 1, u is normal with variance 1. With `rotate = "qkvo"`,
--- values are rotated as keys are, and the output is rotated back. According to the paper, the
--- remaining contributions of far tokens then cancel in part.
---
--- The abstract of the paper defines the scheme as RoPE with accumulated angles that depend on
--- tokens, learned or random. The rest was chosen here and not compared with the paper: angles
--- from a linear map of the layer's input for each head, θ, the initial values, the distribution of
--- random angles, and sums that include the token itself.
---
--- Errors: `dim`, `heads` or `d_model` is missing; `dim` is odd; attention that is not causal; no
--- input for a key.
---
---     > random = roper.position.accumulated{dim = 64, heads = 1, d_model = 64,
---     >>   angles = "random", base = 1}
---     > q, x = roper.ones{1, 1, 20, 64}, roper.randn{1, 20, 64}
---     > options = {position = random, input = x, causal = true}
---     > weights = roper.attention_weights(q, q, options)[1][1][20]
---     > weights[20]:item() > 4 * weights:narrow(1, 1, 10):mean():item()
---     true
---@param options AccumulatedOptions
---@return Scheme scheme
local accumulate = require "roper.position.accumulate"
local core = require "roper.core"
local equation = require "roper.position.equation"
local scoped = require "roper.base.scoped"
local trained = require "roper.position.trained"

return {
  takes = { class = "AccumulatedOptions",
    { "dim", "size", nil, "features of a head" },
    { "heads", "size", nil, "number of heads" },
    { "d_model", "size", nil, "features of the input of a layer" },
    { "rotate", "string", "qk", 'which tensors are rotated: any letters of "qkvo"' },
    { "angles", { "learned", "random" }, "learned", "whether W is trained" },
    { "base", "positive", 10000, "of the factors θ" },
    { "seed", "integer", 1, "of random angles" },
  },
  per_layer = true,
  state = { "step" },
  init = function(self)
    local pairs, theta = accumulate.frequencies(self)
    self.factors = theta
    if self.angles == "random" then
      self.weight = scoped.with_seed(self.seed, function()
        return core.randn { self.heads * pairs, self.d_model } / self.d_model ^ 0.5
      end)
    else
      self.weight = trained.table(self.heads * pairs, self.d_model)
      self.mean = core.ones({ self.heads * pairs }):parameter()
      self.decays = { "weight" }
    end
  end,
  turns = function(self, part, positions, x)
    return accumulate.turns(self, part, positions, x, function()
      local theta = self.factors:to(x:dtype())
      local weight = self.weight:to(x:dtype()) * theta:unsqueeze(2)
      local mean = self.mean and self.mean:to(x:dtype()) * theta
      return core.linear(x, weight, mean):view { x:size(1), x:size(2), self.heads, self.dim // 2 }
    end)
  end,
  pytorch = [[
def forward(self, q, k, v, positions, x):
    batch, keys = x.shape[:2]
    step = F.linear(x, self.weight, self.mean).double()  #? angles=learned
    step = F.linear(x, self.weight).double()  #? angles=random
    step = step.view(batch, keys, q.shape[1], -1).transpose(1, 2)  # of heads and pairs
    theta = powers(self.base, q.shape[-1], q.device)
    return turned(self, q, k, v, step.cumsum(2) * theta)
]],
  relative = true,
  summary = "RoPE with learned or random angles of tokens, summed between key and query",
  formula = function(o)
    return equation.text { rotate = o.rotate, at = { "Φ" },
      before = "Φ_t = θ Σ_{s<=t} " .. (o.angles == "random" and "W x_s" or "(W x_s + m)") }
  end,
  source = "accumulated rotations, Godavarti 2026, arXiv 2606.24975",
}
