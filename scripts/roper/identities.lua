--- The rotation identities as residuals on random tensors, in both precisions.
local core = require "roper.core"
local attention = require "roper.attention"
local position = require "roper.position"

local M = {}

local function largest(x)
  return x:abs():max():item()
end

--- One identity: what it says, and a function of a dtype that returns its residual, relative to
--- the size of what is compared.
local list = {
  { "R_a R_b = R_{a+b}", function(x, rope)
    return largest(rope:rotate(rope:rotate(x, 2.5), -7) - rope:rotate(x, -4.5)) / largest(x)
  end },
  { "R_{-m} R_m x = x", function(x, rope)
    return largest(rope:unrotate(rope:rotate(x)) - x) / largest(x)
  end },
  { "|R_m x| = |x|", function(x, rope)
    local norm = x:square():sum(4)
    return largest(rope:rotate(x):square():sum(4) - norm) / largest(norm)
  end },
  { "(R_i q) . (R_j k) = q . R_{j-i} k", function(x, rope)
    local k = x:transpose(1, 2):contiguous()
    local i, j = 11, 640
    local left = (rope:rotate(x, i) * rope:rotate(k, j)):sum(4)
    return largest(left - (x * rope:rotate(k, j - i)):sum(4)) / largest(left)
  end },
  { "RoPE: the same scores after a shift", function(x, rope)
    local a = attention.weights(x, x, { position = rope, causal = true })
    return largest(a - attention.weights(x, x, { position = rope, causal = true, offset = 1000 }))
  end },
  { "RoPER: o_i = sum_j a_ij R_{j-i} v_j", function(x, _, roper)
    local o = attention.attention(x, x, x, { position = roper, causal = true })
    local oracle = attention.oracle(x, x, x, { position = roper, causal = true })
    return largest(o:to "float64" - oracle) / largest(oracle)
  end },
  { "RoPER: the same output after a shift", function(x, _, roper)
    local o = attention.attention(x, x, x, { position = roper, causal = true })
    local shifted = attention.attention(x, x, x, { position = roper, causal = true,
      offset = 1000 })
    return largest(o - shifted) / largest(o)
  end },
}

--- The residual of each identity on standard normal tensors [2, 2, 48, 16].
---@param seed integer? 1 by default
---@return table[] {statement, float32, float64, holds}; `holds` when the residuals are within
---   rounding error: 1e-5 and 1e-13
function M.residuals(seed)
  local saved, counter = core.random_state()
  core.seed(seed or 1)
  local x = core.randn({ 2, 2, 48, 16 }, "float64")
  core.random_state(saved, counter)
  local rope, roper = position.rope { dim = 16 }, position.roper { dim = 16 }
  local results = {}
  for i, identity in ipairs(list) do
    local single = identity[2](x:to "float32", rope, roper)
    local double = identity[2](x, rope, roper)
    results[i] = { statement = identity[1], float32 = single, float64 = double,
      holds = single < 1e-5 and double < 1e-13 }
  end
  return results
end

return M
