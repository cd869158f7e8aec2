-- RoPER with a mistake on purpose: values turned twice, as an implementation (labml) had it until
-- 2024. What is carried then turns by 2 j - i instead of j - i, which is no relative distance.
return {
  summary = "RoPER that turns values twice",
  position = "roper",
  change = function(model)
    for _, layer in ipairs(model.layers) do
      local attend = layer.attention.attend
      function layer.attention:attend(q, k, v, cache)
        local positions = cache and cache:positions(v:size(3))
        return attend(self, q, k, self.position:rotate(v, positions, "v"), cache)
      end
    end
  end,
}
