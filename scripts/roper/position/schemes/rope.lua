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
  relative = true,
  summary = "queries and keys are rotated",
  formula = equation.rotary,
  source = "RoFormer, Su et al. 2021, eq. 13-16",
}
