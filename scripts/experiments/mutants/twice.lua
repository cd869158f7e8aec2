-- RoPER with a deliberate mistake: values are rotated twice, as in one implementation (labml) until
-- 2024. After the rotation of the output, values are rotated by 2 j - i instead of j - i, which is
-- not a relative distance.
return {
  summary = "RoPER that rotates values twice",
  position = "roper",
  revision = 2, -- revision 1 ignored the positions of a task
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
