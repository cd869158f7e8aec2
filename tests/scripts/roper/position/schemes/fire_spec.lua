local models = require("tests.models")
local roper = require("roper")

describe("position.fire", function()
  before_each(function() roper.seed(1) end)

  it("follows the formula, before and past its threshold", function()
    local fire = roper.position.fire({ heads = 2, hidden = 3 })
    fire.threshold, fire.c = roper.tensor({ -4 }):parameter(), roper.tensor({ 0.5 }):parameter()
    local function psi(x)
      return math.log(0.5 * math.abs(x) + 1)
    end
    local positions = { -2, 1.5, 4, 9, 1000 }
    local scores = roper.zeros({ 2, 5, 5 })
    for h = 1, 2 do
      for i, p in ipairs(positions) do
        for j, s in ipairs(positions) do
          local part = psi(p - s) / psi(math.max(p, 4))
          local sum = fire.outer_bias[h]:item()
          for unit = 1, 3 do
            sum = sum + fire.outer_weight[{ h, unit }]:item() * math.max(0,
              fire.inner_weight[{ unit, 1 }]:item() * part + fire.inner_bias[unit]:item())
          end
          scores[{ h, i, j }] = sum
        end
      end
    end
    local q = roper.zeros({ 1, 2, 5, 4 })
    local weights = roper.attention_weights(q, q, { position = fire, positions = positions })
    assert.is_true(models.difference(scores:softmax(3), weights[1]) < 1e-6)
  end)

  it("trains its threshold if queries are before it", function()
    local function gradient(offset)
      local fire = roper.position.fire({ heads = 2 })
      local q = roper.randn({ 1, 2, 4, 4 })
      local o = roper.attention(q, q, q, { position = fire, causal = true, offset = offset })
      o:backward(roper.randn(o:shape()))
      return fire.threshold.grad:abs():item()
    end
    assert.is_true(gradient(0) > 0)
    assert.equal(0, gradient(1000))
  end)
end)
