local models = require("tests.models")
local roper = require("roper")

describe("position.kerple", function()
  before_each(function() roper.seed(1) end)

  it("follows the formula, with separate factors in each head", function()
    local kerple = roper.position.kerple({ heads = 2 })
    local a, b = kerple.log_a:exp():view({ 2 }):totable(), kerple.log_b:exp():view({ 2 }):totable()
    local positions = { 0, 2, 2.5, -700 }
    local scores = roper.zeros({ 2, 4, 4 })
    for h = 1, 2 do
      assert.is_true(a[h] > 0 and a[h] <= 2 and b[h] > 0 and b[h] <= 1)
      for i, p in ipairs(positions) do
        for j, s in ipairs(positions) do
          scores[{ h, i, j }] = -a[h] * math.log(1 + b[h] * math.abs(p - s))
        end
      end
    end
    local q = roper.zeros({ 1, 2, 4, 4 })
    local weights = roper.attention_weights(q, q, { position = kerple, positions = positions })
    assert.is_true(models.difference(scores:softmax(3), weights[1]) < 1e-6)
  end)

  it("decreases with the distance for any parameters", function()
    local kerple = roper.position.kerple({ heads = 3 })
    kerple.log_a:copy(roper.tensor({ { -5 }, { 0 }, { 2 } }))
    kerple.log_b:copy(roper.tensor({ { -5 }, { 3 }, { -1 } }))
    local q = roper.zeros({ 1, 3, 4, 4 })
    local weights = roper.attention_weights(q, q, { position = kerple, causal = true })
    for h = 1, 3 do
      local last = weights[1][h][4]:totable()
      for j = 1, 3 do
        assert.is_true(last[j] < last[j + 1])
      end
    end
  end)
end)
