local agreement = require("tests.agreement")
local arrays = require("tests.arrays")
local attention_gradients = require("tests.attention_gradients")
local gradients = require("tests.gradients")
local roper = require("roper")

local scheme = attention_gradients.scheme

for _, kind in ipairs({ "attention", "linear_attention" }) do
  local attend = roper[kind]

  local function check(options, sizes)
    attention_gradients.check(attend, options, sizes)
  end

  describe("gradients of " .. kind, function()
    before_each(function() roper.seed(1) end)

    for _, rotate in ipairs(agreement.subsets()) do
      it(('rotating "%s", both pairings, causal and not'):format(rotate), function()
        for _, pairing in ipairs({ "half", "interleaved" }) do
          for _, causal in ipairs({ false, true }) do
            check({ position = scheme(rotate, pairing), causal = causal })
          end
        end
      end)
    end

    it("rotating parts of the features, at any positions", function()
      check({ position = scheme("qkvo", "half", 0.5, 1), positions = { -1.5, 0, 40.25 } })
      check({ position = scheme("qkvo", "interleaved", 1, 0.5), offset = 131072, causal = true })
      check({ position = scheme("qkvo", "half"), positions = roper.randn({ 2, 3 }) * 9 },
        { batch = 2 })
      check({ position = scheme("qkvo", "half"), query_positions = { 1, 2 },
        key_positions = { 5, -2, 0.5 } }, { queries = 2 })
    end)

    it("for several batches and heads, other widths, fewer queries than keys", function()
      check({ position = scheme("qkvo"), causal = true }, { queries = 1, keys = 1 })
      check({ position = scheme("qkvo"), causal = true }, { batch = 2, heads = 2 })
      check({ position = scheme("qk"), causal = true }, { value_features = 3 })
      check({ position = scheme("qkvo"), causal = true }, { queries = 2, keys = 4 })
      check({ position = scheme("qkvo") }, { queries = 4, keys = 2 })
      check({ causal = true }, { features = 1, value_features = 1 })
    end)

    it("for heads of queries that share heads of keys and values", function()
      check({ position = scheme("qkvo"), causal = true }, { batch = 2, heads = 4, shared = 2 })
      check({ position = scheme("qk") }, { heads = 3, shared = 1, queries = 2, value_features = 3 })
      if kind == "attention" then
        check({ position = "rope+alibi", causal = true }, { heads = 4, shared = 2 })
        check({ bias = roper.randn({ 1, 1, 3, 3 }, "float64"):parameter() },
          { batch = 2, heads = 4, shared = 2 })
      end
    end)

    it("for inputs of any memory layout", function()
      check({ position = scheme("qkvo"), causal = true }, { batch = 2, heads = 2, layouts = true })
      check({}, { batch = 2, layouts = true })
    end)

    it("of one input used three times", function()
      gradients.check(function(x)
        return (attend(x, x, x, { position = scheme("qkvo"), causal = true }))
      end, { { 1, 2, 3, 4 } })
    end)

    it("of each input alone", function()
      local others = { agreement.inputs({ keys = 3, features = 4 }) }
      for i = 1, 3 do
        gradients.check(function(x)
          local inputs = { others[1], others[2], others[3] }
          inputs[i] = x
          return (attend(inputs[1], inputs[2], inputs[3], { position = scheme("qkvo") }))
        end, { { 1, 1, 3, 4 } }, { layouts = false })
      end
    end)
  end)
end

