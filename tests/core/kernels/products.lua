-- ./roper tests/core/kernels/products.lua FILE: writes products with bfloat16 operands and their
-- gradients to a file, for sizes that do and do not fill tiles. Prints the name of the kernels.
local roper = require("roper")

local SIZES <const> = { { 1, 1, 1 }, { 5, 3, 7 }, { 33, 64, 96 }, { 100, 130, 37 },
  { 64, 600, 300 }, { 0, 2, 3 }, { 2, 0, 3 }, { 2, 3, 0 } }
local HEADS <const> = { { 1, 1, 2 }, { 5, 9, 6 }, { 50, 50, 32 }, { 130, 150, 24 },
  { 250, 700, 4 } }

roper.seed(1)
roper.matmul_precision("bfloat16")
local results = {}

-- Keeps the result of a function and its gradients.
local function keep(name, f, ...)
  local inputs = { ... }
  local y = f(...)
  y:backward(roper.randn(y:shape()))
  results[name] = y:detach()
  for i, input in ipairs(inputs) do
    results[name .. " " .. i] = input.grad
  end
end

local function leaf(...)
  return roper.randn({ ... }):parameter()
end

for i, size in ipairs(SIZES) do
  local m, n, k = table.unpack(size)
  keep("matmul" .. i, roper.matmul, leaf(m, k), leaf(k, n))
  keep("batch" .. i, roper.matmul, leaf(2, m, k), leaf(k, n))
  keep("turned" .. i, function(a, b)
    return a:transpose(1, 2):matmul(b:transpose(1, 2))
  end, leaf(k, m), leaf(n, k))
  keep("linear" .. i, roper.linear, leaf(m, k), leaf(n, k), leaf(n))
end
-- More than a block that is held in cache.
keep("large", roper.matmul, leaf(210, 1100), leaf(1100, 1100))
keep("large linear", roper.linear, leaf(210, 1100), leaf(1100, 1100), leaf(1100))
for i, size in ipairs(HEADS) do
  local queries, keys, d = table.unpack(size)
  for _, causal in ipairs({ false, true }) do
    keep(("attention%d %s"):format(i, causal), function(q, k, v)
      return roper.attention(q, k, v,
        { causal = causal, position = roper.position.roper({ dim = d }) })
    end, leaf(2, 3, queries, d), leaf(2, 3, keys, d), leaf(2, 3, keys, d))
  end
end
roper.save(arg[1], results)
print(require("roper.core").machine().instructions)
