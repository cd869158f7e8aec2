--- A trained vector for each distance is added to the key, and another to the value (Shaw et al.
--- 2018). Heads share the vectors; layers do not. Distances are rounded to integers.
---
---     sᵢⱼ = qᵢ · (kⱼ + A^K_c) / √d,   c = clip(j − i, −clip, clip)
---     oᵢ = Σⱼ aᵢⱼ (vⱼ + A^V_c)
---
--- The term for values needs only the sum of the weights at each distance. Attention computes these
--- sums together with its output.
---
--- Errors: `dim` is missing; when used, values whose number of features is not `dim`.
---
---     > shaw = roper.position.shaw{dim = 4, clip = 3}
---     > shaw.key:shape()
---     {7, 4}
---     > q = roper.randn{1, 2, 5, 4}
---     > near = roper.attention(q, q, q, {position = shaw})
---     > far = roper.attention(q, q, q, {position = shaw, offset = 1000})
---     > (near - far):abs():max():item()
---     0.0
---@param options ShawOptions
---@return Scheme scheme
local trained = require "roper.position.trained"

-- A function from distances to the rows of a table, for all heads.
local function rows_of(self, table)
  return function(distance)
    return trained.rows(table, distance + self.clip, 1)
  end
end

return {
  takes = { class = "ShawOptions",
    { "dim", "size", nil, "features of a head" },
    { "clip", "size", 16, "all distances from this on share a vector" },
  },
  per_layer = true,
  init = function(self)
    self.key = trained.table(2 * self.clip + 1, self.dim)
    self.value = trained.table(2 * self.clip + 1, self.dim)
  end,
  bias = function(self, q, _, positions)
    return positions:by_query(q * positions.scale, rows_of(self, self.key), self.clip)
  end,
  values = function(self)
    return rows_of(self, self.value), self.clip
  end,
  pytorch = [[
def forward(self, q, k, v, positions, x):
    distance = distances(positions, q).round().clamp(-self.clip, self.clip)
    index = (distance + self.clip).long().expand(q.shape[0], q.shape[1], -1, -1)

    def add(weights):  # first the sum of the weights at each distance
        sums = weights.new_zeros(*weights.shape[:3], len(self.value))
        return sums.scatter_add(-1, index, weights) @ self.value

    return {"products": (q @ self.key.t()).gather(-1, index), "add": add}
]],
  relative = true,
  summary = "a trained vector for each distance is added to keys and values",
  formula = "sᵢⱼ = qᵢ · (kⱼ + A^K_c) / √d,   oᵢ = Σⱼ aᵢⱼ (vⱼ + A^V_c),   "
    .. "c = clip(j − i, −clip, clip)",
  source = "Shaw et al. 2018, eq. 3-4; RoFormer, Su et al. 2021, eq. 5",
}
