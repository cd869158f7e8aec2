--- RoPE for images: half of the pairs are rotated by the row, half by the column, both with the
--- same frequencies (RoPE-ViT, Heo et al. 2024, section 3.1). More coordinates divide the pairs
--- likewise. Positions are [batch, time, coordinates]; a position of one number is used for all
--- coordinates.
---
---     θ_t = base^(−t/n) for the n pairs of each coordinate
---
--- Errors: `dim` is missing; `fraction * dim` is not a multiple of 2 * coordinates.
---
---     > axial = roper.position.axial{dim = 4}
---     > x = roper.ones{2, 4}
---     > axial:rotate(x, roper.tensor{{{1, 0}, {0, 1}}})
---     float32 [2, 4]
---     -0.3012  1.0000  1.3818  1.0000
---      1.0000 -0.3012  1.0000  1.3818
---@param options AxialOptions
---@return rotary scheme
local equation = require "roper.position.equation"
local frequencies = require "roper.position.frequencies"

return {
  takes = { class = "AxialOptions", parent = "FrequencyOptions",
    { "base", "positive", 100, "of the frequencies" },
    { "coordinates", "size", 2, "number of coordinates of a position" },
  },
  build = function(o)
    local rotated = frequencies.rotated("axial", o)
    if rotated % 2 ~= 0 or rotated // 2 % o.coordinates ~= 0 then
      error(("axial: expected a multiple of %.0f rotated features, pairs for each of %d "
        .. "coordinates, got %d"):format(2.0 * o.coordinates, o.coordinates, rotated), 2)
    end
    local own = frequencies.powers(o.base, rotated // o.coordinates)
    local theta, coordinates = {}, {}
    for t = 1, rotated // 2 do
      theta[t], coordinates[t] = own[(t - 1) % #own + 1], (t - 1) // #own + 1
    end
    return frequencies.rotary(o, theta, { coordinates = coordinates })
  end,
  pytorch = [[
def forward(self, q, k, v, positions, x):
    rotated = int(self.fraction * q.shape[-1])
    own = rotated // 2 // self.coordinates  # pairs of each coordinate
    theta = powers(self.base, 2 * own, q.device).repeat(self.coordinates)
    coordinates = [t // own for t in range(rotated // 2)]
    return turned(self, q, k, v, places(positions, coordinates) * theta)
]],
  relative = true,
  summary = "half of the pairs are rotated by the row, half by the column",
  formula = function(o)
    return equation.text { rotate = o.rotate, at = o.coordinates == 2 and { "r", "c" } or { "p" } }
  end,
  source = "RoPE-ViT, Heo et al. 2024, section 3.1",
}
