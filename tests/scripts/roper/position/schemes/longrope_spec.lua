local arrays = require("tests.arrays")
local roper = require("roper")

describe("longrope", function()
  local options = { type = "longrope", short = { 1, 1.25, 2, 1 }, long = { 1, 2, 3, 4 },
    trained_length = 8, rotate = "qkvo" }

  before_each(function() roper.seed(1) end)

  it("divides by the list for the length, and scales only scores", function()
    local m = 1 + math.log(2) / math.log(8)
    for length, divisors in pairs({ [8] = options.short, [9] = options.long }) do
      local q = roper.randn({ 2, 2, length, 8 }, "float64")
      local theta = roper.position.rope({ dim = 8 }):thetas() / roper.tensor(divisors, "float64")
      local plain = roper.rotary({ dim = 8, frequencies = theta, rotate = "qkvo" })
      for _, offset in ipairs({ 0, 100 }) do
        arrays.close(
          roper.attention(q, q, q, { position = plain, scale = m / 8 ^ 0.5, offset = offset }),
          roper.attention(q, q, q, { position = options, offset = offset }), 1e-13)
      end
    end
  end)

  it("rejects lists without a positive number for each pair", function()
    local function refused(message, given)
      given.dim = 8
      assert.error_matches(function() roper.position.longrope(given) end, message)
    end
    refused("longrope: option long: expected 4 numbers, one for each pair, got 2",
      { long = { 1, 2 } })
    refused("longrope: option short: expected positive numbers, got 0", { short = { 1, 0, 1, 1 } })
    refused("longrope: option short: expected positive numbers, got .*nan", { short = 0 / 0 })
    refused("longrope: option trained_length: expected at least 2, got 1",
      { trained_length = 1 })
  end)
end)
