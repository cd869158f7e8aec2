-- Checks that attention and linear attention agree with their definitions.

local assert = require("luassert")

local roper = require("roper")

local M = {}

--- Random q, k and v in float64.
---@param options table? batch, heads = 1, queries, keys = 641, features = 8, value_features
---@return userdata q, userdata k, userdata v
function M.inputs(options)
  local o = options or {}
  local batch, heads, features = o.batch or 1, o.heads or 1, o.features or 8
  local keys = o.keys or 641
  return roper.randn({ batch, heads, o.queries or keys, features }, "float64"),
    roper.randn({ batch, heads, keys, features }, "float64"),
    roper.randn({ batch, heads, keys, o.value_features or features }, "float64")
end

--- The largest difference from the oracle, with inputs in a dtype.
local function distance(implementation, dtype, expected, inputs, options)
  local q, k, v = inputs[1]:to(dtype), inputs[2]:to(dtype), inputs[3]:to(dtype)
  local output = implementation(q, k, v, options)
  assert.equal(dtype, output:dtype())
  assert.same(expected:shape(), output:shape())
  return (output:to("float64") - expected):abs():max():item()
end

--- Check the output of `implementation` against sums over explicit R_{j-i}: to 1e-12 in float64
--- and 2e-5 in float32.
---@param inputs userdata[] q, k and v in float64
---@param options table of roper.attention
---@param implementation (fun(q, k, v, options): userdata)? = roper.attention
---@param oracle (fun(q, k, v, options): userdata)? = roper.oracle.attention
function M.check(inputs, options, implementation, oracle)
  local expected = (oracle or roper.oracle.attention)(inputs[1], inputs[2], inputs[3], options)
  for dtype, tolerance in pairs({ float64 = 1e-12, float32 = 2e-5 }) do
    local difference = distance(implementation or roper.attention, dtype, expected, inputs, options)
    if difference ~= difference or difference > tolerance then
      error(("attention, %s, %s: differs from the oracle by %g"):format(dtype,
        tostring(options.position), difference), 2)
    end
  end
end

--- The same for linear attention.
---@param inputs userdata[] q, k and v in float64
---@param options table of roper.linear_attention
---@param implementation (fun(q, k, v, options): userdata)? = roper.linear_attention
function M.check_linear(inputs, options, implementation)
  M.check(inputs, options, implementation or roper.linear_attention,
    roper.oracle.linear_attention)
end

--- The feature map of linear attention.
---@param x userdata
---@return userdata
function M.elu_plus_1(x)
  return roper.where(x:gt(0), x + 1, roper.minimum(x, 0):exp())
end

--- Differentiable linear attention from explicit weights, in which single steps can be changed.
---@param changes table feature, before, denominator, ahead, scheme, twice; {} for none
---@return fun(q, k, v, options): userdata
function M.linear_written_out(changes)
  return function(q, k, v, options)
    local time = q:size(3)
    local places = roper.arange(0, time, 1, "float64")
    local feature, position = changes.feature or M.elu_plus_1, changes.scheme or options.position
    local function turned(x, part)
      return position:rotate(x, places, part)
    end
    local query, key = feature(q), feature(k)
    local a, b = turned(query, "q"), turned(key, "k")
    if changes.before then
      a, b = feature(turned(q, "q")), feature(turned(k, "k"))
    end
    local ahead = options.causal and (changes.ahead or 0) or time
    local seen = places:view({ 1, time }):le(places:view({ time, 1 }) + ahead):to(q:dtype())
    local weights = a:matmul(b:transpose(3, 4)) * seen
    local sums = query:matmul(key:transpose(3, 4)) * seen
    if changes.denominator then
      sums = changes.denominator(sums, weights)
    end
    local value = turned(v, "v")
    if changes.twice then
      value = turned(value, "v")
    end
    return position:unrotate((weights / (sums:sum(4, true) + 1e-6)):matmul(value), places, "o")
  end
end

--- Every subset of the letters of "qkvo", from none to all.
---@return string[]
function M.subsets()
  local list = {}
  for bits = 0, 15 do
    local letters = ""
    for i = 1, 4 do
      if bits & 1 << (i - 1) ~= 0 then
        letters = letters .. ("qkvo"):sub(i, i)
      end
    end
    list[#list + 1] = letters
  end
  return list
end

return M
