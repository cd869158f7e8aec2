local roper = require("roper")

describe("cope", function()
  before_each(function() roper.seed(1) end)

  it("counts whole tokens where gates are open, up to its last row", function()
    local cope = roper.position.cope({ dim = 2, count = 3 })
    cope.table:copy(roper.tensor({ { 0, 5 }, { 0, 6 }, { 0, 7 } }))
    local q = roper.tensor({ 40, 1 }):expand({ 1, 1, 4, 2 })
    local k = roper.tensor({ 1, 0 }):expand({ 1, 1, 4, 2 })
    local positions = roper.position.positions(q, k, { causal = true })
    local seen = positions:visible()
    assert.same({ { 6, 0, 0, 0 }, { 7, 6, 0, 0 }, { 7, 7, 6, 0 }, { 7, 7, 7, 6 } },
      (cope:bias(q, k, positions)[1][1] * seen:to("float32")):totable())
  end)

  it("does not read where tokens stand", function()
    local q = roper.randn({ 1, 2, 5, 4 })
    local cope = roper.position.cope({ dim = 4 })
    cope.table:copy(roper.randn({ 64, 4 }))
    local o = roper.attention(q, q, q, { position = cope, causal = true })
    local moved = roper.attention(q, q, q, { position = cope, causal = true,
      positions = { 3, 1, -4, 1.5, 900 } })
    assert.equal(0, (o - moved):abs():max():item())
    assert.is_true((o - roper.attention(q, q, q, { causal = true })):abs():max():item() > 0.01)
  end)

  it("refuses attention that is not causal", function()
    local q = roper.randn({ 1, 2, 5, 4 })
    assert.error_matches(function() roper.attention(q, q, q, { position = "cope" }) end,
      "position: cope: expected causal attention: it counts from a query back to a key")
  end)
end)
