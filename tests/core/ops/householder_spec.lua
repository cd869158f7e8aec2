local arrays = require("tests.arrays")
local gradients = require("tests.gradients")
local roper = require("roper")

-- Calls `row` for each query with yⱼ of the tokens up to its own after the maps j + 1 to i, applied
-- one after the other. Returns the rows.
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

local function unit(w)
  return w / w:square():sum(4, true):sqrt()
end

-- Random inputs: w of length 1, beta, queries, keys, and weights with numbers for all keys.
local function inputs(sizes, dtype)
  local batch, heads, keys, queries, features = table.unpack(sizes)
  local function normal(...)
    return roper.randn({ batch, heads, ... }, dtype)
  end
  return unit(normal(keys, features)), normal(keys):sigmoid() * 2, normal(queries, features),
    normal(keys, features), normal(queries, keys)
end

-- 1 for the keys that a query sees, else 0.
local function seen_by(keys, queries, dtype)
  return roper.ones({ queries, keys }, dtype):tril(keys - queries)
end

local function scores(w, beta, q, k)
  return roper.householder_scores(q, k, w, beta)
end

local function sums(w, beta, a, v)
  return roper.householder_sums(a, v, w, beta)
end

local function check(expected, found, tolerance)
  for i = 1, 5 do
    arrays.close(expected[i], found[i], tolerance)
  end
end

