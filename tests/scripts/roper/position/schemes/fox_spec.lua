local arrays = require("tests.arrays")
local models = require("tests.models")
local roper = require("roper")

describe("fox", function()
  before_each(function() roper.seed(1) end)

  it("allocates nothing per query and key", function()
    local fox = roper.position.fox({ heads = 3, d_model = 6 })
    local q, k = roper.randn({ 2, 3, 4, 2 }), roper.randn({ 2, 3, 9, 2 })
    local positions = roper.position.positions(q, k, { causal = true })
    local x = roper.randn({ 2, 9, 6 })
    local list = fox:bias(q, k, positions, x)
    assert.same({ { 2, 3, 4, 1 }, { 2, 3, 1, 9 } }, { list[1]:shape(), list[2]:shape() })
    -- at a query's own key nothing is forgotten, at the key before it the gate of its token
    local gates = x:matmul(fox.gate_weight:transpose(1, 2)):sigmoid():log()
    local scores = list[1] + list[2]
    for i = 1, 4 do
      assert.is_true(scores[{ {}, {}, i, i + 5 }]:abs():max():item() < 1e-6)
      arrays.close(gates[{ {}, i + 5 }]:detach(), scores[{ {}, {}, i, i + 4 }]:detach(), 1e-5)
    end
  end)

  it("stores its gates in the cache", function()
    local model = models.convert(models.small({ position = "fox" }), "float64")
    local tokens = models.task():batch(2)
    local whole = roper.no_grad(model, tokens)
    local cache, first = model:cache({ batch = 2, length = 30 }), 1
    for _, size in ipairs({ 9, 1, 1, 12, 7 }) do
      arrays.close(whole:narrow(2, first, size),
        roper.no_grad(model, tokens:narrow(2, first, size), cache), 1e-12)
      first = first + size
    end
  end)

  it("rejects unsupported options", function()
    local q = roper.randn({ 1, 2, 5, 4 })
    local fox = roper.position.fox({ heads = 2, d_model = 8 })
    local function refused(message, how)
      how.position = fox
      assert.error_matches(function() roper.attention(q, q, q, how) end, message)
    end
    local x = roper.randn({ 1, 5, 8 })
    refused("position: fox: expected causal attention", { input = x })
    refused("position: fox: expected the input of the layer, .* pass the option input",
      { causal = true })
    refused("position: fox: expected an input %[1, 5, 8%], one token for each key, got %[1, 5, 6%]",
      { causal = true, input = roper.randn({ 1, 5, 6 }) })
    refused("position: fox: expected an input .*, one token for each key, got %[1, 3, 8%]",
      { causal = true, input = x:narrow(2, 1, 3) })
    refused("position: fox: expected an input .*, one token for each key, got %[1, 6, 8%]",
      { causal = true, input = roper.randn({ 1, 6, 8 }) })
  end)
end)
