local roper = require("roper")

describe("llama3", function()
  it("keeps fast pairs, slows slow ones, and blends those between by turns", function()
    local rope = roper.position.rope({ dim = 128, base = 500000 }):thetas():totable()
    local llama = roper.position.llama3({ dim = 128, base = 500000 }):thetas():totable()
    local kinds = { 0, 0, 0 }
    for t = 1, 64 do
      local turns, ratio = 8192 * rope[t] / (2 * math.pi), rope[t] / llama[t]
      local kind = turns >= 4 and 1 or turns <= 1 and 3 or 2
      kinds[kind] = kinds[kind] + 1
      if kind == 2 then
        assert.is_true(1 < ratio and ratio < 8)
      else
        assert.is_true(math.abs(ratio - (kind == 1 and 1 or 8)) < 1e-12, t)
      end
    end
    assert.is_true(kinds[1] > 0 and kinds[2] > 0 and kinds[3] > 0)
  end)

  it("rejects limits of turns that leave no range to blend", function()
    assert.error_matches(function() roper.position.llama3({ dim = 8, high = 1 }) end,
      "llama3: option high: expected a number above low = 1, got 1")
    assert.error_matches(function() roper.position.llama3({ dim = 8, factor = 0 }) end,
      "llama3: option factor: expected a finite number of at least 1, got 0")
  end)
end)
