--- Polar coordinate embedding: features of queries and keys determine magnitudes, positions
--- determine angles, and each head and feature has a trained phase (Gopalakrishnan et al. 2025).
--- Queries and keys are expanded to 2 d numbers. Phases are initially 0. They are not restricted to
--- −2π .. 0, because angles are periodic.
---
---     sᵢⱼ = Σ_t softplus(qᵢₜ) softplus(kⱼₜ) cos((i − j) θ_t − δ_t) / √d
---     θ_t = base^(−t/d)
---
--- Errors: `dim` or `heads` is missing.
---
---     > pope = roper.position.pope{dim = 2, heads = 1}
---     > q = roper.zeros{1, 1, 3, 2}
---     > roper.attention_weights(q, q, {position = pope})[1][1]
---     float32 [3, 3]
---     0.4043 0.3458 0.2499
---     0.3156 0.3689 0.3156
---     0.2499 0.3458 0.4043
---@param options PopeOptions
---@return Scheme scheme
local core = require "roper.core"
local frequencies = require "roper.position.frequencies"

-- Cartesian coordinates of the features: 2 d numbers from magnitudes and angles.
local function at_angles(x, angle)
  local magnitude = x:softplus()
  return core.cat({ magnitude * angle:cos():to(x:dtype()),
    magnitude * angle:sin():to(x:dtype()) }, -1)
end

return {
  takes = { class = "PopeOptions",
    { "dim", "size", nil, "features of a head" },
    { "heads", "size", nil, "number of heads" },
    { "base", "positive", 10000, "base of the frequencies" },
  },
  per_layer = true,
  init = function(self)
    -- one frequency for each feature: those of RoPE with twice as many features
    self.theta = core.tensor(frequencies.powers(self.base, 2 * self.dim), "float64")
    self.phase = core.zeros({ self.heads, self.dim }):parameter()
    self.query = { rotate = function(_, q, positions)
      return at_angles(q, frequencies.angles(self.name, positions, self.theta))
    end }
    self.key = { rotate = function(_, k, positions)
      local phase = self.phase:to("float64"):unsqueeze(2)
      return at_angles(k, frequencies.angles(self.name, positions, self.theta) + phase)
    end }
  end,
  turns = function(self, part)
    return part == "q" and self.query or part == "k" and self.key or nil
  end,
  pytorch = [[
def forward(self, q, k, v, positions, x):
    theta = powers(self.base, 2 * q.shape[-1], q.device)  # of each feature
    angle = positions[:, None, :, None] * theta

    def polar(y, angle):
        y, angle = F.softplus(y), angle[:, :, -y.shape[2]:]
        return torch.cat((y * angle.cos().to(y.dtype), y * angle.sin().to(y.dtype)), -1)

    k = polar(k, angle + self.phase.double()[:, None])
    return {"q": polar(q, angle), "k": k, "scale": q.shape[-1] ** -0.5}
]],
  relative = true,
  summary = "magnitudes come from features, angles from positions",
  formula = "sᵢⱼ = Σ_t softplus(qᵢₜ) softplus(kⱼₜ) cos((i−j) θ_t − δ_t) / √d",
  source = "PoPE, Gopalakrishnan et al. 2025",
}
