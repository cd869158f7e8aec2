local arrays = require("tests.arrays")
local models = require("tests.models")
local roper = require("roper")

local names, nn = models.names, roper.nn

describe("nn.Linear", function()
  it("is x W^T + b", function()
    local linear = nn.Linear({ inputs = 3, outputs = 2 })
    linear.bias = roper.tensor({ 10, 20 }):parameter()
    local x = roper.randn({ 2, 5, 3 })
    local expected = x:matmul(linear.weight:transpose(1, 2)) + linear.bias
    arrays.close(expected, linear(x), 1e-6)
    assert.same({ 2, 5, 2 }, linear(x):shape())
  end)

  it("can have no bias", function()
    local linear = nn.Linear({ inputs = 3, outputs = 2, bias = false })
    assert.same({ "weight" }, names(linear))
    arrays.close(roper.zeros({ 4, 2 }), linear(roper.zeros({ 4, 3 })), 0)
  end)

  it("starts uniform within 1/sqrt(inputs), with a bias of 0", function()
    local linear = nn.Linear({ inputs = 100, outputs = 200 })
    local weight, limit = linear.weight:detach(), 0.1
    assert.same({ 200, 100 }, linear.weight:shape())
    assert.is_true(weight:abs():max():item() <= limit)
    assert.is_true(weight:abs():max():item() > 0.999 * limit)
    assert.is_true(math.abs(weight:mean():item()) < 0.002) -- 5 deviations of the mean
    assert.is_true(math.abs(weight:square():mean():item() / (limit ^ 2 / 3) - 1) < 0.05)
    arrays.close(roper.zeros({ 200 }), linear.bias, 0)
  end)
end)

describe("nn.Embedding", function()
  it("returns rows by token id, from 0", function()
    local embedding = nn.Embedding({ count = 5, features = 3 })
    local x = embedding(roper.tensor({ { 4, 0 } }, "int32"))
    assert.same({ 1, 2, 3 }, x:shape())
    arrays.close(embedding.weight[5], x[{ 1, 1 }], 0)
    arrays.close(embedding.weight[1], x[{ 1, 2 }], 0)
  end)

  it("starts standard normal", function()
    local weight = nn.Embedding({ count = 100, features = 200 }).weight:detach()
    assert.is_true(math.abs(weight:mean():item()) < 0.04)
    assert.is_true(math.abs(weight:square():mean():item() - 1) < 0.05)
  end)
end)

describe("nn.LayerNorm", function()
  it("normalizes, scales and shifts the last axis", function()
    local norm = nn.LayerNorm({ features = 8, epsilon = 1e-3 })
    norm.gain = roper.rand({ 8 }):parameter()
    norm.bias = roper.randn({ 8 }):parameter()
    local x = roper.randn({ 3, 8 }) * 4 + 7
    local centred = x - x:mean(2, true)
    local expected = centred / (centred:square():mean(2, true) + 1e-3):sqrt() * norm.gain
      + norm.bias
    arrays.close(expected, norm(x), 1e-5)
  end)

  it("starts as plain normalization", function()
    local norm = nn.LayerNorm({ features = 4 })
    arrays.close(roper.ones({ 4 }), norm.gain, 0)
    arrays.close(roper.zeros({ 4 }), norm.bias, 0)
    assert.error_matches(function() norm(roper.ones({ 2, 5 })) end, "layer_norm: .*%[2, 5%]")
    assert.error_matches(function() nn.LayerNorm({ features = 4, epsilon = 0 / 0 }) end,
                         "LayerNorm: option epsilon: expected a finite number")
  end)
end)

describe("nn.RMSNorm", function()
  it("scales the last axis, and starts with gains of 1", function()
    local norm = nn.RMSNorm({ features = 8, epsilon = 1e-3 })
    local x = roper.randn({ 3, 8 }) * 4 + 7
    local expected = x / (x:square():mean(2, true) + 1e-3):sqrt()
    arrays.close(expected, norm(x), 1e-5)
    norm.gain = roper.rand({ 8 }):parameter()
    arrays.close(expected * norm.gain, norm(x), 1e-5)
    assert.error_matches(function() norm(roper.ones({ 2, 5 })) end, "rms_norm: .*%[2, 5%]")
  end)
end)

describe("nn.FeedForward", function()
  it("is two Linear with an activation between", function()
    local x = roper.randn({ 3, 4 })
    for _, activation in ipairs({ "relu", "gelu", "gelu_tanh" }) do
      local module = nn.FeedForward({ d_model = 4, activation = activation })
      assert.same({ 16, 4 }, module.inner.weight:shape())
      arrays.close(module.outer(roper[activation](module.inner(x))), module(x), 0)
    end
    local gated = nn.FeedForward({ d_model = 4, d_ff = 5, activation = "swiglu" })
    arrays.close(gated.outer(roper.silu(gated.gate(x)) * gated.inner(x)), gated(x), 0)
    assert.equal(2 * (4 * 5 + 5) + 5 * 4 + 4, gated:count())
    assert.same({ 5, 4 }, nn.FeedForward({ d_model = 4, d_ff = 5 }).inner.weight:shape())
  end)
end)
