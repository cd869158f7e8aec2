--- Learned position embeddings: a trained vector for each position is added to the embeddings,
--- once, before the first layer (Gehring et al. 2017, section 3.1). It is initialized like the
--- embeddings of tokens. In `roper.attention` outside a model, which has no embeddings, the scheme
--- has no effect.
---
---     xᵢ ← xᵢ + table[i],   0 ≤ i < length
---
--- Errors: `d_model` or `length` is missing; when used, positions other than 0 .. length - 1.
---
---     > learned = roper.position.learned{d_model = 4, length = 10}
---     > learned.table:shape()
---     {10, 4}
---     > x = roper.zeros{1, 2, 4}
---     > learned:embed(x, roper.tensor({{8, 9}}, "float64")):shape()
---     {1, 2, 4}
---     > learned:embed(x, roper.tensor({{9, 10}}, "float64"))
---     error: position: learned: expected whole positions from 0 to 9, got 10
---@param options LearnedOptions
---@return Scheme scheme
local core = require "roper.core"

-- The first position other than 0 .. length - 1.
local function outside(positions, length)
  for _, position in ipairs(positions:contiguous():view { -1 }:totable()) do
    if position < 0 or position >= length or position % 1 ~= 0 then
      return position
    end
  end
end

return {
  takes = { class = "LearnedOptions",
    { "d_model", "size", nil, "features of the embeddings" },
    { "length", "size", nil, "number of positions" },
  },
  init = function(self)
    self.table = core.randn({ self.length, self.d_model }):parameter()
  end,
  embed = function(self, x, positions)
    if positions:rank() ~= 2 then
      error("position: learned: expected one number per position, got several coordinates", 0)
    end
    local whole = positions:floor()
    local fits = whole:maximum(0):minimum(self.length - 1)
    if positions:count() > 0 and (positions - fits):abs():max():item() > 0 then
      error(("position: learned: expected whole positions from 0 to %d, got %.14g"):format(
        self.length - 1, outside(positions, self.length)), 0)
    end
    return x + core.embedding(self.table, fits:to "int32"):to(x:dtype())
  end,
  pytorch = [[
def embed(self, x, positions):
    return x + self.table[positions.long()]
]],
  summary = "a trained vector for each position is added to embeddings",
  formula = "xᵢ ← xᵢ + table[i]",
  source = "Gehring et al. 2017, section 3.1; Vaswani et al. 2017, section 3.5",
}
