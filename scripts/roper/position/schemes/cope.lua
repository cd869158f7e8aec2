--- Contextual position encoding: a query counts the keys back to each key by gates that look at
--- both, and reads a trained table at that count, between two rows (Golovneva et al. 2024). Where
--- tokens stand is not read; a key that only a mask hides is counted all the same. The table starts
--- at 0. It needs a number for each query and key: memory grows with their product.
---
---     pᵢⱼ = min(Σ_{t=j..i} sigmoid(qᵢ · k_t), P − 1),   u = p − ⌊p⌋
---     sᵢⱼ += (1 − u) zᵢ[⌊p⌋] + u zᵢ[⌈p⌉],   zᵢ[n] = qᵢ · e[n]
---
--- With `scaled_gates` a gate is sigmoid(qᵢ · k_t / √d), by the scale of the scores, as in the
--- authors' listing; equation 3 of the paper has no such factor.
---
--- Errors: no dim; attention that is not causal.
---
---     > cope = roper.position.cope{dim = 1, count = 4}
---     > cope.table:copy(roper.tensor{{0}, {1}, {2}, {3}});
---     > q, k = roper.ones{1, 1, 3, 1}, roper.zeros{1, 1, 3, 1} -- gates of a half
---     > positions = roper.position.positions(q, k, {causal = true})
---     > cope:bias(q, k, positions)[1][1]
---     float32 [3, 3]
---     0.5000 0.0000 0.0000
---     1.0000 0.5000 0.0000
---     1.5000 1.0000 0.5000
---@param options CopeOptions
---@return Scheme scheme
local core = require "roper.core"

---@class CopeOptions
---@field dim integer features of a head
---@field count? integer = 64; rows of the table: counts from 0 to one less
---@field scaled_gates? boolean = false; gates of qᵢ · k_t / √d, as in the authors' listing, not of
---   qᵢ · k_t, as in equation 3

-- The last axis of [.., n] backwards.
local function backwards(x)
  local shape, strides, count = x:shape(), {}, 1
  for axis = #shape, 1, -1 do
    strides[axis], count = count, count * shape[axis]
  end
  strides[#shape] = -1
  return x:contiguous():as_strided(shape, strides, shape[#shape] - 1)
end

return {
  revision = 2, -- weight decay of matrices shrank what the first trains
  takes = { dim = "size", count = { "size", 64 }, scaled_gates = { "boolean", false } },
  per_layer = true,
  init = function(self)
    self.table = core.zeros({ self.count, self.dim }):parameter()
  end,
  bias = function(self, q, k, positions)
    if not positions.causal then
      error("position: cope: expected causal attention: it counts from a query back to a key", 0)
    end
    if positions.queries == 0 or positions.keys == 0 then
      return core.zeros({ 1 }, positions.dtype)
    end
    local products = q:matmul(k:transpose(3, 4))
    local gates = (self.scaled_gates and products * positions.scale or products):sigmoid()
    gates = gates * positions:visible():to(positions.dtype)
    local p = backwards(backwards(gates):cumsum(4)):minimum(self.count - 1)
    local z = q:matmul(self.table:to(positions.dtype):transpose(1, 2))
    local below, above = p:detach():floor(), p:detach():ceil()
    local share = p - below
    return z:gather(4, below:to "int32" + 1) * (1 - share)
      + z:gather(4, above:to "int32" + 1) * share
  end,
  describe = function(self)
    return self.scaled_gates and "gates: sigmoid(qᵢ · k_t / √d), as in the authors' listing"
      or "gates: sigmoid(qᵢ · k_t), as in equation 3 of the paper"
  end,
  relative = true,
  summary = "positions counted by gates that see the content",
  formula = "sᵢⱼ = qᵢ · kⱼ / √d + zᵢ[pᵢⱼ],   pᵢⱼ = Σ_{t=j..i} gateᵢₜ",
  source = "CoPE, Golovneva et al. 2024, section 4",
}
