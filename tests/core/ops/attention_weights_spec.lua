local agreement = require("tests.agreement")
local arrays = require("tests.arrays")
local roper = require("roper")

--- Inputs, and what attention returns for them when it is asked for weights.
local function attend(options)
  local q, k, v = agreement.inputs({ batch = 2, heads = 3, keys = 70 })
  options.weights = true
  local output, weights = roper.attention(q, k, v, options)
  return q, k, v, output, weights
end

describe("the weights that attention returns", function()
  before_each(function() roper.seed(1) end)

  it("are those of the oracle", function()
    for _, options in ipairs({
      { position = "none" },
      { position = "rope", causal = true },
      { position = { type = "roper", pairing = "interleaved", fraction = 0.5 }, offset = 131072 },
      { position = "rope", mask = roper.rand({ 70, 70 }):lt(0.5), causal = true },
      { position = "rope", scale = 0.2, positions = roper.randn({ 2, 70 }) * 100 },
    }) do
      local q, k, v, _, weights = attend(options)
      local _, expected = roper.oracle.attention(q, k, v, options)
      arrays.close(expected, weights, 1e-12)
      arrays.close(expected, roper.attention_weights(q, k, options), 1e-12)
      local single = roper.attention_weights(q:to("float32"), k:to("float32"), options)
      arrays.close(expected, single, 1e-6)
    end
  end)

  it("sum to 1, and are 0 after the query if causal", function()
    local _, _, _, _, weights = attend({ position = "roper", causal = true })
    arrays.close(roper.ones({ 2, 3, 70 }, "float64"), weights:sum(4), 1e-13)
    local place = roper.arange(0, 70)
    local later = place:view({ 1, 70 }):gt(place:view({ 70, 1 }))
    assert.equal(0, (weights * later:to("float64")):abs():max():item())
    assert.is_true(weights:min():item() >= 0)
  end)

  it("are 0 for a query whose keys are all masked", function()
    local mask = roper.ones({ 70, 1 }, "int32")
    mask[5] = 0
    local _, _, _, output, weights = attend({ mask = mask })
    assert.equal(0, weights[{ {}, {}, 5 }]:abs():max():item())
    assert.equal(0, output[{ {}, {}, 5 }]:abs():max():item())
  end)

  it("are those before dropout, and draw no random numbers", function()
    local options = { dropout = 0.5, position = "rope" }
    local q, k, v, output, weights = attend(options)
    local seed, counter = roper.random_state()
    arrays.close(roper.ones({ 2, 3, 70 }, "float64"), weights:sum(4), 1e-13)
    arrays.close(roper.attention_weights(q, k, options), weights, 0)
    assert.same({ seed, counter }, { roper.random_state() })
    roper.seed(1)
    agreement.inputs({ batch = 2, heads = 3, keys = 70 })
    options.weights = nil
    arrays.close(output, roper.attention(q, k, v, options), 0)
    assert.same({ seed, counter }, { roper.random_state() })
  end)

  it("give the output of RoPE when multiplied with the values", function()
    local _, _, v, output, weights = attend({ position = "rope", causal = true })
    arrays.close(output, roper.matmul(weights, v), 1e-13)
    arrays.close(output, weights:matmul(v), 1e-13)
  end)

  it("are a plain tensor, independent of later changes of inputs and options", function()
    local q, k, v = agreement.inputs({ batch = 2, heads = 3, keys = 5 })
    local options = { causal = true, weights = true }
    local expected = roper.attention_weights(q, k, { causal = true })
    local _, weights = roper.attention(q, k, v, options)
    options.causal = nil
    q:fill(0)
    assert.is_true(roper.format.is_tensor(weights))
    arrays.close(expected, weights, 0)
  end)

  it("are returned only on request", function()
    local q = roper.ones({ 1, 1, 3, 4 })
    for _, options in ipairs({ {}, { weights = false }, { causal = true } }) do
      assert.equal(1, select("#", roper.attention(q, q, q, options)))
    end
    assert.equal(1, select("#", roper.attention(q, q, q)))
    assert.equal(2, select("#", roper.attention(q, q, q, { weights = true })))
  end)

  it("are not recorded in the graph", function()
    local q = roper.randn({ 1, 1, 3, 4 }):parameter()
    local _, weights = roper.attention(q, q, q, { weights = true })
    assert.error_matches(function() weights:sum():backward() end, "computed from a parameter")
  end)
end)

describe("dropout of the weights", function()
  it("keeps the output in the mean", function()
    roper.seed(2)
    local q, k, v = agreement.inputs({ keys = 30 })
    local mean, count = roper.zeros(v:shape(), "float64"), 400
    for seed = 1, count do
      mean = mean + roper.attention(q, k, v, { position = "roper", dropout = 0.3, seed = seed })
        / count
    end
    local expected = roper.attention(q, k, v, { position = "roper" })
    assert.is_true((mean - expected):abs():mean():item() < 0.02)
    assert.is_true((mean - expected):abs():max():item() < 0.15)
  end)

  it("drops each weight independently, with the right probability", function()
    local time = 200 -- values are unit vectors: the output is the row of weights
    local q = roper.zeros({ 1, 2, time, 4 })
    local v = roper.eye(time):expand({ 1, 2, time, time })
    local y = roper.attention(q, q, v, { dropout = 0.25, seed = 3 }) * (time * 0.75)
    local dropped = y:eq(0):to("float64"):mean():item()
    assert.is_true(math.abs(dropped - 0.25) < 5 * math.sqrt(0.25 * 0.75 / (2 * time * time)))
    assert.is_true((y * (y - 1)):abs():max():item() < 1e-5)
    assert.is_true(y[1][1]:eq(y[1][2]):to("float32"):mean():item() < 0.7)
  end)

  it("depends on its seed, not on the number of threads", function()
    local threads = roper.threads()
    roper.seed(4)
    local q, k, v = agreement.inputs({ batch = 2, heads = 2, keys = 100 })
    local function attend_with(seed)
      return roper.attention(q, k, v, { dropout = 0.5, seed = seed, causal = true })
    end
    roper.threads(1)
    local one = attend_with(1)
    roper.threads(2)
    arrays.close(one, attend_with(1), 0)
    assert.is_true((one - attend_with(2)):abs():max():item() > 0.01)
    roper.seed(9)
    local drawn = attend_with(nil)
    assert.is_true((drawn - attend_with(nil)):abs():max():item() > 0.01)
    roper.seed(9)
    arrays.close(drawn, attend_with(nil), 0)
    roper.threads(threads)
  end)
end)
