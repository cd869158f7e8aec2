local arrays = require("tests.arrays")
local gradients = require("tests.gradients")
local roper = require("roper")

describe("dropout", function()
  it("keeps the right share and scales what it keeps", function()
    for _, p in ipairs({ 0.1, 0.5, 0.9 }) do
      local n = 100000
      local y = roper.dropout(roper.ones({ n }, "float64"), p, 1)
      local dropped = y:eq(0):sum():item() / n
      assert.is_true(math.abs(dropped - p) < 5 * math.sqrt(p * (1 - p) / n), dropped)
      local kept = y:max():item()
      assert.is_true(math.abs(kept - 1 / (1 - p)) < 1e-12)
      assert.equal(0, (y * (y - kept)):abs():max():item())
    end
    assert.same({ 1, 2 }, roper.dropout(roper.tensor({ 1, 2 }), 0):totable())
  end)

  it("depends on its seed only: not on threads, layout or dtype", function()
    local threads = roper.threads()
    local x = roper.ones({ 100, 93 })
    local reference = roper.dropout(x, 0.3, 42)
    for n = 1, 2 do
      roper.threads(n)
      assert.equal(0, (reference - roper.dropout(x, 0.3, 42)):abs():max():item())
      local t = roper.ones({ 93, 100 }):transpose(1, 2)
      assert.equal(0, (reference - roper.dropout(t, 0.3, 42)):abs():max():item())
      assert.equal(0, (reference:ne(0) - roper.dropout(x:to("float64"), 0.3, 42):ne(0)):abs():max()
        :item())
    end
    roper.threads(threads)
    assert.is_true((reference - roper.dropout(x, 0.3, 43)):abs():max():item() > 0)
  end)

  it("draws its seed from the generator by default", function()
    roper.seed(5)
    local a, b = roper.dropout(roper.ones({ 100 }), 0.5), roper.dropout(roper.ones({ 100 }), 0.5)
    roper.seed(5)
    arrays.close(a, roper.dropout(roper.ones({ 100 }), 0.5), 0)
    assert.is_true((a - b):abs():max():item() > 0)
  end)

  it("has the gradient of the same draw", function()
    gradients.check(function(x) return roper.dropout(x, 0.4, 7):exp() end, { { 5, 6 } })
  end)

  it("rejects other probabilities and int32", function()
    for _, p in ipairs({ 1, 1.5, -0.1, 0 / 0, math.huge }) do
      assert.error_matches(function() roper.dropout(roper.ones({ 2 }), p) end,
        "dropout: expected floats and 0 <= p < 1, got float32 and p = ")
    end
    assert.error_matches(function() roper.dropout(roper.ones({ 2 }, "int32"), 0.5) end, "got int32")
    assert.error_matches(function() roper.dropout(roper.ones({ 2 })) end, "number expected")
    assert.error_matches(function() roper.dropout(roper.ones({ 2 }), 0.5, 1.5) end,
      "expected an integer, got 1.5")
  end)
end)
