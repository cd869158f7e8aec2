--- RoPE that also rotates values, and rotates the output back: the output then depends on relative
--- position too (the RoPER study, Harik and Jayasiri 2022). Like `rope`, with rotate = "qkvo".
---
---     oᵢ = R_{−i} Σⱼ aᵢⱼ R_j vⱼ = Σⱼ aᵢⱼ R_{j−i} vⱼ
---
--- Errors: as for `rope`.
---
---     > roper.position.roper{dim = 4}
---     rotary{dim = 4, base = 10000.0, pairing = "half", rotate = "qkvo"}
---@param options RotaryOptions
---@return rotary scheme
local core = require "roper.core"
local equation = require "roper.position.equation"
local schemes = require "roper.position.scheme"

return {
  takes = schemes.rotary_options "qkvo",
  make = function(options)
    return core.rotary(schemes.with_defaults("roper", options, { rotate = "qkvo" }))
  end,
  pytorch = require("roper.position.schemes.rope").pytorch,
  relative = true,
  summary = "RoPE that also rotates values, and rotates the output back",
  formula = equation.rotary,
  source = "the RoPER study, Harik and Jayasiri 2022",
}
