--- Contextual position encoding: the distance of a key is a sum of gates, one for each key from it
--- to the query, and a trained table is interpolated at this sum (Golovneva et al. 2024). The
--- positions of tokens are not used. Keys that only a mask hides are counted too. The table is
--- initialized with 0. Memory grows with queries times keys.
---
---     pᵢⱼ = min(Σ_{t=j..i} sigmoid(qᵢ · k_t), P − 1),   u = p − ⌊p⌋
---     sᵢⱼ += (1 − u) zᵢ[⌊p⌋] + u zᵢ[⌈p⌉],   zᵢ[n] = qᵢ · e[n]
---
--- With `scaled_gates`, a gate is sigmoid(qᵢ · k_t / √d), with the scale of the scores, as in the
--- authors' listing; equation 3 of the paper does not have this factor.
---
--- Errors: `dim` is missing; attention that is not causal.
---
---     > cope = roper.position.cope{dim = 1, count = 4}
---     > cope.table:copy(roper.tensor{{0}, {1}, {2}, {3}});
---     > q, k = roper.ones{1, 1, 3, 1}, roper.zeros{1, 1, 3, 1} -- all gates are 0.5
---     > positions = roper.position.positions(q, k, {causal = true})
---     > cope:bias(q, k, positions)[1][1]
---     float32 [3, 3]
---     0.5000 0.0000 0.0000
---     1.0000 0.5000 0.0000
---     1.5000 1.0000 0.5000
---@param options CopeOptions
---@return Scheme scheme
local core = require "roper.core"
local flip = require("roper.tensor.operations.order").flip

return {
  takes = { class = "CopeOptions",
    { "dim", "size", nil, "features of a head" },
    { "count", "size", 64, "P, number of rows of the table, for sums from 0 to P - 1" },
    { "scaled_gates", "boolean", false,
      "gates of qᵢ · k_t / √d, as in the authors' listing, instead of qᵢ · k_t, as in "
        .. "equation 3" },
  },
  per_layer = true,
  init = function(self)
    self.table = core.zeros({ self.count, self.dim }):parameter()
  end,
  bias = function(self, q, k, positions)
    if not positions.causal then
      error("position: cope: expected causal attention; pass causal = true", 0)
    end
    if positions.queries == 0 or positions.keys == 0 then
      return core.zeros({ 1 }, positions.dtype)
    end
    local products = q:matmul(k:transpose(3, 4))
    local gates = (self.scaled_gates and products * positions.scale or products):sigmoid()
    gates = gates * positions:visible():to(positions.dtype)
    local p = flip(flip(gates, 4):cumsum(4), 4):minimum(self.count - 1)
    local z = q:matmul(self.table:to(positions.dtype):transpose(1, 2))
    local at = core.where(p:eq(p), p, 0):detach() -- NaN is no index; `share` remains NaN
    local below, above = at:floor(), at:ceil()
    local share = p - below
    return z:gather(4, below:to "int32" + 1) * (1 - share)
      + z:gather(4, above:to "int32" + 1) * share
  end,
  describe = function(self)
    return self.scaled_gates and "gates: sigmoid(qᵢ · k_t / √d), as in the authors' listing"
      or "gates: sigmoid(qᵢ · k_t), as in equation 3 of the paper"
  end,
  pytorch = [[
def forward(self, q, k, v, positions, x):
    products = q @ k.transpose(2, 3)
    products = products * @scale@  #? scaled_gates
    gates = products.sigmoid() * causal(q, k)
    p = gates.flip(-1).cumsum(-1).flip(-1).clamp(max=self.count - 1)
    below, above = p.detach().floor(), p.detach().ceil()
    z, share = q @ self.table.t(), p - below
    below, above = z.gather(-1, below.long()), z.gather(-1, above.long())
    return {"bias": below * (1 - share) + above * share}
]],
  relative = true,
  summary = "positions are sums of gates that depend on the content",
  formula = "sᵢⱼ = qᵢ · kⱼ / √d + zᵢ[pᵢⱼ],   pᵢⱼ = Σ_{t=j..i} gateᵢₜ",
  source = "CoPE, Golovneva et al. 2024, section 4",
}
