local models = require("tests.models")
local roper = require("roper")

local function delta(x, y, clip)
  return math.max(0, math.min(2 * clip - 1, x - y + clip))
end

describe("position.deberta", function()
  before_each(function() roper.seed(1) end)

  local function expected_of(deberta, q, k, third)
    local expected = roper.zeros({ 2, 6, 6 }, "float64")
    for h = 1, 2 do
      local head = { 4 * h - 3, 4 * h }
      for i = 1, 6 do
        for j = 1, 6 do
          local to_position = deberta.key[{ delta(i, j, deberta.clip) + 1, head }]
          local to_content = deberta.query[{ third(i, j) + 1, head }]
          local x, y = q[1][h][i], k[1][h][j]
          expected[{ h, i, j }] = ((x * y):sum() + (x * to_position):sum()
            + (y * to_content):sum()):item() / math.sqrt(12)
        end
      end
    end
    return expected:softmax(3)
  end

  it("has three terms, the third as in the paper, not as in its published code", function()
    local deberta = roper.position.deberta({ dim = 4, heads = 2, clip = 3 })
    for _, name in ipairs({ "key", "query" }) do
      deberta[name] = roper.randn(deberta[name]:shape(), "float64"):parameter()
    end
    local q, k = roper.randn({ 1, 2, 6, 4 }, "float64"), roper.randn({ 1, 2, 6, 4 }, "float64")
    local weights = roper.attention_weights(q, k, { position = deberta })[1]
    assert.is_true(models.difference(weights,
      expected_of(deberta, q, k, function(i, j) return delta(j, i, 3) end)) < 1e-12)
    assert.is_true(models.difference(weights,
      expected_of(deberta, q, k, function(i, j) return delta(i, j, 3) end)) > 1e-2)
  end)

  it("has its own scale by default", function()
    local deberta = roper.position.deberta({ dim = 4, heads = 1, clip = 2 })
    local q, k = roper.randn({ 1, 1, 3, 4 }), roper.randn({ 1, 1, 3, 4 })
    local own = roper.attention_weights(q, k, { position = deberta })
    local given = roper.attention_weights(q, k, { position = deberta, scale = 12 ^ -0.5 })
    assert.is_true(models.difference(own, given) < 1e-6)
    local other = roper.attention_weights(q, k, { position = deberta, scale = 0.5 })
    assert.is_true(models.difference(own, other) > 1e-3)
  end)
end)
