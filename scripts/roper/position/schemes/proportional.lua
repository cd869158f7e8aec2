--- p-RoPE: the fastest pairs turn as in RoPE over the whole head, the others stay still and carry
--- what does not depend on positions (Barbero et al. 2024; Gemma 4). Rotating a fraction of the
--- features has other frequencies: there they span the features that turn, here the head. The
--- number of pairs that turn is rounded down, as in the code of the paper and in Hugging Face's.
---
---     θ_t = base^(−2t/d) for t < ⌊p d/2⌋, else 0
---
--- Errors: no dim, an odd one, a fraction that is not from 0 to 1.
---
---     > roper.position.proportional{dim = 8, fraction = 0.5}:thetas()
---     float64 [4]
---     1.0000 0.1000 0.0000 0.0000
---@param options ProportionalOptions
---@return rotary scheme
local frequencies = require "roper.position.frequencies"

---@class ProportionalOptions
---@field dim integer features of a head
---@field base? number = 10000; of the frequencies
---@field fraction? number = 0.75; p, of the pairs that turn: the fastest
---@field pairing? "half"|"interleaved" = "half"; which features turn together
---@field rotate? string = "qk"; what turns: any letters of "qkvo"

return {
  revision = 2, -- the first rounded the number of pairs up
  takes = { dim = "size", base = { "number", 10000 }, fraction = { "share", 0.75 },
    pairing = { { "half", "interleaved" }, "half" }, rotate = { "string", "qk" } },
  build = function(o)
    local theta = frequencies.powers(o.base, frequencies.rotated("proportional",
      { dim = o.dim, fraction = 1 }))
    for t = math.floor(o.fraction * o.dim / 2) + 1, #theta do
      theta[t] = 0
    end
    return frequencies.rotary(o, theta)
  end,
  relative = true,
  summary = "the fastest pairs turn, the others stay still",
  formula = "θ_t = base^(−2t/d) for t < ⌊p d/2⌋, else 0",
  source = "p-RoPE, Barbero et al. 2024",
}
