--- No rotation: the baseline without positions (NoPE).
---
--- Errors: as for `rope`.
---
---     > roper.position.none()
---     rotary{dim = 2, base = 10000.0, pairing = "half", rotate = ""}
---@param options? RopeOptions
---@return rotary scheme
local core = require "roper.core"
local schemes = require "roper.position.scheme"

return {
  takes = { dim = "size" },
  make = function(options)
    return core.rotary(schemes.with_defaults("none", options, { dim = 2, rotate = "" }))
  end,
  pytorch = [[
def forward(self, q, k, v, positions, x):
    return {}
]],
  relative = true,
  summary = "no positions",
  formula = "sᵢⱼ = qᵢ · kⱼ / √d",
  source = "the baseline (Kazemnejad et al. 2023: NoPE)",
}
