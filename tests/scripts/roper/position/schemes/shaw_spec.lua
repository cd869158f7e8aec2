local models = require("tests.models")
local roper = require("roper")

-- max(-most, min(most, x)) of the nearest integer.
local function clipped(x, most)
  return math.max(-most, math.min(most, math.floor(x + 0.5)))
end

describe("position.shaw", function()
  before_each(function() roper.seed(1) end)

  -- Keys and values with the vector of each distance added, one pair at a time.
  local function explicit(shaw, q, k, v, query_positions, key_positions, causal)
    local queries, keys = #query_positions, #key_positions
    local rows = {}
    for i, p in ipairs(query_positions) do
      local last = causal and i + keys - queries or keys
      local scores, values = {}, {}
      for j = 1, last do
        local c = clipped(key_positions[j] - p, shaw.clip) + shaw.clip + 1
        scores[j] = (q[i] * (k[j] + shaw.key[c])):sum() / 2
        values[j] = v[j] + shaw.value[c]
      end
      local a = roper.stack(scores, 1):softmax(1)
      rows[i] = a:view({ 1, -1 }):matmul(roper.stack(values, 1)):view({ -1 })
    end
    return roper.stack(rows, 1)
  end

  it("follows the formula on both sides of its clip, for any positions", function()
    for _, clip in ipairs({ 1, 2, 7 }) do
      local shaw = roper.position.shaw({ dim = 4, clip = clip })
      shaw.key = roper.randn({ 2 * clip + 1, 4 }, "float64"):parameter()
      shaw.value = roper.randn({ 2 * clip + 1, 4 }, "float64"):parameter()
      local q = roper.randn({ 1, 2, 4, 4 }, "float64")
      local k, v = roper.randn({ 1, 2, 6, 4 }, "float64"), roper.randn({ 1, 2, 6, 4 }, "float64")
      for _, case in ipairs({
        { { 0, 1, 2, 3 }, { 0, 1, 2, 3, 4, 5 }, false },
        { { 2, 3, 4, 5 }, { 0, 1, 2, 3, 4, 5 }, true },
        { { 7, 8, 9, 10 }, { 0, 1, 2, 3, 4, 5 }, true },
        { { 4, 0, 1.7, -9 }, { 3, 3, 0, 1, 90, 2.25 }, true },
        { { 4, 0, 1.7, -9 }, { 3, 3, 0, 1, 90, 2.25 }, false },
      }) do
        local o = roper.attention(q, k, v, { position = shaw, causal = case[3],
          query_positions = case[1], key_positions = case[2] })
        for head = 1, 2 do
          local expected = explicit(shaw, q[1][head], k[1][head], v[1][head], table.unpack(case))
          assert.is_true(models.difference(o[1][head], expected) < 1e-12)
        end
      end
    end
  end)

  it("handles one query and many keys", function()
    local shaw = roper.position.shaw({ dim = 4, clip = 2 })
    local q, k = roper.randn({ 2, 2, 5, 4 }), roper.randn({ 2, 2, 5, 4 })
    local how = { position = shaw, causal = true }
    assert.is_true(models.difference(roper.attention(q, k, k, how):narrow(3, 5, 1),
      roper.attention(q:narrow(3, 5, 1), k, k, how)) < 1e-6)
  end)

  it("rejects values of another width, and the oracle", function()
    local q, v = roper.zeros({ 1, 1, 3, 4 }), roper.zeros({ 1, 1, 3, 6 })
    assert.error_matches(function() roper.attention(q, q, v, { position = "shaw" }) end,
      "position: shaw: values: expected float32 [1, 1, 3, 6], got float32 [1, 1, 3, 4]", nil, true)
    assert.error_matches(function() roper.oracle.attention(q, q, q, { position = "shaw" }) end,
      "position shaw has the method values, which the oracle does not support; use roper.eager")
  end)
end)