describe("gradients of attention", function()
  before_each(function() roper.seed(1) end)

  local function check(options, sizes)
    attention_gradients.check(roper.attention, options, sizes)
  end

  it("with a scale", function()
    check({ scale = -0.7 })
  end)

  it("for more queries than one tile holds", function()
    check({ position = scheme("qkvo"), causal = true }, { queries = 70, keys = 70 })
  end)

  it("with masks", function()
    local mask = roper.rand({ 2, 1, 3, 3 }):lt(0.6)
    check({ position = scheme("qkvo"), mask = mask }, { batch = 2, heads = 2 })
    check({ position = scheme("qkvo"), mask = mask[1][1]:transpose(1, 2), causal = true })
  end)

  it("with dropout of a fixed seed, causal and not", function()
    for _, causal in ipairs({ false, true }) do
      check({ position = scheme("qkvo"), causal = causal, dropout = 0.4, seed = 7 },
        { heads = 2, queries = 5, keys = 5 })
    end
  end)

  it("are 0 for a query whose keys are all masked and for a key masked for all queries", function()
    for _, dtype in ipairs({ "float32", "float64" }) do
      local inputs = { agreement.inputs({ keys = 5, features = 4 }) }
      for i, x in ipairs(inputs) do
        inputs[i] = x:to(dtype):parameter()
      end
      local mask = roper.ones({ 5, 5 }, "int32")
      mask[2], mask[{ {}, 4 }] = 0, 0
      local y = roper.attention(inputs[1], inputs[2], inputs[3],
        { position = scheme("qkvo"), mask = mask })
      y:square():sum():backward()
      for i, x in ipairs(inputs) do
        local gradient = x.grad[{ 1, 1 }]
        assert.is_true(gradient:abs():max():item() < math.huge)
        assert.equal(0, gradient[i == 1 and 2 or 4]:abs():max():item())
        assert.is_true(gradient[1]:abs():max():item() > 0)
      end
    end
  end)

  it("agree in float32 and float64 at 641 positions", function()
    local results = {}
    local inputs = { agreement.inputs() }
    local dy = roper.randn({ 1, 1, 641, 8 }, "float64")
    for _, dtype in ipairs({ "float32", "float64" }) do
      local copies = {}
      for i, x in ipairs(inputs) do
        copies[i] = x:to(dtype):clone():parameter()
      end
      roper.attention(copies[1], copies[2], copies[3], { position = "roper", causal = true })
        :backward(dy:to(dtype))
      results[dtype] = roper.cat({ copies[1].grad, copies[2].grad, copies[3].grad })
    end
    arrays.close(results.float64, results.float32, 1e-4)
  end)

  it("are rejected after a mask or an input was changed in place", function()
    for changed = 1, 4 do -- q, k, v, mask
      local x = roper.randn({ 1, 1, 3, 4 })
      local mask = roper.ones({ 3, 3 }, "int32")
      local inputs = { x:clone(), x:clone(), x:clone():parameter(), mask }
      local y = roper.attention(inputs[1], inputs[2], inputs[3], { mask = inputs[4] })
      inputs[changed]:fill(1)
      assert.error_matches(function() y:sum():backward() end,
        'that "attention" needs was changed in place')
    end
  end)
end)

describe("gradients of attention, of large scores", function()
  -- Scores c, c, c - 1000 of each query, a bias or the products: weights of a half, a half and 0.
  for _, queries in ipairs({ 1, 60 }) do
    for _, dtype in ipairs({ "float32", "float64" }) do
      it(("are those of small ones: %d queries, %s"):format(queries, dtype), function()
        local v = roper.tensor({ { { { 1 }, { 2 }, { 3 } } } }, dtype)
        for _, c in ipairs({ 0, 1e4, -1e6, 1e7, 1e8 }) do
          local q = roper.ones({ 1, 1, queries, 1 }, dtype)
          local scores = roper.tensor({ c, c, c - 1000 }, dtype)
          local k, bias = scores:view({ 1, 1, 3, 1 }):parameter(), scores:clone():parameter()
          local values = v:clone():parameter()
          local o = roper.attention(q, k, values, { scale = 1 })
            + roper.attention(q, roper.zeros({ 1, 1, 3, 1 }, dtype), values, { bias = bias })
          arrays.close(roper.full({ 1, 1, queries, 1 }, 3, dtype), o, 1e-6)
          o:mean():backward()
          local expected = roper.tensor({ -0.25, 0.25, 0 }, dtype)
          arrays.close(expected, k.grad:view({ 3 }), 1e-6, tostring(c))
          arrays.close(expected, bias.grad, 1e-6, tostring(c))
          arrays.close(roper.tensor({ 1, 1, 0 }, dtype), values.grad:view({ 3 }), 1e-6, tostring(c))
        end
      end)
    end
  end
end)
