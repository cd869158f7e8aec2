--- Disentangled attention: the scores are sums of content-to-content, content-to-position and
--- position-to-content terms (He et al. 2020, eq. 2-4).
---
---     sᵢⱼ = [qᵢ · kⱼ + qᵢ · K_{δ(i,j)} + kⱼ · Q_{δ(j,i)}] / √(3d)
---     δ(x, y) = clip(x − y + clip, 0, 2 clip − 1)
---
--- The third term uses δ(j, i), as in the paper; the authors' code uses δ(i, j) in both terms. The
--- paper projects one table, K = P W_k and Q = P W_q; here, the vectors for each head and distance
--- are trained directly. Distances are rounded to integers. Each layer has its own vectors.
---
--- Errors: `dim` or `heads` is missing.
---
---     > deberta = roper.position.deberta{dim = 4, heads = 2, clip = 3}
---     > deberta.key:shape()
---     {6, 8}
---     > q = roper.randn{1, 2, 5, 4}
---     > near = roper.attention(q, q, q, {position = deberta})
---     > far = roper.attention(q, q, q, {position = deberta, offset = 1000})
---     > (near - far):abs():max():item()
---     0.0
---@param options DebertaOptions
---@return Scheme scheme
local trained = require "roper.position.trained"

return {
  takes = { class = "DebertaOptions",
    { "dim", "size", nil, "features of a head" },
    { "heads", "size", nil, "number of heads" },
    { "clip", "size", 128, "all distances from this on share a vector" },
  },
  per_layer = true,
  init = function(self)
    self.key = trained.table(2 * self.clip, self.heads * self.dim)
    self.query = trained.table(2 * self.clip, self.heads * self.dim)
  end,
  bias = function(self, q, k, positions)
    local to_position = positions:by_query(q * positions.scale, function(distance)
      return trained.rows(self.key, -distance + self.clip, self.heads) -- δ(i, j)
    end, self.clip)
    local to_content = positions:by_key(k * positions.scale, function(distance)
      return trained.rows(self.query, distance + self.clip, self.heads) -- δ(j, i)
    end, self.clip)
    return { to_position, to_content }
  end,
  scale = function(_, dim)
    return (3 * dim) ^ -0.5
  end,
  pytorch = [[
def forward(self, q, k, v, positions, x):
    distance = distances(positions, q).expand(q.shape[0], q.shape[1], -1, -1)

    def products(y, table, distance):
        vectors = table.view(2 * self.clip, y.shape[1], -1).permute(1, 2, 0)  # [heads, d, rows]
        index = (distance + self.clip).round().clamp(0, 2 * self.clip - 1).long()
        return (y @ vectors).gather(-1, index)

    of_query = products(q, self.key, -distance)
    of_key = products(k, self.query, distance.transpose(2, 3)).transpose(2, 3)
    return {"products": of_query + of_key, "scale": (3 * q.shape[-1]) ** -0.5}
]],
  relative = true,
  summary = "products of queries and keys with trained vectors of distance",
  formula = "sᵢⱼ = [qᵢ · kⱼ + qᵢ · K_{δ(i,j)} + kⱼ · Q_{δ(j,i)}] / √(3d),   "
    .. "δ(x, y) = clip(x − y + clip, 0, 2 clip − 1)",
  source = "He et al. 2020, eq. 2-4; RoFormer, Su et al. 2021, eq. 10",
}
