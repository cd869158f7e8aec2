--- Rotary position encoding: queries and keys are rotated by position times θ, which makes scores
--- depend on relative position (RoFormer, Su et al. 2021, eq. 13-16).
---
---     sᵢⱼ = (R_i qᵢ) · (R_j kⱼ) = qᵢ · R_{j−i} kⱼ
---
--- Errors: `dim` is missing; `fraction * dim` is not an even number.
---
---     > rope = roper.position.rope{dim = 4}
---     > q = roper.randn{1, 1, 6, 4}
---     > both = rope:rotate(rope:rotate(q, 1), 2)
---     > (rope:rotate(q, 3) - both):abs():max():item() < 1e-6
---     true
---@param options RotaryOptions
---@return rotary scheme
local core = require "roper.core"
local equation = require "roper.position.equation"
local schemes = require "roper.position.scheme"

return {
  takes = schemes.rotary_options "qk",
  make = function(options)
    return core.rotary(schemes.with_defaults("rope", options, { rotate = "qk" }))
  end,
  pytorch = [[
def forward(self, q, k, v, positions, x):
    theta = powers(self.base, int(self.fraction * q.shape[-1]), q.device)  #? not frequencies
    theta = torch.tensor(self.frequencies, dtype=torch.float64, device=q.device)  #? frequencies
    angle = positions[:, None, :, None] * theta  #? not coordinates
    angle = places(positions, [c - 1 for c in self.coordinates]) * theta  #? coordinates
    gain = torch.full_like(theta, self.magnitude)  #? magnitude growth
    growth = torch.tensor(self.growth, dtype=torch.float64, device=q.device)  #? growth
    gain = gain * (growth * (positions - self.centre)[:, None, :, None]).exp()  #? growth
    q = magnified(self, q, gain[:, :, -q.shape[2]:])  #? growth
    k = magnified(self, k, self.magnitude ** 2 / gain)  #? growth
    q, k = magnified(self, q, gain), magnified(self, k, gain)  #? magnitude; not growth
    return turned(self, q, k, v, angle)  #? not value_fraction
    theta = powers(self.base, int(self.value_fraction * v.shape[-1]), q.device)  #? value_fraction
    of_values = turned(self, q, k, v, positions[:, None, :, None] * theta)  #? value_fraction
    terms = turned(self, q, k, v, angle)  #? value_fraction
    of_values.update((name, terms[name]) for name in "qk" if name in terms)  #? value_fraction
    return of_values  #? value_fraction
]],
  relative = true,
  summary = "queries and keys are rotated",
  formula = equation.rotary,
  source = "RoFormer, Su et al. 2021, eq. 13-16",
}
