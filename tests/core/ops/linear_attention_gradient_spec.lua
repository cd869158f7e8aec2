local agreement = require("tests.agreement")
local arrays = require("tests.arrays")
local attention_gradients = require("tests.attention_gradients")
local roper = require("roper")

local scheme = attention_gradients.scheme

--- The gradients of q, k and v, joined, for the gradient of the output.
local function gradients_of(attend, inputs, dy, options)
  local copies = {}
  for i, x in ipairs(inputs) do
    copies[i] = x:to(dy:dtype()):clone():parameter()
  end
  attend(copies[1], copies[2], copies[3], options):backward(dy)
  return roper.cat({ copies[1].grad, copies[2].grad, copies[3].grad })
end

describe("gradients of linear attention", function()
  before_each(function() roper.seed(1) end)

  local function check(options, sizes)
    attention_gradients.check(roper.linear_attention, options, sizes)
  end

  it("with a large epsilon", function()
    check({ causal = true, epsilon = 3 })
  end)

  it("across the edge of a chunk", function()
    check({ position = scheme("qkvo"), causal = true }, { queries = 65, keys = 67 })
    check({ position = scheme("qk") }, { queries = 2, keys = 65, value_features = 2 })
  end)

  it("are those of the explicit weights at 641 positions, in both precisions", function()
    for _, causal in ipairs({ false, true }) do
      local options = { position = roper.position.roper({ dim = 8 }), causal = causal }
      local inputs = { agreement.inputs() }
      local dy = roper.randn({ 1, 1, 641, 8 }, "float64")
      local expected = gradients_of(agreement.linear_written_out({}), inputs, dy, options)
      for dtype, tolerance in pairs({ float64 = 1e-12, float32 = 2e-5 }) do
        arrays.close(expected, gradients_of(roper.linear_attention, inputs, dy:to(dtype), options),
          tolerance, dtype)
      end
    end
  end)

  it("are rejected after an input was changed in place", function()
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
