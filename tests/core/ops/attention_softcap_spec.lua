-- Soft caps of scores: against plain Lua, between the forms of attention, and gradients.

local attention_gradients = require("tests.attention_gradients")
local gradients = require("tests.gradients")
local models = require("tests.models")
local roper = require("roper")

describe("attention with a soft cap", function()
  before_each(function() roper.seed(4) end)

  local POSITIONS <const> = { "none", "rope", "roper", "alibi", "ssmax", "rope+alibi",
    "window{size=2}+rope", "t5", "cope", "transformer_xl" }

  it("caps the scores before they are masked", function()
    local q, k = roper.randn({ 1, 2, 3, 4 }, "float64") * 3, roper.randn({ 1, 2, 3, 4 }, "float64")
    local v = roper.randn({ 1, 2, 3, 4 }, "float64")
    local o, weights = roper.attention(q, k, v, { softcap = 0.7, causal = true, weights = true })
    local list_q, list_k, list_v = q:totable(), k:totable(), v:totable()
    for head = 1, 2 do
      for i = 1, 3 do
        local total, sums = 0, { 0, 0, 0, 0 }
        local expected = {}
        for j = 1, i do
          local score = 0
          for t = 1, 4 do
            score = score + list_q[1][head][i][t] * list_k[1][head][j][t] / 2
          end
          local e = math.exp(2 * score / 0.7)
          expected[j] = math.exp(0.7 * (e - 1) / (e + 1))
          total = total + expected[j]
        end
        for j = 1, i do
          for t = 1, 4 do
            sums[t] = sums[t] + expected[j] / total * list_v[1][head][j][t]
          end
          assert.is_true(math.abs(weights[1][head][i][j]:item() - expected[j] / total) < 1e-14)
        end
        for t = 1, 4 do
          assert.is_true(math.abs(o[1][head][i][t]:item() - sums[t]) < 1e-14)
        end
      end
    end
  end)

  for _, position in ipairs(POSITIONS) do
    it("is the same in every form with " .. position, function()
      local q = roper.randn({ 2, 4, 5, 8 }, "float64")
      local k, v = roper.randn({ 2, 2, 5, 8 }, "float64"), roper.randn({ 2, 2, 5, 8 }, "float64")
      local x = roper.randn({ 2, 5, 32 }, "float64")
      local scheme = roper.position.resolve(position, { dim = 8, heads = 4, d_model = 32,
        length = 5 })
      local o = { position = scheme, causal = true, softcap = 1.5,
        input = type(scheme) == "table" and x or nil }
      local fast = roper.attention(q, k, v, o)
      local eager, weights = roper.eager.attention(q, k, v, o)
      assert.is_true(models.difference(fast, eager) < 1e-12)
      assert.is_true(models.difference(roper.attention_weights(q, k, o), weights) < 1e-12)
      assert.is_true(models.difference(roper.oracle.attention(q, k, v, o), eager) < 1e-12)
      o.softcap = nil
      assert.is_true(models.difference(roper.attention(q, k, v, o), fast) > 1e-4)
    end)
  end

  it("has no effect if it is far above the scores", function()
    local q = roper.randn({ 1, 2, 6, 4 }, "float64")
    for _, position in ipairs({ "none", "roper" }) do
      local o = { position = position, causal = true }
      local free = roper.attention(q, q, q, o)
      o.softcap = 1e7
      assert.is_true(models.difference(free, roper.attention(q, q, q, o)) < 1e-12)
    end
  end)

  it("has the gradients of central differences", function()
    for _, position in ipairs({ "none", "rope", "roper", "alibi" }) do
      attention_gradients.check(roper.attention, { position = position, causal = true,
        softcap = 0.8, scale = 0.9 }, { heads = 2, shared = 1, layouts = position == "rope" })
    end
  end)

  it("is refused unless it is positive", function()
    local q = roper.randn({ 1, 1, 2, 4 })
    for _, softcap in ipairs({ 0, -1, math.huge, 0 / 0, "1" }) do
      assert.error_matches(function() roper.attention(q, q, q, { softcap = softcap }) end,
        "attention: option softcap: expected a finite positive number")
    end
  end)
end)

describe("nn.Linear with a soft cap", function()
  it("caps outputs, also for its cross-entropy", function()
    roper.seed(1)
    local linear = roper.nn.Linear({ inputs = 3, outputs = 4, softcap = 0.5 })
    local x, targets = roper.randn({ 6, 3 }) * 5, roper.tensor({ 0, 1, 2, 3, 0, 1 }, "int32")
    assert.is_true(linear(x):abs():max():item() <= 0.5)
    assert.is_true(models.difference(linear:cross_entropy(x, targets),
      roper.cross_entropy(linear(x), targets)) == 0)
    linear = models.convert(linear, "float64")
    gradients.check(function(y) return linear(y) end, { { 2, 3 } })
  end)
end)
