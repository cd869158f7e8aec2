--- Sinusoidal position embeddings: sines and cosines of the position are added to the embeddings,
--- once, before the first layer (Vaswani et al. 2017, section 3.5; RoFormer, Su et al. 2021, eq.
--- 4). In `roper.attention` outside a model, which has no embeddings, the scheme has no effect.
---
---     p_{i,2t} = sin(i base^(−2t/d)),   p_{i,2t+1} = cos(i base^(−2t/d))
---
--- Errors: `d_model` is missing or odd; a base that is not above 0.
---
---     > sinusoidal = roper.position.sinusoidal{d_model = 4}
---     > positions = roper.tensor({{0, 1, -2.5}}, "float64")
---     > sinusoidal:embed(roper.zeros{1, 3, 4}, positions)[1]
---     float32 [3, 4]
---      0.0000  1.0000  0.0000  1.0000
---      0.8415  0.5403  0.0100  0.9999
---     -0.5985 -0.8011 -0.0250  0.9997
---@param options SinusoidalOptions
---@return Scheme scheme
local core = require "roper.core"

return {
  takes = { class = "SinusoidalOptions",
    { "d_model", "size", nil, "features of the embeddings, even" },
    { "base", "positive", 10000, "base of the frequencies" },
  },
  init = function(self)
    local width = self.d_model
    if width % 2 ~= 0 then
      error(("sinusoidal: option d_model: expected an even number, got %d"):format(width), 0)
    end
    self.frequencies = (core.arange(0, width, 2, "float64") * (-math.log(self.base) / width)):exp()
  end,
  embed = function(self, x, positions)
    if positions:rank() ~= 2 then
      error("position: sinusoidal: expected one number per position, got several coordinates", 0)
    end
    local angles = positions:unsqueeze(3) * self.frequencies
    local pairs_of = core.cat({ angles:sin():unsqueeze(4), angles:cos():unsqueeze(4) }, 4)
    return x + pairs_of:view { positions:size(1), positions:size(2), self.d_model }:to(x:dtype())
  end,
  pytorch = [[
def embed(self, x, positions):
    theta = powers(self.base, x.shape[-1], x.device)
    angle = positions[..., None] * theta
    return x + torch.stack((angle.sin(), angle.cos()), -1).flatten(-2).to(x.dtype)
]],
  summary = "sines and cosines of the position are added to embeddings",
  formula = "xᵢ ← xᵢ + pᵢ,   p_{i,2t} = sin(i base^(−2t/d)),   p_{i,2t+1} = cos(i base^(−2t/d))",
  source = "Vaswani et al. 2017, section 3.5; RoFormer, Su et al. 2021, eq. 4",
}
