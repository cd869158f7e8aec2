--- Scalable softmax: the scores of a query are multiplied by the logarithm of the number of keys
--- that it sees, so that attention does not flatten as a text grows (Nakanishi 2025). Keys that the
--- causal order, a mask or a window hides do not count. Each layer and head trains its own factor.
--- It joins with any scheme, as in "rope+ssmax"; biases of other schemes are not multiplied.
---
---     sᵢⱼ = s_h ln nᵢ qᵢ · kⱼ / √d,   nᵢ = number of keys that query i sees
---
--- The default of `start` is 1 / the mean of ln n for n = 1..1024: in texts of about this length,
--- scores are initially about as large as without this scheme.
---
--- Errors: `heads` is missing.
---
---     > ssmax = roper.position.ssmax{heads = 1, start = 1}
---     > q = roper.ones{1, 1, 3, 4}
---     > positions = roper.position.positions(q, q, {causal = true})
---     > ssmax:query_scale(q, positions):view{-1} -- ln 1, ln 2, ln 3
---     float32 [3]
---     0.0000 0.6931 1.0986
---@param options SsmaxOptions
---@return Scheme scheme
local core = require "roper.core"

-- The number of keys that each query sees, [1 or batch, 1 or heads, 1 or queries, 1], float64.
local function visible_keys(positions)
  local queries, keys = positions.queries, positions.keys
  if positions.mask then
    local visible = positions:visible(positions.mask):ne(0):to "float64"
    local repeats = keys / math.max(visible:size(-1), 1) -- the mask may be one for all keys
    return visible:sum(-1, true) * repeats
  elseif positions.causal then
    return core.arange(keys - queries + 1, keys + 1, 1, "float64"):unsqueeze(2)
  end
  return core.full({ 1, 1 }, keys, "float64")
end

return {
  takes = { class = "SsmaxOptions",
    { "heads", "size", nil, "number of heads" },
    { "start", "number", 0.168, "initial value of s" },
  },
  per_layer = true,
  init = function(self)
    self.s = core.full({ self.heads }, self.start):parameter()
  end,
  query_scale = function(self, _, positions)
    local logarithm = visible_keys(positions):maximum(1):log()
    return (self.s:to("float64"):view { self.heads, 1, 1 } * logarithm):to(positions.dtype)
  end,
  pytorch = [[
def forward(self, q, k, v, positions, x):
    def query_scale(seen):
        return self.s[:, None, None] * seen.sum(-1, keepdim=True).to(q.dtype).log()

    return {"query_scale": query_scale}
]],
  relative = true,
  summary = "scores grow with the logarithm of the number of visible keys",
  formula = "sᵢⱼ = s_h ln nᵢ qᵢ · kⱼ / √d",
  source = "scalable softmax, Nakanishi 2025, arXiv 2501.19399",
}
