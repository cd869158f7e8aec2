local roper = require("roper")

describe("pope", function()
  before_each(function() roper.seed(1) end)

  it("scales by the input features", function()
    local pope = roper.position.pope({ dim = 3, heads = 2 })
    pope.phase:copy(roper.randn({ 2, 3 }))
    local phase = pope.phase:totable()
    local q, k = roper.randn({ 1, 2, 3, 3 }), roper.randn({ 1, 2, 4, 3 })
    local weights = roper.attention_weights(q, k, { position = pope, offset = 10 })
    local scores = roper.zeros({ 1, 2, 3, 4 }):totable()
    local of_q, of_k = q:softplus():totable(), k:softplus():totable()
    for h = 1, 2 do
      for i = 1, 3 do
        for j = 1, 4 do
          for t = 1, 3 do
            local angle = (i - j) * 10000 ^ (-(t - 1) / 3) - phase[h][t]
            scores[1][h][i][j] = scores[1][h][i][j]
              + of_q[1][h][i][t] * of_k[1][h][j][t] * math.cos(angle) / 3 ^ 0.5
          end
        end
      end
    end
    assert.is_true((weights - roper.tensor(scores):softmax(4)):abs():max():item() < 1e-6)
  end)

  it("trains its phases from 0, separately for each head", function()
    local q = roper.randn({ 1, 2, 4, 4 })
    local pope = roper.position.pope({ dim = 4, heads = 2 })
    assert.equal(0, pope.phase:detach():abs():max():item())
    roper.attention(q, q, q, { position = pope }):square():sum():backward()
    assert.is_true(pope.phase.grad:abs():min():item() > 0)
  end)

  it("cannot be joined with a rotation, nor have several coordinates", function()
    local q = roper.zeros({ 1, 2, 3, 4 })
    assert.error_matches(function() roper.attention(q, q, q, { position = "pope+rope" }) end,
      'pope and rotary both rotate "q"')
    assert.error_matches(function()
      roper.attention(q, q, q, { position = "pope", positions = roper.zeros({ 1, 3, 2 }) })
    end, "pope: expected one number per position, got several coordinates")
  end)
end)
