--- Sliding window: a query sees only keys at a distance below `size` (Beltagy et al. 2020; Mistral
--- 7B, Jiang et al. 2023). With `sinks`, it also sees the first keys of the text. These attention
--- sinks absorb the weight that no other key should get (Xiao et al. 2023, StreamingLLM). Distances
--- are those of positions. Keys that a mask hides, such as padding, are not counted as the first
--- ones. It joins with any scheme, and layers can differ: with position=window{size=8}+rope:rope on
--- the command line, or {"window{size=8}+rope", "rope"} in a Transformer, local and global layers
--- alternate. A cache keeps all keys.
---
---     query i sees key j if |i − j| < size or key j is a sink
---
--- Errors: positions with several coordinates.
---
---     > q = roper.zeros{1, 1, 5, 4}
---     > options = {position = {type = "window", size = 2, sinks = 1}, causal = true}
---     > roper.attention_weights(q, q, options)[1][1]
---     float32 [5, 5]
---     1.0000 0.0000 0.0000 0.0000 0.0000
---     0.5000 0.5000 0.0000 0.0000 0.0000
---     0.3333 0.3333 0.3333 0.0000 0.0000
---     0.3333 0.0000 0.3333 0.3333 0.0000
---     0.3333 0.0000 0.0000 0.3333 0.3333
---@param options? WindowOptions
---@return Scheme scheme
local core = require "roper.core"

-- Which keys are the first that the mask of the options does not hide, int32; a mask that is one
-- for all keys hides all of them or none.
local function first_keys(count, positions)
  local keys, given = positions.keys, positions.mask
  if not given then
    return core.arange(0, keys, 1, "float64"):lt(count)
  end
  local shape = given:shape()
  shape[#shape] = keys
  local seen = given:expand(shape):ne(0):to "float64"
  return seen:cumsum(-1):le(count)
end

return {
  takes = { class = "WindowOptions",
    { "size", "size", 128, "number of positions in the window, with that of the query" },
    { "sinks", "count", 0, "number of keys at the start of the text that all queries see" },
  },
  mask = function(self, positions)
    local near = positions:distances():abs():lt(self.size)
    return self.sinks > 0 and core.maximum(near, first_keys(self.sinks, positions)) or near
  end,
  pytorch = [[
def forward(self, q, k, v, positions, x):
    hidden = distances(positions, q).abs() >= self.size
    hidden = hidden & (torch.arange(k.shape[2], device=q.device) >= self.sinks)  #? sinks
    return {"hidden": hidden}
]],
  relative = true,
  summary = "a query sees only near keys, and optionally the first ones",
  formula = "sᵢⱼ = qᵢ · kⱼ / √d if |i − j| < size or j < sinks, else −∞",
  source = "Beltagy et al. 2020, section 3.1; sinks: StreamingLLM, Xiao et al. 2023",
}
