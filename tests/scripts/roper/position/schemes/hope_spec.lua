local arrays = require("tests.arrays")
local roper = require("roper")

describe("hope", function()
  before_each(function() roper.seed(1) end)

  it("rotates the pairs that complete a rotation within the trained length", function()
    for length, count in pairs({ [7] = 1, [62] = 1, [63] = 2, [628] = 2, [629] = 3, [6284] = 4 }) do
      local theta = roper.position.hope({ dim = 8, trained_length = length }):thetas()
      assert.equal(count, theta:gt(0):sum():item(), length)
    end
    local whole = roper.position.hope({ dim = 8, trained_length = 10000 }):thetas()
    arrays.close(roper.position.rope({ dim = 8 }):thetas(), whole, 0)
  end)

  it("does not change the other features", function()
    local x = roper.randn({ 5, 8 }, "float64")
    local hope = roper.position.hope({ dim = 8, trained_length = 128, rotate = "qkvo" })
    for _, part in ipairs({ "q", "k", "v" }) do
      local y = hope:rotate(x, roper.arange(900, 905), part)
      for _, first in ipairs({ 3, 7 }) do
        arrays.close(x:narrow(2, first, 2), y:narrow(2, first, 2), 0)
      end
      assert.is_true((y - x):narrow(2, 1, 2):abs():min():item() > 0)
    end
  end)

  it("computes frequencies from the rotated features with a fraction", function()
    local hope = roper.position.hope({ dim = 16, fraction = 0.5, trained_length = 63 })
    assert.same({ 1, 0.1, 0, 0 }, hope:thetas():totable())
  end)

  it("rejects a length in which no pair completes a rotation", function()
    local function refused(message, options)
      options.dim = options.dim or 8
      assert.error_matches(function() roper.position.hope(options) end, message)
    end
    refused("hope: option trained_length: expected at least one rotation .*, got 6$",
      { trained_length = 6 })
    refused("hope: option trained_length: expected a positive integer, got 0",
      { trained_length = 0 })
    refused("hope: expected fraction %* dim to be an even integer from 2 to dim, got 1 %* 5",
      { dim = 5 })
  end)
end)
