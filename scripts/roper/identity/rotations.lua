--- Checks the identities on which the RoPER study depends: identities of rotations with
--- roper.identity, and identities of attention by residuals on random tensors, in float32 and
--- float64.
local attention = require "roper.attention"
local core = require "roper.core"
local identity = require "roper.identity"
local position = require "roper.position"

local M = {}

local function largest(x)
  return x:abs():max():item()
end

-- Each identity in the notation of the papers, and as an equation.
local rotations = {
  { "R_a R_b = R_{a+b}", "rotate(rotate(x, b), a) == rotate(x, a + b)" },
  { "R_{-m} R_m x = x", "rotate(rotate(x, a), -a) == x" },
  { "|R_m x| = |x|", "dot(rotate(x, a), rotate(x, a)) == dot(x, x)" },
  { "(R_i q) . (R_j k) = q . R_{j-i} k",
    "dot(rotate(x, a), rotate(y, b)) == dot(x, rotate(y, b - a))" },
}
local GIVEN <const> = { x = "vectors", y = "vectors", a = "position", b = "positions" }

-- Each identity in words, and a function of queries that returns its residual, relative to the
-- largest value compared (absolute for weights, which are at most 1).
local attentions = {
  { "RoPE: the same scores after a shift", function(x, rope)
    local weights = attention.attention_weights
    local a = weights(x, x, { position = rope, causal = true })
    return largest(a - weights(x, x, { position = rope, causal = true, offset = 1000 }))
  end },
  { "RoPER: o_i = sum_j a_ij R_{j-i} v_j", function(x, _, roper)
    local o = attention.attention(x, x, x, { position = roper, causal = true })
    local oracle = attention.oracle.attention(x, x, x, { position = roper, causal = true })
    return largest(o:to "float64" - oracle) / largest(oracle)
  end },
  { "RoPER: the same output after a shift", function(x, _, roper)
    local o = attention.attention(x, x, x, { position = roper, causal = true })
    local shifted = attention.attention(x, x, x, { position = roper, causal = true,
      offset = 1000 })
    return largest(o - shifted) / largest(o)
  end },
}

--- Computes the residuals of each identity.
---@param seed integer? of the random tensors; 1 by default
---@return table[] {statement, float32, float64, holds}; `holds` is true if the residuals are within
---   rounding error, 1e-5 and 1e-13, and, for rotations, the exact check passes
function M.residuals(seed)
  local results = {}
  for i, rotation in ipairs(rotations) do
    local found = identity.identity { rotation[2], given = GIVEN, seed = seed }
    results[i] = { statement = rotation[1], float32 = found.float32, float64 = found.float64,
      holds = found.holds }
  end
  local x = require("roper.base.scoped").with_seed(seed or 1, function()
    return core.randn({ 2, 2, 48, 16 }, "float64")
  end)
  local rope, roper = position.rope { dim = 16 }, position.roper { dim = 16 }
  for _, one in ipairs(attentions) do
    local single, double = one[2](x:to "float32", rope, roper), one[2](x, rope, roper)
    results[#results + 1] = { statement = one[1], float32 = single, float64 = double,
      holds = single < 1e-5 and double < 1e-13 }
  end
  return results
end

return M
