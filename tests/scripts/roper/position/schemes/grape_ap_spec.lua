local arrays = require("tests.arrays")
local roper = require("roper")

describe("grape_ap", function()
  before_each(function() roper.seed(1) end)

  it("is ALiBi with slopes of m ln 2 if no token matches", function()
    local grape = roper.position.grape_ap({ heads = 3, d_model = 6 })
    grape.path_weight:fill(0)
    local q, k, x = roper.randn({ 2, 3, 4, 8 }), roper.randn({ 2, 3, 6, 8 }),
      roper.randn({ 2, 6, 6 })
    local positions = roper.position.positions(q, k, { causal = true })
    local bias = roper.position.alibi({ heads = 3 }):bias(q, k, positions) * math.log(2)
    arrays.close(roper.attention(q, k, k, { bias = bias, causal = true }),
      roper.attention(q, k, k, { position = grape, input = x, causal = true }), 1e-5)
  end)

  it("adds what each token between key and query adds", function()
    local grape = roper.position.grape_ap({ heads = 1, d_model = 4, width = 2 })
    local q, x = roper.randn({ 1, 1, 6, 4 }, "float64"), roper.randn({ 1, 6, 4 }, "float64")
    local positions = roper.position.positions(q, q, { causal = true })
    local p = x[1]:matmul(grape.path_weight:to("float64"):transpose(1, 2)):detach():totable()
    local bias = grape:bias(q, q, positions, x)[{ 1, 1 }]:detach():totable()
    for i = 1, 6 do
      local sum = 0
      for j = i, 1, -1 do
        assert.is_true(math.abs(bias[i][j] - sum) < 1e-9)
        local a, b, angle = p[j][1], p[j][2], j - 1
        local size = math.sqrt((a * a + b * b) / 2 + 2 ^ -23)
        local product = p[i][1] * (a * math.cos(angle) - b * math.sin(angle))
          + p[i][2] * (a * math.sin(angle) + b * math.cos(angle))
        sum = sum - 2 ^ -8 * math.log(1 + math.exp(-product / size / 2))
      end
    end
  end)

  it("keeps sums near the query precise in a long text", function()
    local grape = roper.position.grape_ap({ heads = 2, d_model = 4 })
    local function bias(dtype)
      roper.seed(2)
      local q = roper.zeros({ 1, 2, 1, 4 }, dtype)
      local k, x = roper.zeros({ 1, 2, 3000, 4 }, dtype), roper.randn({ 1, 3000, 4 }, "float64")
      local positions = roper.position.positions(q, k, { causal = true })
      return grape:bias(q, k, positions, x:to(dtype)):to("float64"):narrow(4, 2990, 11)
    end
    arrays.close(bias("float64"), bias("float32"), 1e-6)
  end)

  it("is finite for inputs far from 1", function()
    local grape = roper.position.grape_ap({ heads = 2, d_model = 4 })
    local q = roper.randn({ 1, 2, 5, 4 })
    for _, size in ipairs({ 0, 1e-30, 1e8 }) do
      local x = (roper.randn({ 1, 5, 4 }) * size):parameter()
      local o = roper.attention(q, q, q, { position = grape, input = x, causal = true })
      o:sum():backward()
      assert.is_true((o:isfinite():min() * x.grad:isfinite():min()):item() == 1)
    end
  end)

  it("rejects unsupported options", function()
    local q, x = roper.randn({ 1, 2, 5, 4 }), roper.randn({ 1, 5, 8 })
    local function refused(message, how)
      how.position = roper.position.grape_ap({ heads = 2, d_model = 8 })
      assert.error_matches(function() roper.attention(q, q, q, how) end, message)
    end
    refused("position: grape_ap: expected causal attention", { input = x })
    refused("position: grape_ap: expected the input of the layer", { causal = true })
    refused("position: grape_ap: expected one number per position, got several coordinates",
      { causal = true, input = x, positions = roper.zeros({ 1, 5, 2 }) })
    assert.error_matches(function()
      roper.position.grape_ap({ heads = 2, d_model = 8, width = 3 })
    end, "grape_ap: option width: expected an even number, got 3")
  end)
end)
