--- Scores are sums of the products of the query with the key and with a trained vector for the
--- distance; trained vectors u and w of each head replace the query's absolute position (Dai et al.
--- 2019, section 3.3).
---
---     sᵢⱼ = [(qᵢ + u) · kⱼ + (qᵢ + w) · r_c] / √d,   c = clip(j − i, −clip, clip)
---
--- The paper projects sinusoids, W_R r; here, the vectors for each head and distance are trained
--- directly, and distances are clipped at `clip` and rounded to integers. Each layer has its
--- own vectors.
---
--- Errors: `dim` or `heads` is missing.
---
---     > xl = roper.position.transformer_xl{dim = 4, heads = 2, clip = 3}
---     > xl.table:shape(), xl.u:shape()
---     {7, 8}	{2, 4}
---     > q = roper.randn{1, 2, 5, 4}
---     > near = roper.attention(q, q, q, {position = xl})
---     > far = roper.attention(q, q, q, {position = xl, offset = 1000})
---     > (near - far):abs():max():item()
---     0.0
---@param options TransformerXlOptions
---@return Scheme scheme
local trained = require "roper.position.trained"

return {
  takes = { class = "TransformerXlOptions",
    { "dim", "size", nil, "features of a head" },
    { "heads", "size", nil, "number of heads" },
    { "clip", "size", 128, "all distances from this on share a vector" },
  },
  per_layer = true,
  init = function(self)
    self.table = trained.table(2 * self.clip + 1, self.heads * self.dim)
    self.u, self.w = trained.table(self.heads, self.dim), trained.table(self.heads, self.dim)
  end,
  bias = function(self, q, k, positions)
    local shape, dtype = { self.heads, 1, self.dim }, positions.dtype
    local u, w = self.u:to(dtype):view(shape), self.w:to(dtype):view(shape)
    local by_distance = positions:by_query((q + w) * positions.scale, function(distance)
      return trained.rows(self.table, distance + self.clip, self.heads)
    end, self.clip)
    return { by_distance, (k * u):sum(4):unsqueeze(3) * positions.scale }
  end,
  pytorch = [[
def forward(self, q, k, v, positions, x):
    distance = distances(positions, q).round().clamp(-self.clip, self.clip)
    index = (distance + self.clip).long().expand(q.shape[0], q.shape[1], -1, -1)
    vectors = self.table.view(2 * self.clip + 1, q.shape[1], -1).permute(1, 2, 0)
    by_distance = ((q + self.w[:, None]) @ vectors).gather(-1, index)
    return {"products": by_distance + (k * self.u[:, None]).sum(-1)[:, :, None]}
]],
  relative = true,
  summary = "products of queries with trained vectors of distance; biases u, w",
  formula = "sᵢⱼ = [(qᵢ + u) · kⱼ + (qᵢ + w) · r_c] / √d,   c = clip(j − i, −clip, clip)",
  source = "Dai et al. 2019, section 3.3; RoFormer, Su et al. 2021, eq. 6-7",
}
