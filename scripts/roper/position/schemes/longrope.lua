--- LongRoPE: each frequency is divided by a number that was found by search, from the list `short`
--- for texts up to the trained length L, and from `long` for longer ones (Ding et al. 2024). Each
--- row of a batch uses the list for its own length. A growing text changes the list when it exceeds
--- L, so a cache stores keys unrotated and each pass rotates them. Above the first layer, cached
--- keys and values still depend on the list that was used when they were computed.
---
---     θ'_t = θ_t / e_t;   scores are multiplied by 1 + ln f / ln L
---
--- Errors: `dim` is missing; `fraction * dim` is not an even number; a list whose length is not the
--- number of pairs, or with a number that is not positive; a factor below 1.
---
---     > options = {dim = 4, long = {1, 4}, trained_length = 4}
---     > longrope, q = roper.position.longrope(options), roper.zeros{1, 1, 5, 4}
---     > longrope:turns("q", roper.position.positions(q, q)):thetas()
---     float64 [2]
---     1.0000 0.0025
---@param options LongropeOptions
---@return Scheme scheme
local equation = require "roper.position.equation"
local frequencies = require "roper.position.frequencies"
local options_of = require "roper.options.rows"
local tables = require "roper.base.tables"

-- The rotary with frequencies divided by the option `name`, a list or one number.
local function divided(self, name)
  local theta = frequencies.powers(self.base, frequencies.rotated("longrope", self))
  local divisors = self[name]
  if type(divisors) == "table" and #divisors ~= #theta then
    error(("longrope: option %s: expected %d numbers, one for each pair, got %d"):format(name,
      #theta, #divisors), 0)
  end
  for t = 1, #theta do
    local divisor = type(divisors) == "table" and divisors[t] or divisors
    if type(divisor) ~= "number" or divisor <= 0 or divisor ~= divisor then
      error(("longrope: option %s: expected positive numbers, got %s"):format(name,
        options_of.shown(divisor)), 0)
    end
    theta[t] = theta[t] / divisor
  end
  return frequencies.rotary(self, theta, { magnitude = self.magnitude
    or (1 + math.log(self.factor) / math.log(self.trained_length)) ^ 0.5 })
end

return {
  takes = { class = "LongropeOptions", parent = "FrequencyOptions",
    { "factor", "factor", 2, "f, length of the text divided by that in training" },
    { "trained_length", "size", 2048, "L, at least 2" },
    { "short", "real|table", 1,
      "divisors for texts up to L: one for each pair, or one for all", type = "number|number[]" },
    { "long", "real|table?", nil, "divisors for longer texts", type = "number|number[]",
      shown = "factor" },
    { "magnitude", "number?", nil, "multiplies the rotated features of queries and keys",
      shown = "sqrt(1 + ln f / ln L)" },
  },
  init = function(self)
    if self.trained_length < 2 then
      error("longrope: option trained_length: expected at least 2, got 1", 0)
    end
    self.long = self.long or self.factor
    self.near, self.far = divided(self, "short"), divided(self, "long")
  end,
  turns = function(self, part, positions)
    return self.rotate:find(part, 1, true) and frequencies.by_row(
      tables.map(positions:lengths():totable(), function(length)
        return length > self.trained_length and self.far or self.near
      end)) or nil
  end,
  pytorch = [[
def forward(self, q, k, v, positions, x):
    theta = powers(self.base, int(self.fraction * q.shape[-1]), q.device)
    short = theta / torch.tensor(self.short, dtype=torch.float64, device=q.device)  #? short
    long = theta / torch.tensor(self.long, dtype=torch.float64, device=q.device)  #? long
    long = theta / self.factor  #? not long
    is_long = positions.amax(1) - positions.amin(1) > self.trained_length - 1
    theta = torch.where(is_long[:, None, None, None], long, short)  #? short
    theta = torch.where(is_long[:, None, None, None], long, theta)  #? not short
    magnitude = self.magnitude  #? magnitude
    magnitude = (1 + math.log(self.factor) / math.log(self.trained_length)) ** 0.5  #? not magnitude
    q, k = q * magnitude, k * magnitude  #? not fraction
    gain = torch.full_like(theta, magnitude)  #? fraction
    q, k = magnified(self, q, gain), magnified(self, k, gain)  #? fraction
    return turned(self, q, k, v, positions[:, None, :, None] * theta)
]],
  relative = true,
  summary = "RoPE with one list of divisors for short texts and one for long ones",
  formula = function(o)
    return equation.text { rotate = o.rotate, factor = equation.MAGNITUDE,
      before = "θ'_t = θ_t / e_t", after = not o.magnitude and "m² = 1 + ln f / ln L" or nil }
  end,
  source = "LongRoPE, Ding et al. 2024",
}
