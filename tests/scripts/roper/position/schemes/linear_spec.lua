local arrays = require("tests.arrays")
local roper = require("roper")

describe("linear", function()
  it("is RoPE, or RoPER, at positions divided by the factor", function()
    roper.seed(1)
    local q = roper.randn({ 2, 2, 6, 8 }, "float64")
    for _, rotate in ipairs({ "qk", "qkvo" }) do
      arrays.close(
        roper.attention(q, q, q, { position = { type = "rope", rotate = rotate,
          fraction = 0.5, last = true }, positions = roper.arange(0, 6) / 4 }),
        roper.attention(q, q, q, { position = { type = "linear", factor = 4, rotate = rotate,
          fraction = 0.5, last = true } }), 1e-14)
    end
  end)
end)
