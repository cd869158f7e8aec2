--- Multimodal RoPE: each of three sections of the pairs is rotated by one coordinate: time, height
--- or width. The frequencies are those of RoPE (Qwen2-VL, Wang et al. 2024, section 2.1). With
--- `interleaved`, each coordinate has fast and slow pairs (Qwen3-VL). Positions are [batch, time,
--- coordinates]. Text has positions of one number, which is used for all coordinates: this is
--- plain RoPE.
---
---     θ_t = base^(−2t/r);   pair t is rotated by p[coordinate_t] θ_t
---
--- Errors: `dim` is missing; `fraction * dim` is not an even number; sections whose sum is not the
--- number of rotated pairs.
---
---     > mrope = roper.position.mrope{dim = 12, interleaved = true}
---     > table.concat(mrope:options().coordinates, " ")
---     "1 2 3 1 2 3"
---@param options MropeOptions
---@return rotary scheme
local equation = require "roper.position.equation"
local frequencies = require "roper.position.frequencies"
local options_of = require "roper.options.rows"

-- Three sections of nearly equal size.
local function thirds(count)
  return { (count + 2) // 3, (count + 1) // 3, count // 3 }
end

local function check(sections, count)
  local sum = 0
  for _, size in ipairs(sections) do
    if math.type(size) ~= "integer" or size < 0 then
      error(("mrope: option sections: expected non-negative integers, got %s"):format(
        options_of.shown(size)), 3)
    end
    sum = sum + size
  end
  if sum ~= count then
    error(("mrope: option sections: expected a sum of %d, the number of rotated pairs, got %d")
      :format(count, sum), 3)
  end
end

-- The coordinate of each pair, section after section.
local function consecutive(sections)
  local list = {}
  for coordinate, size in ipairs(sections) do
    for _ = 1, size do
      list[#list + 1] = coordinate
    end
  end
  return list
end

-- The coordinate of each pair: one after the other, repeatedly. A coordinate whose section is full
-- is replaced by the first.
local function interleaved(sections, count)
  local list = {}
  for t = 1, count do
    local coordinate, round = (t - 1) % #sections + 1, (t - 1) // #sections
    list[t] = round < sections[coordinate] and coordinate or 1
  end
  return list
end

return {
  takes = { class = "MropeOptions", parent = "FrequencyOptions",
    { "sections", "table?", nil,
      "number of pairs for each coordinate; by default a third each for time, height and width",
      type = "integer[]" },
    { "interleaved", "boolean", false, "consecutive pairs have different coordinates" },
  },
  build = function(o)
    local theta = frequencies.powers(o.base, frequencies.rotated("mrope", o))
    local sections = o.sections or thirds(#theta)
    check(sections, #theta)
    return frequencies.rotary(o, theta, {
      coordinates = o.interleaved and interleaved(sections, #theta) or consecutive(sections) })
  end,
  pytorch = [[
def forward(self, q, k, v, positions, x):
    theta = powers(self.base, int(self.fraction * q.shape[-1]), q.device)
    pairs = len(theta)
    sections = self.sections  #? sections
    sections = [(pairs + 2 - c) // 3 for c in range(3)]  #? not sections
    coordinates = [c for c in range(3) for _ in range(sections[c])]  #? not interleaved
    coordinates = [t % 3 if t // 3 < sections[t % 3] else 0 for t in range(pairs)]  #? interleaved
    return turned(self, q, k, v, places(positions, coordinates) * theta)
]],
  relative = true,
  summary = "sections of the pairs are rotated by time, height and width",
  formula = function(o)
    return equation.text { rotate = o.rotate, at = { "p" },
      after = "R_p rotates pair t by p[coordinate_t] θ_t" }
  end,
  source = "Qwen2-VL, Wang et al. 2024, section 2.1",
}
