--- Functional interpolation: a small network F maps the distance, relative to the position of the
--- query and on a logarithmic scale, to a bias for each head (Li et al. 2023). The bias depends on
--- more than the distance: beyond the threshold T, shifting all positions changes it. c and T are
--- trained; their initial values are 0.1 and 512. Each layer has its own network.
---
---     sᵢⱼ += F_h(ψ(i − j) / ψ(max(i, |T|))),   ψ(x) = ln(|c x| + 1)
---     F = linear 1 → hidden, ReLU, linear hidden → heads
---
--- The network runs for each pair of a query and a key and, for the gradient, keeps `hidden`
--- numbers for each pair. Weight decay applies to the weights of F as to those of linear layers.
---
--- Errors: `heads` is missing.
---
---     > fire = roper.position.fire{heads = 2}
---     > fire.outer_weight:shape()
---     {2, 32}
---     > q = roper.randn{1, 2, 5, 4}
---     > options = {position = fire, causal = true}
---     > near = roper.attention(q, q, q, options)
---     > options.offset = 100
---     > (near - roper.attention(q, q, q, options)):abs():max():item()
---     0.0
---     > options.offset = 1000
---     > (near - roper.attention(q, q, q, options)):abs():max():item() > 0
---     true
---@param options FireOptions
---@return Scheme scheme
local core = require "roper.core"

-- Uniform in ±limit, like the initial weights of linear layers.
local function uniform(shape, limit)
  return ((core.rand(shape) * 2 - 1) * limit):parameter()
end

return {
  takes = { class = "FireOptions",
    { "heads", "size", nil, "number of heads" },
    { "hidden", "size", 32, "hidden units of F" },
  },
  per_layer = true,
  decays = { "inner_weight", "outer_weight" },
  init = function(self)
    local hidden, heads = self.hidden, self.heads
    self.c, self.threshold = core.full({ 1 }, 0.1):parameter(), core.full({ 1 }, 512):parameter()
    self.inner_weight, self.inner_bias = uniform({ hidden, 1 }, 1), uniform({ hidden }, 1)
    self.outer_weight = uniform({ heads, hidden }, hidden ^ -0.5)
    self.outer_bias = uniform({ heads }, hidden ^ -0.5)
  end,
  bias = function(self, _, _, positions)
    local c = self.c:to "float64"
    local function psi(x)
      return ((c * x):abs() + 1):log()
    end
    local distance = positions:distances():squeeze(2)
    local reach = core.maximum(positions.query, self.threshold:to "float64":abs()):unsqueeze(3)
    local part = (psi(distance) / psi(reach)):to(positions.dtype):unsqueeze(4)
    local function of(name)
      return self[name]:to(positions.dtype)
    end
    local inner = core.relu(core.linear(part, of "inner_weight", of "inner_bias"))
    return core.linear(inner, of "outer_weight", of "outer_bias"):permute { 1, 4, 2, 3 }
  end,
  pytorch = [[
def forward(self, q, k, v, positions, x):
    def psi(distance):
        return ((self.c.double() * distance).abs() + 1).log()

    place = torch.maximum(positions[:, -q.shape[2]:], self.threshold.double().abs())
    part = (psi(distances(positions, q)[:, 0]) / psi(place)[..., None]).to(q.dtype)
    inner = F.relu(F.linear(part[..., None], self.inner_weight, self.inner_bias))
    return {"bias": F.linear(inner, self.outer_weight, self.outer_bias).permute(0, 3, 1, 2)}
]],
  summary = "a trained function of distance and query position is added",
  formula = "sᵢⱼ = qᵢ · kⱼ / √d + F_h(ψ(i − j) / ψ(max(i, T))),   ψ(x) = ln(|c x| + 1)",
  source = "Li et al. 2023, eq. 4",
}
