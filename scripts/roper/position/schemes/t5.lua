--- Relative position buckets: a trained number for each head and bucket of distances is added to
--- the scores (Raffel et al. 2020, section 2.1). Each small distance has its own bucket; the other
--- buckets divide the logarithm of the distance evenly. Layers share the table.
---
---     sᵢⱼ += table[bucket(n), h],   n = max(i − j, 0),   E = buckets / 2
---     bucket(n) = n for n < E, else
---       min(buckets − 1, E + ⌊ln(n/E) / ln(distance/E) (buckets − E)⌋)
---
--- If attention is not causal, n = |i − j|; half of the buckets are for keys up to the query, and
--- half for those after it. Scores are scaled by 1 / √d, as usual; T5 itself does not scale them.
---
--- Errors: `heads` is missing; `buckets` is odd or below 4; `distance` is not above half of it.
---
---     > t5 = roper.position.t5{heads = 1, buckets = 4, distance = 4}
---     > t5.table:copy(roper.tensor{{0}, {1}, {2}, {3}});
---     > q = roper.zeros{1, 1, 5, 4}
---     > positions = roper.position.positions(q, q, {causal = true})
---     > t5:bias(q, q, positions)[1]
---     float32 [5, 5]
---     0 0 0 0 0
---     1 0 0 0 0
---     2 1 0 0 0
---     3 2 1 0 0
---     3 3 2 1 0
---@param options T5Options
---@return Scheme scheme
local core = require "roper.core"
local trained = require "roper.position.trained"

-- Buckets of distances n >= 0: half of them linear, half logarithmic.
local function buckets_of(n, buckets, far)
  local exact = buckets // 2
  local n_far = n:maximum(exact)
  local steps = (n_far / exact):log() * ((buckets - exact) / math.log(far / exact))
  -- 1e-9 keeps an n on the boundary of a bucket from being rounded down
  local logarithmic = (steps + (exact + 1e-9)):floor():minimum(buckets - 1)
  return core.where(n:lt(exact), n:floor(), logarithmic)
end

return {
  takes = { class = "T5Options",
    { "heads", "size", nil, "number of heads" },
    { "buckets", "size", 32, "even, at least 4" },
    { "distance", "size", 128, "all distances from this on share the last bucket" },
  },
  init = function(self)
    if self.buckets < 4 or self.buckets % 2 ~= 0 then
      error(("t5: option buckets: expected an even number of at least 4, got %d"):format(
        self.buckets), 0)
    elseif self.distance <= self.buckets // 2 then
      error(("t5: option distance: expected more than half of the %d buckets, got %d"):format(
        self.buckets, self.distance), 0)
    end
    self.table = trained.table(self.buckets, self.heads)
  end,
  bias = function(self, _, _, positions)
    return positions:by_distance(function(distance)
      local bucket
      if positions.causal then
        bucket = buckets_of((-distance):maximum(0), self.buckets, self.distance)
      else
        local half = self.buckets // 2
        bucket = buckets_of(distance:abs(), half, self.distance)
          + distance:gt(0):to "float64" * half
      end
      return core.embedding(self.table, bucket:to "int32"):transpose(1, 2)
    end)
  end,
  pytorch = [[
def forward(self, q, k, v, positions, x):
    distance = distances(positions, q)[:, 0]
    n, buckets = -distance.clamp(max=0), self.buckets  #? causal
    n, buckets = distance.abs(), self.buckets // 2  #? not causal
    exact = buckets // 2
    step = (buckets - exact) / math.log(self.distance / exact)
    far = (n.clamp(min=exact) / exact).log() * step + exact + 1e-9  # 1e-9: of rounding down
    bucket = torch.where(n < exact, n.floor(), far.floor().clamp(max=buckets - 1))
    bucket = bucket + buckets * (distance > 0)  #? not causal
    return {"bias": self.table[bucket.long()].permute(0, 3, 1, 2)}
]],
  relative = true,
  summary = "a trained bias for each head and bucket of distances is added",
  formula = "sᵢⱼ = qᵢ · kⱼ / √d + table[bucket(i − j), h]",
  source = "Raffel et al. 2020, section 2.1",
}
