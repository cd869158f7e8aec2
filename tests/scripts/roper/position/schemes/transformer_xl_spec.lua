local models = require("tests.models")
local roper = require("roper")

describe("position.transformer_xl", function()
  it("has four terms, and distances that end at its clip", function()
    roper.seed(1)
    local xl = roper.position.transformer_xl({ dim = 4, heads = 2, clip = 2 })
    for _, name in ipairs({ "table", "u", "w" }) do
      xl[name] = roper.randn(xl[name]:shape(), "float64"):parameter()
    end
    local q, k = roper.randn({ 1, 2, 3, 4 }, "float64"), roper.randn({ 1, 2, 5, 4 }, "float64")
    local query_positions, key_positions = { 3, 4, 5 }, { 1, 2, 3, 4, 5 }
    for _, moved in ipairs({ 0, 0.75 }) do -- counting up, and not
      key_positions[5] = 5 + moved
      local expected = roper.zeros({ 2, 3, 5 }, "float64")
      for h = 1, 2 do
        for i, p in ipairs(query_positions) do
          for j, s in ipairs(key_positions) do
            local c = math.max(-2, math.min(2, math.floor(s - p + 0.5))) + 3
            local r = xl.table[{ c, { 4 * h - 3, 4 * h } }]
            expected[{ h, i, j }] = ((q[1][h][i] * k[1][h][j]):sum() + (q[1][h][i] * r):sum()
              + (xl.u[h] * k[1][h][j]):sum() + (xl.w[h] * r):sum()):item() / 2
          end
        end
      end
      local weights = roper.attention_weights(q, k, { position = xl,
        query_positions = query_positions, key_positions = key_positions })
      assert.is_true(models.difference(expected:softmax(3), weights[1]) < 1e-12)
    end
  end)
end)
