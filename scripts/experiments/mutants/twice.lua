-- RoPER with a mistake on purpose: values turned twice, as an implementation (labml) had it until
-- 2024. What is carried then turns by 2 j - i instead of j - i, which is no relative distance.
return {
  summary = "RoPER that turns values twice",
  position = "roper",
  revision = 2, -- the first ignored the positions of a task
  change = function(model)
    for _, layer in ipairs(model.layers) do
      local attend = layer.attention.attend
      function layer.attention:attend(inputs)
        inputs.v = self.position:rotate(inputs.v, inputs.positions, "v")
        return attend(self, inputs)
      end
    end
  end,
}
