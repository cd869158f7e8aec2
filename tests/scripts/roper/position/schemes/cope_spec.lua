local roper = require("roper")

describe("cope", function()
  before_each(function() roper.seed(1) end)

  it("counts whole tokens if gates are open, up to its last row", function()
    local cope = roper.position.cope({ dim = 2, count = 3 })
    cope.table:copy(roper.tensor({ { 0, 5 }, { 0, 6 }, { 0, 7 } }))
    local q = roper.tensor({ 40, 1 }):expand({ 1, 1, 4, 2 })
    local k = roper.tensor({ 1, 0 }):expand({ 1, 1, 4, 2 })
    local positions = roper.position.positions(q, k, { causal = true })
    local seen = positions:visible()
    assert.same({ { 6, 0, 0, 0 }, { 7, 6, 0, 0 }, { 7, 7, 6, 0 }, { 7, 7, 7, 6 } },
      (cope:bias(q, k, positions)[1][1] * seen:to("float32")):totable())
  end)

  it("computes gates from the products, or from the scaled products", function()
    local q, k = roper.full({ 1, 1, 2, 4 }, 2), roper.full({ 1, 1, 2, 4 }, 0.25) -- q · k = 2
    local positions = roper.position.positions(q, k, { causal = true })
    for scaled, product in pairs({ [false] = 2, [true] = 1 }) do
      local cope = roper.position.cope({ dim = 4, scaled_gates = scaled })
      cope.table:copy(roper.arange(0, 64):unsqueeze(2):expand({ 64, 4 }))
      local gate = 1 / (1 + math.exp(-product))
      assert.near(8 * 2 * gate, cope:bias(q, k, positions)[{ 1, 1, 2, 1 }]:item(), 1e-4)
    end
  end)

  it("prints which gates it has", function()
    assert.equal("gates: sigmoid(qᵢ · k_t), as in equation 3 of the paper",
      roper.position.describe("cope").words)
    local scaled = { type = "cope", scaled_gates = true }
    local words = "gates: sigmoid(qᵢ · k_t / √d), as in the authors' listing"
    assert.equal(words, roper.position.describe(scaled).words)
    assert.equal(words, roper.position.describe(roper.position.resolve(scaled, 4)).words)
  end)

  it("does not read the positions of tokens", function()
    local q = roper.randn({ 1, 2, 5, 4 })
    local cope = roper.position.cope({ dim = 4 })
    cope.table:copy(roper.randn({ 64, 4 }))
    local o = roper.attention(q, q, q, { position = cope, causal = true })
    local moved = roper.attention(q, q, q, { position = cope, causal = true,
      positions = { 3, 1, -4, 1.5, 900 } })
    assert.equal(0, (o - moved):abs():max():item())
    assert.is_true((o - roper.attention(q, q, q, { causal = true })):abs():max():item() > 0.01)
  end)

  it("gives NaN to a query that is NaN, and to no other", function()
    local q, k = roper.randn({ 1, 1, 3, 4 }), roper.randn({ 1, 1, 3, 4 })
    q:narrow(3, 2, 1):fill(0 / 0)
    local cope = roper.position.cope({ dim = 4 })
    local o = roper.attention(q, k, k, { position = cope, causal = true })
    assert.same({ { { 4, 0, 4 } } }, o:eq(o):sum(4):totable())
  end)

  it("rejects attention that is not causal", function()
    local q = roper.randn({ 1, 2, 5, 4 })
    assert.error_matches(function() roper.attention(q, q, q, { position = "cope" }) end,
      "position: cope: expected causal attention; pass causal = true")
  end)
end)
