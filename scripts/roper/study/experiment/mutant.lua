--- A mistake on purpose, for experiments alone: values turned twice, as a widely used
--- implementation of RoPER had it from its release until 2024. What is carried then turns by
--- 2 j - i instead of j - i, which is no relative distance. No scheme of the library does this.
local M = {}

--- What an experiment's field `position` calls it.
M.NAME = "twice"

--- What its results are called.
M.LABEL = "twice (mutant)"

--- Make the mutant of a Transformer with position "roper". Its files hold tensors alone: they can
--- not be taken for those of a model without the mistake.
---@param model Transformer changed in place
function M.turn_values_twice(model)
  for _, layer in ipairs(model.layers) do
    local attend = layer.attention.attend
    function layer.attention:attend(q, k, v, cache)
      local positions = cache and cache:positions(v:size(3))
      return attend(self, q, k, self.position:rotate(v, positions, "v"), cache)
    end
  end
  model.options = nil
end

return M