describe("householder_scores and householder_sums", function()
  local threads
  before_each(function()
    roper.seed(1)
    threads = roper.threads()
  end)
  after_each(function() roper.threads(threads) end)

  -- batch, heads, keys, queries, features; panels have 128 queries or fewer
  for _, sizes in ipairs({ { 1, 1, 1, 1, 2 }, { 2, 3, 5, 5, 4 }, { 1, 2, 64, 64, 8 },
    { 2, 1, 65, 65, 3 }, { 1, 2, 150, 150, 4 }, { 1, 1, 193, 66, 3 }, { 1, 2, 130, 2, 4 },
    { 1, 1, 300, 200, 20 }, { 2, 2, 200, 1, 4 }, { 1, 2, 17, 17, 33 } }) do
    it(("agree with single maps: %d rows, %d heads, %d keys, %d queries"):format(
      table.unpack(sizes, 1, 4)), function()
      roper.threads(1) -- more are slower for inputs this small
      local keys, queries = sizes[3], sizes[4]
      local w, beta, q, k, a = inputs(sizes, "float64")
      local seen = seen_by(keys, queries, "float64")
      local upstream = roper.randn(a:shape(), "float64")
      check(with_gradients(slow_scores, upstream * seen, w, beta, q, k),
        with_gradients(scores, upstream, w, beta, q, k), 1e-11)
      upstream = roper.randn(q:shape(), "float64")
      check(with_gradients(slow_sums, upstream, w, beta, a * seen, k),
        with_gradients(sums, upstream, w, beta, a, k), 1e-11)
    end)
  end

  it("differ from the products in the opposite order", function()
    local w, beta, q, k = inputs({ 1, 1, 6, 6, 4 }, "float64")
    local expected = slow_scores(w, beta, q, k)
    local opposite = scores(w, beta, k, q):transpose(3, 4)
    assert.is_true((expected - opposite):abs():narrow(3, 6, 1):max():item() > 0.1)
  end)

  it("agree with single maps for every layout, in both precisions", function()
    arrays.each_seed(20, function(seed)
      local batch, heads, keys = math.random(0, 2), math.random(0, 3), math.random(0, 40)
      local queries, features = math.random(0, keys), math.random(0, 20)
      local function random(...)
        return arrays.random_layout({ batch, heads, ... }, seed % 2 == 0 and "float32" or "float64")
      end
      local w, beta = random(keys, features), random(keys)
      w, beta = w / (w:square():sum(4, true) + 1):sqrt(), beta:sigmoid() * 2
      local q, k, a = random(queries, features), random(keys, features), random(queries, keys)
      local s, y = scores(w, beta, q, k), sums(w, beta, a, k)
      assert.same({ batch, heads, queries, keys }, arrays.from(s).shape)
      assert.same({ batch, heads, queries, features }, arrays.from(y).shape)
      if batch * heads * queries > 0 then
        arrays.close(slow_scores(w, beta, q, k), s, 1e-4)
        arrays.close(slow_sums(w, beta, a * seen_by(keys, queries, a:dtype()), k), y, 1e-4)
      end
    end)
  end)

  it("stay exact if all tokens have almost the same direction", function()
    local w = unit(roper.ones({ 1, 1, 150, 4 }) + roper.randn({ 1, 1, 150, 4 }) * 1e-3)
    local beta = roper.full({ 1, 1, 150 }, 1.999)
    local q, k = roper.randn({ 1, 1, 150, 4 }), roper.randn({ 1, 1, 150, 4 })
    local expected = slow_scores(w:to("float64"), beta:to("float64"), q:to("float64"),
      k:to("float64"))
    arrays.close(expected, scores(w, beta, q, k):to("float64"), 2e-3)
  end)

  it("have the gradients of all inputs, together and alone", function()
    local shapes = { { 2, 1, 4, 3 }, { 2, 1, 4 }, { 2, 1, 3, 3 }, { 2, 1, 4, 3 } }
    gradients.check(function(w, ...) return scores(w * 0.5, ...):sin() end, shapes)
    shapes[3] = { 2, 1, 3, 4 }
    gradients.check(function(w, ...) return sums(w * 0.5, ...):sin() end, shapes)
    local w, beta, q, k = inputs({ 1, 2, 5, 5, 3 }, "float64")
    local given = { w, beta, q, k }
    for i, x in ipairs(given) do
      gradients.check(function(z)
        local all = { table.unpack(given) }
        all[i] = z
        return scores(table.unpack(all)):sin()
      end, { arrays.from(x).shape }, { layouts = false })
    end
  end)

  it("do not see later tokens", function()
    local w, beta, q, k, a = inputs({ 1, 2, 50, 50, 8 }, "float32")
    local function early(f, ...)
      return f(...):narrow(3, 1, 30)
    end
    local before_scores, before_sums = early(scores, w, beta, q, k), early(sums, w, beta, a, k)
    for _, x in ipairs({ w, beta, k }) do
      x:narrow(3, 31, 20):fill(0 / 0)
    end
    arrays.close(before_scores, early(scores, w, beta, q, k), 0)
    arrays.close(before_sums, early(sums, w, beta, a, k), 0)
    assert.is_true(sums(w, beta, a, k):narrow(3, 31, 20):isnan():all())
  end)

  it("are the same with one thread and with two", function()
    local results = {}
    local w, beta, q, k, a = inputs({ 2, 3, 140, 140, 8 }, "float32")
    local upstream = { roper.randn(a:shape()), roper.randn(q:shape()) }
    for n = 1, 2 do
      roper.threads(n)
      results[n] = { with_gradients(scores, upstream[1], w, beta, q, k),
        with_gradients(sums, upstream[2], w, beta, a, k) }
    end
    for i = 1, 2 do
      check(results[1][i], results[2][i], 0)
    end
  end)

  it("reject shapes and dtypes that do not match", function()
    local w, beta, q, k, a = inputs({ 1, 2, 5, 4, 3 }, "float32")
    local more = inputs({ 1, 2, 6, 6, 3 }, "float32")
    for _, case in ipairs({ { q[1], k, w, beta }, { more, k, w, beta }, { q, k, w, k },
      { q, more, w, beta }, { q, k, more, beta }, { q, k, w, beta:to("float64") },
      { q:to("int32"), k:to("int32"), w:to("int32"), beta:to("int32") } }) do
      assert.error_matches(function() roper.householder_scores(table.unpack(case)) end,
        "householder_scores: expected floats of the same dtype, q [batch, heads, queries, "
          .. "features], k and w [batch, heads, keys, features] and beta [batch, heads, keys], "
          .. "with at most as many queries as keys, got ", 1, true)
    end
    for _, case in ipairs({ { a:narrow(4, 1, 4), k, w, beta }, { a, q, w, beta } }) do
      assert.error_matches(function() roper.householder_sums(table.unpack(case)) end,
        "householder_sums: expected floats of the same dtype, a [batch, heads, queries, keys]", 1,
        true)
    end
  end)
end)
