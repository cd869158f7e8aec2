local agreement = require("tests.agreement")
local arrays = require("tests.arrays")
local gradients = require("tests.gradients")
local roper = require("roper")

local function scheme(rotate, pairing, fraction, value_fraction)
  return roper.position.rope({ dim = 4, rotate = rotate, pairing = pairing, fraction = fraction,
    value_fraction = value_fraction, base = 50 })
end

--- Check the gradients of q, k and v of shapes {B, H, Tq, d}, {B, H, Tk, d}, {B, H, Tk, dv}.
local function check(options, o)
  o = o or {}
  local batch, heads, queries, keys = o.batch or 1, o.heads or 1, o.queries or 3, o.keys or 3
  gradients.check(function(q, k, v) return roper.linear_attention(q, k, v, options) end, {
    { batch, heads, queries, o.features or 4 },
    { batch, heads, keys, o.features or 4 },
    { batch, heads, keys, o.value_features or 4 },
  }, { layouts = o.layouts or false })
end

--- The gradients that differentiation of the explicit weights gives: every product is there.
local function explicit(q, k, v, dy, options)
  local position, places = options.position, roper.arange(0, q:size(3), 1, "float64")
  local inputs = { q:clone():parameter(), k:clone():parameter(), v:clone():parameter() }
  local function features(x)
    return roper.where(x:gt(0), x + 1, roper.minimum(x, 0):exp())
  end
  local query, key = features(inputs[1]), features(inputs[2])
  local weights = position:rotate(query, places, "q")
    :matmul(position:rotate(key, places, "k"):transpose(3, 4))
  local sums = query:matmul(key:transpose(3, 4))
  if options.causal then
    local seen = places:view({ 1, -1 }):le(places:view({ -1, 1 })):to("float64")
    weights, sums = weights * seen, sums * seen
  end
  local y = (weights / (sums:sum(4, true) + 1e-6)):matmul(position:rotate(inputs[3], places, "v"))
  position:unrotate(y, places, "o"):backward(dy)
  return roper.cat({ inputs[1].grad, inputs[2].grad, inputs[3].grad })
end

describe("gradients of linear attention", function()
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

  it("for one place, other widths, fewer queries than keys, and a large epsilon", function()
    check({ position = scheme("qkvo"), causal = true }, { queries = 1, keys = 1 })
    check({ position = scheme("qkvo"), causal = true }, { batch = 2, heads = 2 })
    check({ position = scheme("qk"), causal = true }, { value_features = 3 })
    check({ position = scheme("qkvo"), causal = true }, { queries = 2, keys = 4 })
    check({ position = scheme("qkvo") }, { queries = 4, keys = 2 })
    check({ causal = true }, { features = 1, value_features = 1 })
    check({ causal = true, epsilon = 3 })
  end)

  it("across the edge of a chunk", function()
    check({ position = scheme("qkvo"), causal = true }, { queries = 65, keys = 67 })
    check({ position = scheme("qk") }, { queries = 2, keys = 65, value_features = 2 })
  end)

  it("for inputs that lie in memory in any way", function()
    check({ position = scheme("qkvo"), causal = true }, { batch = 2, heads = 2, layouts = true })
    check({}, { batch = 2, layouts = true })
  end)

  it("of one input used three times", function()
    gradients.check(function(x)
      return roper.linear_attention(x, x, x, { position = scheme("qkvo"), causal = true })
    end, { { 1, 2, 3, 4 } })
  end)

  it("of each input alone", function()
    local others = { agreement.inputs({ keys = 3, features = 4 }) }
    for i = 1, 3 do
      gradients.check(function(x)
        local inputs = { others[1], others[2], others[3] }
        inputs[i] = x
        return roper.linear_attention(inputs[1], inputs[2], inputs[3],
          { position = scheme("qkvo") })
      end, { { 1, 1, 3, 4 } }, { layouts = false })
    end
  end)

  it("are those of the explicit weights at 641 places, in both precisions", function()
    for _, causal in ipairs({ false, true }) do
      local options = { position = roper.position.roper({ dim = 8 }), causal = causal }
      local inputs = { agreement.inputs() }
      local dy = roper.randn({ 1, 1, 641, 8 }, "float64")
      local expected = explicit(inputs[1], inputs[2], inputs[3], dy, options)
      for dtype, tolerance in pairs({ float64 = 1e-12, float32 = 2e-5 }) do
        local copies = {}
        for i, x in ipairs(inputs) do
          copies[i] = x:to(dtype):clone():parameter()
        end
        roper.linear_attention(copies[1], copies[2], copies[3], options):backward(dy:to(dtype))
        arrays.close(expected, roper.cat({ copies[1].grad, copies[2].grad, copies[3].grad }),
          tolerance, dtype)
      end
    end
  end)

  it("are refused once an input was changed in place", function()
    for changed = 1, 3 do
      local x = roper.randn({ 1, 1, 3, 4 })
      local inputs = { x:clone(), x:clone(), x:clone() }
      inputs[changed % 3 + 1]:parameter()
      local y = roper.linear_attention(inputs[1], inputs[2], inputs[3])
      inputs[changed]:fill(1)
      assert.error_matches(function() y:sum():backward() end,
        'that "linear_attention" needs was changed in place')
    end
  end)
end)
