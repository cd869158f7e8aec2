--- Multimodal RoPE: sections of the pairs turn by time, height and width, all with the frequencies
--- of one RoPE (Qwen2-VL, Wang et al. 2024, section 2.1); interleaved, each coordinate has fast and
--- slow pairs (Qwen3-VL). Positions are [batch, time, coordinates]; text has a single number, which
--- stands for all coordinates and makes it plain RoPE.
---
---     θ_t = base^(−2t/r);   pair t turns by p[coordinate_t] θ_t
---
--- Errors: no dim; sections whose sum is another number of pairs.
---
---     > mrope = roper.position.mrope{dim = 12, interleaved = true}
---     > table.concat(mrope:options().coordinates, " ")
---     "1 2 3 1 2 3"
---@param options MropeOptions
---@return rotary scheme
local frequencies = require "roper.position.frequencies"
local options_of = require "roper.base.options"

-- Three sections, as equal as whole pairs can be.
local function thirds(count)
  return { (count + 2) // 3, (count + 1) // 3, count // 3 }
end

local function check(sections, count)
  local sum = 0
  for _, size in ipairs(sections) do
    if math.type(size) ~= "integer" or size < 0 then
      error(("mrope: option sections: expected whole numbers from 0 on, got %s"):format(
        options_of.shown(size)), 3)
    end
    sum = sum + size
  end
  if sum ~= count then
    error(("mrope: option sections: expected a sum of %d, the pairs that turn, got %d"):format(
      count, sum), 3)
  end
end

-- Coordinate by pair: section after section.
local function consecutive(sections)
  local list = {}
  for coordinate, size in ipairs(sections) do
    for _ = 1, size do
      list[#list + 1] = coordinate
    end
  end
  return list
end

-- Coordinate by pair: each in turn, those behind the first as long as their section lasts; the
-- first has the rest.
local function in_turn(sections, count)
  local list = {}
  for t = 1, count do
    local coordinate, round = (t - 1) % #sections + 1, (t - 1) // #sections
    list[t] = round < sections[coordinate] and coordinate or 1
  end
  return list
end

---@class MropeOptions: FrequencyOptions
---@field sections? integer[] how many pairs read each coordinate; by default a third each time,
---   height and width
---@field interleaved? boolean = false; coordinates take turns along the pairs

return {
  takes = frequencies.takes { sections = "table?", interleaved = { "boolean", false } },
  build = function(o)
    local theta = frequencies.powers(o.base, frequencies.rotated("mrope", o))
    local sections = o.sections or thirds(#theta)
    check(sections, #theta)
    return frequencies.rotary(o, theta, {
      coordinates = o.interleaved and in_turn(sections, #theta) or consecutive(sections) })
  end,
  relative = true,
  summary = "sections of the pairs turn by time, height and width",
  formula = "sᵢⱼ = Σ_t qᵢ · R_{(pⱼ−pᵢ)[coordinate_t] θ_t} kⱼ / √d",
  source = "Qwen2-VL, Wang et al. 2024, section 2.1",
}
