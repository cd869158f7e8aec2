-- Products of maps in blocks agree with one map after the other.
local arrays = require("tests.arrays")
local householder = require("roper.position.householder")
local roper = require("roper")

-- Calls `row` for each query with yⱼ of the tokens up to its own after the maps j + 1 to i; maps
-- are applied one after the other. Returns the rows.
local function carried(w, beta, y, queries, row)
  local keys, list, all = y:size(3), {}, nil
  for t = 1, keys do
    local direction = w:narrow(3, t, 1)
    all = all and all - (all * direction):sum(4, true) * direction
      * beta:narrow(3, t, 1):unsqueeze(4)
    all = all and roper.cat({ all, y:narrow(3, t, 1) }, 3) or y:narrow(3, t, 1)
    local i = t - (keys - queries)
    if i > 0 then
      list[i] = row(i, all)
    end
  end
  return roper.cat(list, 3)
end

-- qᵢ · H_i ⋯ H_{j+1} kⱼ
local function slow_scores(w, beta, q, k)
  local after = roper.zeros(k:shape(), k:dtype()):transpose(3, 4)
  return carried(w, beta, k, q:size(3), function(i, keys)
    return q:narrow(3, i, 1):matmul(roper.cat({ keys:transpose(3, 4),
      after:narrow(4, 1, k:size(3) - keys:size(3)) }, 4))
  end)
end

-- Σⱼ aᵢⱼ H_i ⋯ H_{j+1} vⱼ
local function slow_sums(w, beta, a, v)
  return carried(w, beta, v, a:size(3), function(i, values)
    return a:narrow(3, i, 1):narrow(4, 1, values:size(3)):matmul(values)
  end)
end

-- The result of f and its gradients.
local function with_gradients(f, upstream, ...)
  local list, leaves = {}, {}
  for i, x in ipairs({ ... }) do
    leaves[i] = x:detach():clone():parameter()
  end
  local y = f(table.unpack(leaves))
  y:backward(upstream)
  list[1] = y:detach()
  for i, leaf in ipairs(leaves) do
    list[i + 1] = leaf.grad or roper.zeros(leaf:shape(), leaf:dtype())
  end
  return list
end

local function in_blocks(method)
  return function(w, beta, a, b)
    local products = householder.new(w, beta)
    return products[method](products, a, b)
  end
end

local function unit(w)
  return w / w:square():sum(4, true):sqrt()
end

describe("Products of maps in blocks", function()
  local threads
  before_each(function()
    roper.seed(1)
    threads = roper.threads()
    roper.threads(1) -- more are slower for inputs this small
  end)
  after_each(function() roper.threads(threads) end)

  -- batch, heads, keys, queries, features
  for _, sizes in ipairs({ { 1, 1, 1, 1, 2 }, { 2, 3, 5, 5, 4 }, { 1, 2, 64, 64, 8 },
    { 2, 1, 65, 65, 3 }, { 1, 2, 150, 150, 4 }, { 1, 1, 193, 66, 3 }, { 1, 2, 130, 2, 4 },
    { 1, 2, 130, 3, 4 }, { 2, 2, 200, 1, 4 } }) do
    it(("agree with single maps: %d rows, %d heads, %d keys, %d queries"):format(
      table.unpack(sizes, 1, 4)), function()
      local batch, heads, keys, queries, features = table.unpack(sizes)
      local function normal(...)
        return roper.randn({ batch, heads, ... }, "float64")
      end
      local w, beta = unit(normal(keys, features)), normal(keys):sigmoid() * 2
      local seen = roper.arange(0, keys, 1, "float64"):le(
        roper.arange(keys - queries, keys, 1, "float64"):unsqueeze(2)):to("float64")
      local q, k = normal(queries, features), normal(keys, features)
      local a = normal(queries, keys) * seen
      local upstream = normal(queries, keys) * seen
      local expected = with_gradients(slow_scores, upstream, w, beta, q, k)
      local found = with_gradients(in_blocks("scores"), upstream, w, beta, q, k)
      found[1] = found[1] * seen
      for i = 1, 5 do
        arrays.close(expected[i], found[i], 1e-11)
      end
      upstream = normal(queries, features)
      expected = with_gradients(slow_sums, upstream, w, beta, a, k)
      found = with_gradients(in_blocks("sums"), upstream, w, beta, a, k)
      found[4] = found[4] * seen
      for i = 1, 5 do
        arrays.close(expected[i], found[i], 1e-11)
      end
    end)
  end

  it("stay exact if all tokens have almost the same direction", function()
    -- Here the powers of L, of which T is a sum, grow beyond 10^20.
    local w = unit(roper.ones({ 1, 1, 150, 4 }) + roper.randn({ 1, 1, 150, 4 }) * 1e-3)
    local beta = roper.full({ 1, 1, 150 }, 1.999)
    local q, k = roper.randn({ 1, 1, 150, 4 }), roper.randn({ 1, 1, 150, 4 })
    local seen = roper.ones({ 150, 150 }):tril()
    local expected = slow_scores(w:to("float64"), beta:to("float64"), q:to("float64"),
      k:to("float64"))
    arrays.close(expected, (in_blocks("scores")(w, beta, q, k) * seen):to("float64"), 2e-3)
  end)
end)
