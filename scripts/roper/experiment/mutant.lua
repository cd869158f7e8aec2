--- A mistake on purpose, for experiments alone: values turned twice, as a widely used
--- implementation of RoPER had it from its release until 2024. What is carried then turns by
--- 2 j - i instead of j - i, which is no relative distance. No scheme of the library does this.
local attention = require "roper.attention"

local M = {}

--- What an experiment's field `position` calls it.
M.NAME = "twice"

--- What its results are called.
M.LABEL = "twice (mutant)"

-- The forward pass of multi-head attention whose values were turned before attention turns them.
local function forward(self, x, cache)
  local q, k, v = self:split(self.query(x)), self:split(self.key(x)), self:split(self.value(x))
  local o
  if cache then
    local all = cache.cache
    v = self.position:rotate(v, all.positions:narrow(2, all.filled + 1, x:size(2)), "v")
    o = cache:attend(q, k, v, self)
  else
    v = self.position:rotate(v, nil, "v")
    o = attention.attention(q, k, v, { position = self.position, causal = self.causal,
      dropout = self.is_training and self.dropout or 0 })
  end
  return self.output(o:transpose(2, 3):view(x:shape()))
end

--- Make the mutant of a Transformer with position "roper". Its files hold tensors alone: they can
--- not be taken for those of a model without the mistake.
---@param model Transformer changed in place
function M.turn_values_twice(model)
  for _, layer in ipairs(model.layers) do
    layer.attention.forward = forward
  end
  model.options = nil
end

return M
