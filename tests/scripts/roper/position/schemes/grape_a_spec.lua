local arrays = require("tests.arrays")
local roper = require("roper")

describe("grape_a", function()
  before_each(function() roper.seed(1) end)

  it("is ALiBi if its gates are constant", function()
    local q, k = roper.randn({ 2, 3, 4, 8 }), roper.randn({ 2, 3, 6, 8 })
    for gates, count in pairs({ q = 1, k = 1, qk = 2 }) do
      local grape = roper.position.grape_a({ dim = 8, heads = 3, gates = gates })
      for letter, name in pairs({ q = "query_gate", k = "key_gate" }) do
        assert.equal(gates:find(letter) ~= nil, grape[name] ~= nil)
        if grape[name] then
          grape[name]:fill(0) -- a gate of ln 2
        end
      end
      grape.omega:fill(math.log(math.exp(1 / (count * math.log(2))) - 1))
      for _, causal in ipairs({ false, true }) do
        arrays.close(roper.attention(q, k, k, { position = "alibi", causal = causal }),
          roper.attention(q, k, k, { position = grape, causal = causal }), 1e-6)
      end
    end
  end)

  it("draws the vectors of queries first, whatever the order of a table", function()
    local grape = roper.position.grape_a({ dim = 8, heads = 3 })
    roper.seed(1)
    for _, name in ipairs({ "query_gate", "key_gate" }) do
      arrays.close(roper.randn({ 3, 8 }) * 8 ^ -0.5, grape[name], 0)
    end
  end)

  it("does not depend on the length of its vectors", function()
    local q = roper.randn({ 1, 2, 4, 8 })
    local grape = roper.position.grape_a({ dim = 8, heads = 2 })
    local before = roper.attention(q, q, q, { position = grape })
    grape.query_gate:copy(grape.query_gate * 1000)
    grape.key_gate:copy(grape.key_gate * 0.01)
    arrays.close(before, roper.attention(q, q, q, { position = grape }), 1e-6)
  end)

  it("reduces scores more for keys that match its vector", function()
    local grape = roper.position.grape_a({ dim = 4, heads = 1, gates = "k" })
    local k = roper.zeros({ 1, 1, 3, 4 })
    k[{ 1, 1, 1 }] = grape.key_gate[1]:detach() * 10
    local q = roper.zeros({ 1, 1, 3, 4 })
    local weights = roper.attention_weights(q, k, { position = grape, causal = true })[{ 1, 1, 3 }]
    local plain = roper.attention_weights(q, q, { position = grape, causal = true })[{ 1, 1, 3 }]
    assert.is_true(weights[1]:item() < plain[1]:item())
    assert.is_true(weights[2]:item() > plain[2]:item())
  end)

  it("reads queries and keys before rotation, joined with RoPE", function()
    local q = roper.randn({ 1, 2, 5, 8 })
    local grape = roper.position.grape_a({ dim = 8, heads = 2 })
    local positions = roper.position.positions(q, q, { causal = true })
    local bias = grape:bias(q, q, positions)
    arrays.close(roper.attention(q, q, q, { position = "rope", bias = bias, causal = true }),
      roper.attention(q, q, q, { position = { parts = { "rope", grape } },
        causal = true }), 1e-6)
  end)
end)
