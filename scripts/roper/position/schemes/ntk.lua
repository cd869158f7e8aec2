--- NTK-aware scaling: a larger base, which keeps the highest frequency and divides the lowest by
--- the factor (bloc97 2023; YaRN, Peng et al. 2023, section 3.1). With `trained_length` L, it is
--- dynamic: for a text longer than L, the factor depends on its length n, which is that of each row
--- of a batch. As a text grows, its keys are rotated again. Computing a text token by token gives
--- other values than computing it at once.
---
---     base' = base f^(r/(r−2))
---     dynamic: base' = base (f n/L − (f − 1))^(r/(r−2)) for n > L
---
--- Errors: `dim` is missing; `fraction * dim` is not an even number of at least 4; a factor below
--- 1.
---
---     > roper.position.ntk{dim = 4, factor = 4}:thetas()
---     float64 [2]
---     1.0000 0.0025
---     > roper.position.ntk{dim = 4, trained_length = 64}.trained_length
---     64
---@param options NtkOptions
---@return rotary|Scheme scheme
local equation = require "roper.position.equation"
local frequencies = require "roper.position.frequencies"
local options_of = require "roper.options.rows"
local schemes = require "roper.position.scheme"
local tables = require "roper.base.tables"

-- The rotary for a text that is longer by a factor.
local function extended(o, factor)
  local rotated = frequencies.rotated("ntk", o)
  if rotated < 4 then
    error(("ntk: expected at least 4 rotated features, got %d"):format(rotated), 0)
  end
  local base = o.base * factor ^ (rotated / (rotated - 2))
  return frequencies.rotary(o, frequencies.powers(base, rotated))
end

local TAKES <const> = options_of.define("NtkOptions", {
  parent = "FrequencyOptions",
  { "factor", "factor", 2, "f, length of the text divided by that in training" },
  { "trained_length", "size?", nil, "L; if set, the factor depends on the length of each text" },
})

local dynamic = schemes.class {
  name = "ntk",
  takes = TAKES,
  init = function(self)
    self.rotaries = { [1] = extended(self, 1) } -- by factor, those of the last call
  end,
  turns = function(self, part, positions)
    if not self.rotate:find(part, 1, true) then
      return nil
    end
    local used = {}
    local rows = tables.map(positions:lengths():totable(), function(n)
      local factor = math.max(1, self.factor * n / self.trained_length - (self.factor - 1))
      used[factor] = used[factor] or self.rotaries[factor] or extended(self, factor)
      return used[factor]
    end)
    self.rotaries = used
    return frequencies.by_row(rows)
  end,
  relative = true,
}

return {
  takes = TAKES,
  build = function(o)
    return o.trained_length and dynamic(o) or extended(o, o.factor)
  end,
  pytorch = [[
def forward(self, q, k, v, positions, x):
    rotated = int(self.fraction * q.shape[-1])
    factor = self.factor  #? not trained_length
    length = positions.amax(1) - positions.amin(1) + 1  #? trained_length
    factor = self.factor * length / self.trained_length - (self.factor - 1)  #? trained_length
    factor = factor.clamp(min=1)[:, None, None, None]  #? trained_length
    base = self.base * factor ** (rotated / (rotated - 2))
    theta = base ** (-torch.arange(0, rotated, 2, device=q.device).double() / rotated)
    return turned(self, q, k, v, positions[:, None, :, None] * theta)
]],
  relative = true,
  summary = "RoPE with a larger base, which lowers all frequencies but the first",
  formula = function(o)
    return equation.text { rotate = o.rotate, before = o.trained_length
      and "base' = base (f n/L − (f − 1))^(r/(r−2)) for n > L" or "base' = base f^(r/(r−2))" }
  end,
  source = "bloc97 2023; Peng et al. 2023, section 3.1",
}
