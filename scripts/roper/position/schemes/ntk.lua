--- NTK-aware scaling: a larger base, which leaves the fastest pair as it was and slows the slowest
--- by the factor (bloc97 2023; YaRN, Peng et al. 2023, section 3.1). With a trained length it is
--- dynamic: a text of n > L positions has a factor of its own, and keys are turned anew as it
--- grows, so that token by token it gives other values than all at once.
---
---     base' = base f^(r/(r−2))
---     dynamic: base' = base (f n/L − (f − 1))^(r/(r−2)) for n > L
---
--- Errors: no dim, a fraction of it that is no even number from 4 on, a factor below 1.
---
---     > roper.position.ntk{dim = 4, factor = 4}:thetas()
---     float64 [2]
---     1.0000 0.0025
---     > roper.position.ntk{dim = 4, trained_length = 64}.trained_length
---     64
---@param options NtkOptions
---@return rotary|Scheme scheme
local frequencies = require "roper.position.frequencies"
local schemes = require "roper.position.scheme"

-- The rotary for a factor of extension.
local function extended(o, factor)
  local rotated = frequencies.rotated("ntk", o)
  if rotated < 4 then
    error(("ntk: expected 4 features or more that turn, got %d"):format(rotated), 0)
  end
  local base = o.base * factor ^ (rotated / (rotated - 2))
  return frequencies.rotary(o, frequencies.powers(base, rotated))
end

local TAKES <const> = frequencies.takes { factor = { "number", 2 }, trained_length = "size?" }

local dynamic = schemes.class {
  name = "ntk",
  takes = TAKES,
  init = function(self)
    self.kept = { length = 0, rotary = extended(self, 1) }
  end,
  turns = function(self, part, positions)
    local n, kept = positions:length(), self.kept
    if n ~= kept.length then
      local factor = math.max(1, self.factor * n / self.trained_length - (self.factor - 1))
      kept.length, kept.rotary = n, extended(self, factor)
    end
    return self.rotate:find(part, 1, true) and kept.rotary or nil
  end,
  relative = true,
}

---@class NtkOptions: FrequencyOptions
---@field factor? number = 2; by how much longer the text is than in training
---@field trained_length? integer L; then the factor follows the length of each text

return {
  takes = TAKES,
  build = function(o)
    frequencies.check_from_one("ntk", o, "factor")
    return o.trained_length and dynamic(o) or extended(o, o.factor)
  end,
  relative = true,
  summary = "RoPE with a larger base: fast pairs stay, slow ones slow down",
  formula = "base' = base f^(r/(r−2))",
  source = "bloc97 2023; Peng et al. 2023, section 3.1",
}
