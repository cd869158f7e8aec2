local attention_sums = require("roper.core").attention_sums
local gradients = require("tests.gradients")
local roper = require("roper")

-- The output of attention of q, k and v, and the sums of weights at `count` distances from
-- `least` on.
local function explicit(q, k, v, options, least, count)
  local o, weights = roper.eager.attention(q, k, v, options)
  local queries, keys = q:size(3), k:size(3)
  local distance = roper.arange(0, keys) - roper.arange(0, queries):unsqueeze(2)
  local place = (distance - least):to("float64"):maximum(0):minimum(count - 1)
  local sums = {}
  for r = 1, count do
    sums[r] = (weights * place:eq(r - 1):to("float64")):sum(4)
  end
  return roper.cat({ o, roper.stack(sums, 4) }, 4)
end

describe("attention with sums of weights", function()
  before_each(function() roper.seed(1) end)

  it("appends the sums to its features, clipped at the ends", function()
    for _, sizes in ipairs({ { 70, 70 }, { 3, 50 }, { 50, 57 }, { 9, 5 } }) do
      local queries, keys = table.unpack(sizes)
      local q = roper.randn({ 2, 2, queries, 4 }, "float64")
      local k = roper.randn({ 2, 2, keys, 4 }, "float64")
      local v = roper.randn({ 2, 2, keys, 4 }, "float64")
      for _, range in ipairs({ { -3, 7 }, { 0, 1 }, { 5, 3 }, { -90, 200 }, { -1000, 2 } }) do
        for _, options in ipairs({ {}, { mask = roper.rand({ queries, keys }):gt(0.7) },
          { causal = queries <= keys, position = roper.position.roper({ dim = 4 }) } }) do
          local found = attention_sums(q, k, v, options, range[1], range[2])
          local expected = explicit(q, k, v, options, range[1], range[2])
          assert.is_true((found - expected):abs():max():item() < 1e-13)
        end
      end
    end
  end)

  it("passes on their gradient", function()
    for i, options in ipairs({ {}, { causal = true }, { dropout = 0.3, seed = 3 },
      { causal = true, position = roper.position.roper({ dim = 2 }) },
      { mask = roper.tensor({ 0, 1, 1, 0, 1, 1, 1 }, "int32") } }) do
      gradients.check(function(q, k, v)
        return attention_sums(q, k, v, options, -2, 4)
      end, { { 2, 2, 5, 2 }, { 2, 2, 7, 2 }, { 2, 2, 7, 2 } }, { layouts = i == 1 })
    end
  end)

  it("drops weights before they are summed", function()
    local q = roper.randn({ 1, 2, 60, 4 }, "float64")
    local ones = roper.ones({ 1, 2, 60, 1 }, "float64")
    local found = attention_sums(q, q, ones, { dropout = 0.5, seed = 7 }, -5, 11)
    local total = found:narrow(4, 2, 11):sum(4, true)
    assert.is_true((total - found:narrow(4, 1, 1)):abs():max():item() < 1e-13)
    assert.is_true((total - 1):abs():max():item() > 1e-3)
  end)

  it("rejects invalid distances", function()
    local q = roper.zeros({ 1, 1, 3, 4 })
    for _, range in ipairs({ { 0, -1 }, { 2 ^ 40, 2 }, { math.mininteger, 2 }, { 0, 2 ^ 31 } }) do
      assert.error_matches(function() attention_sums(q, q, q, {}, range[1], range[2]) end,
        "attention: expected distances within 2147483647")
    end
  end)
end)
