-- The tests of linear attention find known mistakes: each is planted in explicit linear attention,
-- which passes without it.

local agreement = require("tests.agreement")
local roper = require("roper")

local scheme = roper.position.roper({ dim = 8 })

local elu_plus_1, written_out = agreement.elu_plus_1, agreement.linear_written_out

local mutants = {
  ["rotation before the feature map"] = { before = true },
  ["no denominator"] = { denominator = function(sums) return sums * 0 + 1 / sums:size(4) end },
  ["a rotated denominator"] = { denominator = function(_, weights) return weights end },
  ["elu without 1"] = { feature = function(x) return elu_plus_1(x) - 1 end },
  ["exp for a feature map"] = { feature = function(x) return x:exp() end },
  ["ReLU for a feature map"] = { feature = function(x) return x:relu() end },
  ["values rotated twice"] = { twice = true },
  ["values not rotated"] = { scheme = scheme:only("qko") },
  ["output not rotated back"] = { scheme = scheme:only("qkv") },
  ["keys not rotated"] = { scheme = scheme:only("qvo") },
  ["the causal rule one key too wide"] = { ahead = 1 },
  ["the causal rule one key too narrow"] = { ahead = -1 },
  ["no causal rule"] = { ahead = 1000 },
  ["swapped pairing"] = {
    scheme = roper.position.roper({ dim = 8, pairing = "interleaved" }),
  },
  ["another base"] = { scheme = roper.position.roper({ dim = 8, base = 10001 }) },
}

describe("the check of linear attention", function()
  local inputs
  local options = { position = scheme, causal = true }

  before_each(function()
    roper.seed(1)
    inputs = { agreement.inputs({ keys = 100 }) }
  end)

  it("accepts linear attention, and its explicit form", function()
    agreement.check_linear(inputs, options)
    agreement.check_linear(inputs, options, written_out({}))
  end)

  for name, mutant in pairs(mutants) do
    it("rejects " .. name, function()
      assert.error_matches(function()
        agreement.check_linear(inputs, options, written_out(mutant))
      end, "differs from the oracle by ")
    end)
  end

  it("finds that rotation before the feature map is not relative", function()
    local function moved(offset)
      local places = roper.arange(offset, offset + 100, 1, "float64")
      return roper.linear_attention(scheme:rotate(inputs[1], places),
        scheme:rotate(inputs[2], places), inputs[3], { causal = true })
    end
    assert.is_true((moved(0) - moved(7)):abs():max():item() > 0.01)
  end)
end)
