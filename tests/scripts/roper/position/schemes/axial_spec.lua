local roper = require("roper")

describe("axial", function()
  before_each(function() roper.seed(1) end)

  -- Scores of q and k where pair (t, t + 4) reads the row for t < 2, else the column.
  local function expected(q, k, places)
    local scores = {}
    for i = 1, #q do
      scores[i] = {}
      for j = 1, #k do
        local sum = 0
        for t = 0, 3 do
          local c = t < 2 and 1 or 2
          local angle = (places[j][c] - places[i][c]) * 100 ^ (-(t % 2) / 2)
          local a, b, x, y = q[i][t + 1], q[i][t + 5], k[j][t + 1], k[j][t + 5]
          sum = sum + (a * x + b * y) * math.cos(angle) + (b * x - a * y) * math.sin(angle)
        end
        scores[i][j] = sum / 8 ^ 0.5
      end
    end
    return roper.tensor(scores, "float64"):softmax(2)
  end

  it("rotates half of the pairs by the row, half by the column", function()
    local q, k = roper.randn({ 1, 1, 6, 8 }, "float64"), roper.randn({ 1, 1, 6, 8 }, "float64")
    local places = { { 0, 0 }, { 0, 1 }, { 0, 2 }, { 1, 0 }, { 1, 1 }, { 1.5, -2 } }
    local weights = roper.attention_weights(q, k, { position = "axial", positions = { places } })
    local by_hand = expected(q[1][1]:totable(), k[1][1]:totable(), places)
    assert.is_true((weights[1][1] - by_hand):abs():max():item() < 1e-14)
    for _, move in ipairs({ { 5, 0 }, { 0, -3 }, { 100, 7.5 } }) do
      local moved = roper.tensor({ places }, "float64") + roper.tensor(move, "float64")
      assert.is_true((roper.attention_weights(q, k, { position = "axial", positions = moved })
        - weights):abs():max():item() < 1e-12)
    end
  end)

  it("accepts more coordinates, and RoPER's letters", function()
    local axial = roper.position.axial({ dim = 12, coordinates = 3, rotate = "qkvo" })
    assert.same({ 1, 1, 2, 2, 3, 3 }, axial:options().coordinates)
    assert.equal("qkvo", axial:options().rotate)
  end)

  it("rejects features and positions that do not match", function()
    assert.error_matches(function() roper.position.axial({ dim = 6 }) end,
      "axial: expected a multiple of 4 rotated features, pairs for each of 2 coordinates, got 6")
    local q = roper.zeros({ 1, 1, 2, 4 })
    assert.error_matches(function()
      roper.attention(q, q, q, { position = "axial", positions = roper.zeros({ 1, 2, 3 }) })
    end, "positions: expected shape %[2%] or %[1, 2, 2%], got %[1, 2, 3%]")
  end)
end)
