local agreement = require("tests.agreement")
local gradients = require("tests.gradients")
local roper = require("roper")

-- Biases of every broadcast shape for scores [2, 3, queries, keys].
local function shapes(queries, keys)
  return { { 2, 3, queries, keys }, { 1, 3, queries, keys }, { 2, 1, queries, keys },
    { queries, keys }, { keys }, { 2, 3, queries, 1 }, { 2, 1, 1, keys }, { 1 }, {} }
end

--- A number for each head and distance, seen at each query and key.
local function by_distance(b, queries, keys)
  return b:as_strided({ b:size(1), queries, keys }, { b:size(2), -1, 1 }, queries - 1)
end

describe("attention with a bias", function()
  before_each(function() roper.seed(1) end)

  it("adds it to the scores, for any shape and strides", function()
    for _, sizes in ipairs({ { 70, 70 }, { 3, 50 }, { 9, 9 } }) do
      local queries, keys = table.unpack(sizes)
      local inputs = { agreement.inputs({ batch = 2, heads = 3, queries = queries, keys = keys }) }
      for i, shape in ipairs(shapes(queries, keys)) do
        local bias = roper.randn(shape)
        local options = { causal = i % 2 == 0, position = "roper" }
        agreement.check(inputs, options, function(q, k, v, o)
          return roper.attention(q, k, v, { bias = bias:to(q:dtype()), causal = o.causal,
            position = o.position })
        end, function(q, k, v, o)
          return (roper.oracle.attention(q, k, v, { bias = bias:to("float64"), causal = o.causal,
            position = o.position }))
        end)
      end
    end
  end)

  it("is a softmax of the scaled products plus the bias", function()
    local q, k = roper.randn({ 2, 3, 5, 4 }, "float64"), roper.randn({ 2, 3, 7, 4 }, "float64")
    local bias = roper.randn({ 3, 5, 7 }, "float64")
    local expected = (q:matmul(k:transpose(3, 4)) * 0.3 + bias):softmax(4)
    local found = roper.attention_weights(q, k, { bias = bias, scale = 0.3 })
    assert.is_true((found - expected):abs():max():item() < 1e-14)
    local _, weights = roper.oracle.attention(q, k, k, { bias = bias, scale = 0.3 })
    assert.is_true((weights - expected):abs():max():item() < 1e-14)
  end)

  it("reads and trains strided keys like contiguous ones", function()
    local queries, keys = 55, 70
    local count = queries + keys - 1
    local q = roper.randn({ 2, 3, queries, 4 }, "float64")
    local k = roper.randn({ 2, 3, keys, 4 }, "float64")
    local dy = roper.randn(q:shape(), "float64")
    local values = roper.randn({ 2, 3, keys, count }, "float64")
    for _, causal in ipairs({ true, false }) do
      local function run(pack)
        local source = values:clone():parameter()
        local bias = source:as_strided({ 2, 3, queries, keys },
          { 3 * keys * count, keys * count, -1, count + 1 }, queries - 1)
        local o = roper.attention(q, k, k, { bias = pack and bias * 1 or bias, causal = causal })
        o:backward(dy)
        return o:detach(), source.grad
      end
      local apart, d_apart = run(false)
      local packed, d_packed = run(true)
      assert.equal(0, (apart - packed):abs():max():item())
      assert.is_true((d_apart - d_packed):abs():max():item() < 1e-14)
    end
  end)

  it("sums a list of biases", function()
    local q = roper.randn({ 1, 2, 6, 4 }, "float64")
    local a, b = roper.randn({ 2, 6, 1 }, "float64"), roper.randn({ 6 }, "float64")
    local both = roper.attention(q, q, q, { bias = { a, b } })
    assert.is_true((both - roper.attention(q, q, q, { bias = a + b })):abs():max():item() < 1e-14)
    assert.is_true((roper.attention(q, q, q, { bias = {} }) - roper.attention(q, q, q)):abs():max()
      :item() == 0)
  end)

  it("masks keys by minus infinity, also all keys of a query", function()
    local q = roper.randn({ 1, 1, 6, 4 })
    local mask = roper.rand({ 6, 6 }):gt(0.5)
    mask[2] = 0
    local bias = roper.where(mask, roper.zeros({ 6, 6 }), -math.huge)
    assert.is_true((roper.attention(q, q, q, { bias = bias })
      - roper.attention(q, q, q, { mask = mask })):abs():max():item() == 0)
  end)

  -- Shapes of biases by distance for scores [2, 3, queries, keys], and first distances.
  local function by_distance_cases(queries, keys)
    return { { { 2, 3, queries, 1, 9 }, -4 }, { { 1, 3, 1, keys, 4 }, 2 },
      { { 2, 1, 1, 1, 3 }, -1 }, { { 1, 1, 1, 1, 1 }, 0 }, { { 2, 3, queries, keys, 2 }, -1 },
      { { 2, 3, queries, 1, 200 }, -100 }, { { 1, 1, 1, keys, 2 }, 1000 },
      { { 1, 3, queries, 1, 2 }, -1000 } }
  end

  it("reads a bias of five axes by distance, clipped at its ends", function()
    for _, sizes in ipairs({ { 70, 70 }, { 3, 50 }, { 9, 9 } }) do
      local queries, keys = table.unpack(sizes)
      local inputs = { agreement.inputs({ batch = 2, heads = 3, queries = queries, keys = keys }) }
      for i, case in ipairs(by_distance_cases(queries, keys)) do
        local bias = { roper.randn({ keys }), roper.randn(case[1]) }
        agreement.check(inputs, { causal = i % 2 == 0 }, function(q, k, v, o)
          return roper.attention(q, k, v, { bias = { bias[1]:to(q:dtype()), bias[2]:to(q:dtype()) },
            first = { 0, case[2] }, causal = o.causal })
        end, function(q, k, v, o)
          return (roper.oracle.attention(q, k, v, { bias = { bias[1]:to("float64"),
            bias[2]:to("float64") }, first = case[2], causal = o.causal }))
        end)
      end
    end
  end)

  it("of five axes is a gather by the clipped distance", function()
    local q, k = roper.randn({ 1, 1, 3, 4 }, "float64"), roper.randn({ 1, 1, 4, 4 }, "float64")
    local bias = roper.randn({ 1, 1, 3, 1, 3 }, "float64")
    local place = roper.tensor({ { { { 2, 3, 3, 3 }, { 1, 2, 3, 3 }, { 1, 1, 2, 3 } } } }, "int32")
    local plain = bias:squeeze(4):gather(4, place)
    local by = { bias = bias, first = -1 }
    assert.is_true((roper.attention_weights(q, k, by)
      - roper.attention_weights(q, k, { bias = plain })):abs():max():item() < 1e-15)
    local _, weights = roper.oracle.attention(q, k, k, by)
    assert.is_true((weights - roper.attention_weights(q, k, by)):abs():max():item() < 1e-15)
  end)

  it("passes on the gradient of a bias by distance", function()
    for i, case in ipairs(by_distance_cases(5, 7)) do
      gradients.check(function(q, k, v, bias)
        return (roper.attention(q, k, v, { bias = bias, first = case[2], causal = i % 2 == 0 }))
      end, { { 2, 3, 5, 2 }, { 2, 3, 7, 2 }, { 2, 3, 7, 2 }, case[1] }, { layouts = i == 1 })
    end
  end)

  it("passes on its gradient, summed over broadcast axes", function()
    for i, shape in ipairs(shapes(5, 7)) do
      gradients.check(function(q, k, v, bias)
        return (roper.attention(q, k, v, { bias = bias, causal = i % 2 == 0, position = "roper",
          dropout = i == 1 and 0.3 or 0, seed = 3 }))
      end, { { 2, 3, 5, 2 }, { 2, 3, 7, 2 }, { 2, 3, 7, 2 }, shape }, { layouts = i == 4 })
    end
  end)

  it("passes on the gradient of a strided view to the underlying tensor", function()
    for _, causal in ipairs({ true, false }) do
      gradients.check(function(q, k, v, b, r, few)
        return (roper.attention(q, k, v, { causal = causal, bias = {
          by_distance(b, 5, 7),
          r:as_strided({ 2, 3, 5, 7 }, { 165, 55, 10, 1 }, 4), -- relative shift
          few:as_strided({ 2, 3, 5, 7 }, { 1, 1, 1, 1 }, 0),   -- units meet in it
        } }))
      end, { { 2, 3, 5, 2 }, { 2, 3, 7, 2 }, { 2, 3, 7, 2 }, { 3, 11 }, { 2, 3, 5, 11 }, { 16 } },
        { layouts = false })
    end
  end)

  it("has the same gradient with and without a view, for more than one tile", function()
    local q = roper.randn({ 2, 3, 70, 4 }, "float64")
    local b = roper.randn({ 3, 139 }, "float64")
    local function gradient(view)
      local parameter = b:clone():parameter()
      roper.attention(q, q, q, { causal = true, bias = view(by_distance(parameter, 70, 70)) })
        :square():sum():backward()
      return parameter.grad
    end
    local direct = gradient(function(x) return x end)
    local whole = gradient(function(x) return x * 1 end)
    assert.is_true(whole:abs():max():item() > 1e-3)
    assert.is_true((direct - whole):abs():max():item() < 1e-12)
  end)

  -- Otherwise two threads would add to the same element at the same time.
  it("sums the gradient of each score first, if heads share elements of a view", function()
    local q = roper.randn({ 2, 3, 70, 4 })
    local b = roper.randn({ 143 })
    local function gradient(view)
      local parameter = b:clone():parameter()
      local bias = parameter:as_strided({ 2, 3, 70, 70 }, { 1, 1, 1, 1 }, 0)
      roper.attention(q, q, q, { bias = view(bias) }):square():sum():backward()
      return parameter.grad
    end
    local direct = gradient(function(x) return x end)
    local whole = gradient(function(x) return x * 1 end)
    assert.equal(0, (direct - whole):abs():max():item())
  end)

  it("does not allocate a gradient of all scores for a bias by distance", function()
    local q = roper.randn({ 8, 2, 512, 4 })
    local b = roper.randn({ 2, 1023 }):parameter()
    roper.attention(q, q, q, { bias = by_distance(b, 512, 512) }):sum():backward()
    b.grad = nil
    collectgarbage()
    local y = roper.attention(q, q, q, { bias = by_distance(b, 512, 512) }):sum()
    local before = roper.memory().live
    roper.threads(1)
    roper.memory_limit(before + 8 * 512 * 512)  -- less than the scores of four heads
    local ok, message = pcall(y.backward, y)
    roper.memory_limit(0)
    assert.is_true(ok, message)
  end)

  it("gives the same bits with any number of threads", function()
    local q = roper.randn({ 4, 3, 70, 8 })
    local b = roper.randn({ 3, 139 })
    local threads, found = roper.threads(), {}
    for count = 1, 2 do
      roper.threads(count)
      local parameter = b:clone():parameter()
      roper.attention(q, q, q, { bias = by_distance(parameter, 70, 70) }):square():sum():backward()
      found[count] = parameter.grad
    end
    roper.threads(threads)
    assert.equal(0, (found[1] - found[2]):abs():max():item())
  end)

  it("is rejected if its shape or dtype does not match", function()
    local q = roper.randn({ 2, 3, 5, 4 })
    local function refused(message, bias)
      assert.error_matches(function() roper.attention(q, q, q, { bias = bias }) end, message)
    end
    refused("bias: expected float32 that broadcasts to %[2, 3, 5, 5%], got float32 %[4%]",
      roper.zeros({ 4 }))
    refused("got float64 %[5%]", roper.zeros({ 5 }, "float64"))
    refused("got int32 %[5%]", roper.zeros({ 5 }, "int32"))
    refused("got float32 %[1, 2, 3, 5, 5%]", roper.zeros({ 1, 2, 3, 5, 5 }))
    local one = roper.zeros({ 5 })
    refused("a list of at most 4 tensors, got 5", { one, one, one, one, one })
    refused("option bias: expected a tensor or a table, got 3", 3)
    refused("bias: expected float32 that broadcasts to .*, got float32 %[2, 3, 5, 2, 4%]",
      roper.zeros({ 2, 3, 5, 2, 4 }))
    refused("bias: .*, got float32 %[1, 1, 1, 1, 0%]", roper.zeros({ 1, 1, 1, 1, 0 }))
    for first, message in pairs({ [1.5] = "option first: expected an integer or a table, got 1.5",
      ["x"] = 'option first: expected an integer or a table, got "x"',
      [2 ^ 31] = "expected distances within 2147483647",
      [{ 1, 2 }] = "option first: expected one for each of 1 biases, got 2" }) do
      for _, position in ipairs({ "rope", "alibi" }) do
        assert.error_matches(function()
          roper.attention(q, q, q, { bias = roper.zeros({ 1, 1, 1, 1, 1 }), first = first,
            position = position })
        end, message)
      end
    end
    local y = roper.attention(q:clone():parameter(), q, q, { bias = one })
    one:fill(1)
    assert.error_matches(function() y:sum():backward() end, "was changed in place")
  end)
end)
