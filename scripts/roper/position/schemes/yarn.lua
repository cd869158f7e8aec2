--- YaRN: pairs with many rotations within the trained length keep their frequency, the frequency of
--- those with less than one is divided by a factor, and a ramp connects the two. Scores are
--- multiplied by m² (Peng et al. 2023, sections 3.2-3.4). Values and output, if rotated, keep their
--- length.
---
---     θ'_t = (1 − g_t) θ_t + g_t θ_t / f,   m = 0.1 ln f + 1
---
--- The ramp is linear in the index of the pair or in its number of rotations; the two differ
--- between the ends. With "pairs", as in the authors' released code and Hugging Face:
---
---     g_t = clamp((t − low) / (high − low), 0, 1),   low = ⌊c(32)⌋, high = ⌈c(1)⌉
---     c(b) = r ln(L / 2πb) / (2 ln base)
---
--- With "turns", as in the paper (section 3.2, where γ = 1 − g):
---
---     g_t = clamp((32 − n_t) / (32 − 1), 0, 1),   n_t = L θ_t / 2π
---
--- Errors: `dim` is missing; `fraction * dim` is not an even number; a factor below 1; a base that
--- is not above 1; `fast` or `slow` not above 0; with the ramp "turns", `fast` not above `slow`.
---
---     > yarn = roper.position.yarn{dim = 8, factor = 4, trained_length = 128}
---     > yarn:thetas()
---     float64 [4]
---     1.0000 0.0625 0.0025 0.0003
---     > yarn:options().magnitude
---     1.138629436112
---@param options YarnOptions
---@return rotary scheme
local equation = require "roper.position.equation"
local frequencies = require "roper.position.frequencies"

-- g from a pair's number of rotations within the trained length: 0 for at least `fast` rotations, 1
-- for at most `slow`, linear between.
local function ramp_of_turns(o)
  if o.fast <= o.slow then
    error(("yarn: expected fast above slow, got %g and %g"):format(o.fast, o.slow), 0)
  end
  return function(_, theta)
    local turns = o.trained_length * theta / (2 * math.pi)
    return math.min(math.max((o.fast - turns) / (o.fast - o.slow), 0), 1)
  end
end

-- g from the index of the pair: linear between the indices with `fast` and `slow` rotations, which
-- are rounded outwards.
local function ramp_of_pairs(o, rotated)
  local function pair_with(turns)
    return rotated * math.log(o.trained_length / (2 * math.pi * turns)) / (2 * math.log(o.base))
  end
  local low = math.max(math.floor(pair_with(o.fast)), 0)
  local high = math.min(math.ceil(pair_with(o.slow)), rotated - 1)
  return function(t)
    return math.min(math.max((t - low) / math.max(high - low, 0.001), 0), 1)
  end
end

return {
  takes = { class = "YarnOptions", parent = "FrequencyOptions",
    { "factor", "factor", 2, "f, length of the text divided by that in training" },
    { "trained_length", "size", 2048, "L" },
    { "fast", "positive", 32,
      "pairs with at least this many rotations within L keep their frequency" },
    { "slow", "positive", 1,
      "the frequency of pairs with at most this many is divided by the factor" },
    { "ramp", { "pairs", "turns" }, "pairs",
      "g is linear in this: \"pairs\" as in the authors' released code and Hugging Face, "
        .. '"turns" as in the paper' },
    { "magnitude", "number?", nil, "m, multiplies the rotated features of queries and keys",
      shown = "0.1 ln f + 1" },
  },
  build = function(o)
    if o.base <= 1 then
      error(("yarn: option base: expected a number above 1, got %g"):format(o.base), 2)
    end
    local rotated = frequencies.rotated("yarn", o)
    local theta = frequencies.powers(o.base, rotated)
    local share = o.ramp == "turns" and ramp_of_turns(o) or ramp_of_pairs(o, rotated)
    for t = 1, #theta do
      local g = share(t - 1, theta[t])
      theta[t] = (1 - g) * theta[t] + g * theta[t] / o.factor
    end
    return frequencies.rotary(o, theta,
      { magnitude = o.magnitude or 0.1 * math.log(o.factor) + 1 })
  end,
  describe = function(o)
    return o.ramp == "turns" and "ramp: linear in the number of rotations, as in the paper"
      or "ramp: linear in the index of the pair, as in the released code and Hugging Face"
  end,
  pytorch = [[
def forward(self, q, k, v, positions, x):
    rotated = int(self.fraction * q.shape[-1])
    theta = powers(self.base, rotated, q.device)
    turns = self.trained_length * theta / (2 * math.pi)  #? ramp=turns
    share = ((self.fast - turns) / (self.fast - self.slow)).clamp(0, 1)  #? ramp=turns
    low, high = (rotated * math.log(self.trained_length / (2 * math.pi * turns))  #? ramp=pairs
                 / (2 * math.log(self.base)) for turns in (self.fast, self.slow))  #? ramp=pairs
    low, high = max(math.floor(low), 0), min(math.ceil(high), rotated - 1)  #? ramp=pairs
    t = torch.arange(rotated // 2, device=q.device).double()  #? ramp=pairs
    share = ((t - low) / max(high - low, 0.001)).clamp(0, 1)  #? ramp=pairs
    theta = (1 - share) * theta + share * theta / self.factor
    magnitude = self.magnitude  #? magnitude
    magnitude = 0.1 * math.log(self.factor) + 1  #? not magnitude
    q, k = q * magnitude, k * magnitude  #? not fraction
    gain = torch.full_like(theta, magnitude)  #? fraction
    q, k = magnified(self, q, gain), magnified(self, k, gain)  #? fraction
    return turned(self, q, k, v, positions[:, None, :, None] * theta)
]],
  relative = true,
  summary = "RoPE with low frequencies divided by a factor, and larger scores",
  formula = function(o)
    return equation.text { rotate = o.rotate, factor = equation.MAGNITUDE,
      before = "θ'_t = (1 − g_t) θ_t + g_t θ_t / f" }
  end,
  source = "YaRN, Peng et al. 2023, sections 3.2-3.4",
}
