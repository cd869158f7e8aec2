local arrays = require("tests.arrays")
local roper = require("roper")

describe("grape_m", function()
  before_each(function() roper.seed(1) end)

  -- A scheme with context and large steps; its frequencies are those of RoPE.
  local function with_context(options)
    local all = { dim = 8, heads = 3, d_model = 6 }
    for name, value in pairs(options) do
      all[name] = value
    end
    local grape = roper.position.grape_m(all)
    grape.step_weight:copy(roper.randn(grape.step_weight:shape()) * 20)
    return grape
  end

  it("is RoPE or RoPER at the start without context", function()
    local q = roper.randn({ 2, 3, 5, 8 })
    for rotate, name in pairs({ qk = "rope", qkvo = "roper" }) do
      for _, per_head in ipairs({ false, true }) do
        local o = roper.attention(q, q, q, { offset = 131072, position = { type = "grape_m",
          context = false, rotate = rotate, per_head = per_head } })
        arrays.close(roper.attention(q, q, q, { offset = 131072, position = name }), o, 1e-5)
      end
    end
  end)

  it("is RoPE or RoPER at the positions that the steps of earlier tokens add up to", function()
    local q, x = roper.randn({ 1, 3, 5, 8 }), roper.randn({ 1, 5, 6 })
    for rotate, name in pairs({ qk = "rope", qkvo = "roper" }) do
      local grape = with_context({ rotate = rotate })
      local list, sum = {}, 0
      for t = 1, 5 do
        list[t] = sum
        local logit = (grape.step_weight * x[{ 1, t }]):sum() + grape.step_bias
        sum = sum + (logit / 16):sigmoid():item()
      end
      assert.is_true(sum > 0.1 and sum < 5)
      local o = roper.attention(q, q, q, { position = grape, input = x, causal = true })
      arrays.close(roper.attention(q, q, q, { position = name, positions = list, causal = true }),
        o, 1e-5)
    end
  end)

  it("is RoPE or RoPER if all steps are 1", function()
    local q, x = roper.randn({ 2, 3, 5, 8 }), roper.randn({ 2, 5, 6 })
    for rotate, name in pairs({ qk = "rope", qkvo = "roper" }) do
      local grape = roper.position.grape_m({ dim = 8, d_model = 6, rotate = rotate })
      grape.step_bias:fill(1000)
      local o = roper.attention(q, q, q, { position = grape, input = x, causal = true })
      arrays.close(roper.attention(q, q, q, { position = name, causal = true }), o, 1e-5)
    end
  end)

  it("begins with steps of 0.39 for all tokens", function()
    local q, x = roper.randn({ 1, 2, 4, 4 }), roper.randn({ 1, 4, 8 })
    local step = 1 / (1 + math.exp(-math.log(math.exp(1e-3) - 1) / 16))
    arrays.close(roper.attention(q, q, q, { position = "rope", causal = true,
      positions = { 0, step, 2 * step, 3 * step } }), roper.attention(q, q, q, { input = x,
      position = { type = "grape_m", d_model = 8 }, causal = true }), 1e-5)
  end)

  it("has steps and frequencies of each head on request", function()
    for _, per_head in ipairs({ false, true }) do
      for _, step_per_head in ipairs({ false, true }) do
        local grape = with_context({ per_head = per_head, step_per_head = step_per_head })
        assert.same(per_head and { 3, 4 } or { 4 }, grape.log_theta:shape())
        assert.same({ step_per_head and 3 or 1, 6 }, grape.step_weight:shape())
      end
    end
    local grape = with_context({ step_per_head = true })
    local q = roper.randn({ 1, 1, 5, 8 }):expand({ 1, 3, 5, 8 }):contiguous()
    local o = roper.attention(q, q, q, { position = grape, input = roper.randn({ 1, 5, 6 }),
      causal = true })
    assert.is_true((o:narrow(2, 1, 1) - o:narrow(2, 2, 1)):abs():max():item() > 1e-3)
  end)

  it("computes angles once for all parts", function()
    local grape = with_context({ rotate = "qkvo" })
    local q, x = roper.randn({ 2, 3, 5, 8 }), roper.randn({ 2, 5, 6 })
    local positions = roper.position.positions(q, q, { causal = true })
    local angle = grape:turns("q", positions, x)
    for _, part in ipairs({ "k", "v", "o" }) do
      assert.is_true(rawequal(angle, grape:turns(part, positions, x)))
    end
  end)

  it("has gradients of frequencies as precise at far positions as at near ones", function()
    local function gradient(dtype, offset)
      roper.seed(2)
      local function draw()
        return roper.randn({ 2, 2, 60, 8 }, "float64"):to(dtype)
      end
      local grape = roper.position.grape_m({ dim = 8, context = false, rotate = "qkvo" })
      grape.log_theta = grape.log_theta:detach():to(dtype):parameter()
      roper.attention(draw(), draw(), draw(), { position = grape, causal = true, offset = offset })
        :backward(draw())
      return grape.log_theta.grad:to("float64")
    end
    local exact = gradient("float64", 0)
    for _, offset in ipairs({ 0, 4000, -131072 }) do
      local off = ((gradient("float32", offset) - exact):norm() / exact:norm()):item()
      assert(off < 2e-6, ("%d: %g"):format(offset, off))
    end
  end)

  it("describes the equation of its options", function()
    local function formula(options)
      return roper.position.describe(options).formula
    end
    local text = formula({ type = "grape_m", rotate = "qkvo" })
    assert.truthy(text:find("R_{Φⱼ−Φᵢ} kⱼ", 1, true) and text:find("R_{Φⱼ−Φᵢ} vⱼ", 1, true), text)
    text = formula({ type = "grape_m", context = false })
    assert.truthy(text:find("R_{j−i} kⱼ", 1, true) and text:find("p exp(l_t / 16)", 1, true), text)
  end)

  it("rejects unsupported options", function()
    local q, x = roper.randn({ 1, 2, 5, 4 }), roper.randn({ 1, 5, 8 })
    local function refused(message, how, options)
      options = options or { d_model = 8 }
      options.type = "grape_m"
      how.position = options
      assert.error_matches(function() roper.attention(q, q, q, how) end, message)
    end
    refused("grape_m: option d_model: expected a number, got nil", {}, {})
    refused("position: grape_m: expected causal attention", { input = x })
    refused("position: grape_m: expected the input of the layer", { causal = true })
    refused("position: grape_m: expected one number per position, got several coordinates",
      { positions = roper.zeros({ 1, 5, 2 }) }, { context = false })
    for _, option in ipairs({ "per_head", "step_per_head" }) do
      assert.error_matches(function()
        roper.position.grape_m({ dim = 4, d_model = 8, [option] = true })
      end, "grape_m: option heads: expected a number, got nil")
    end
    assert.error_matches(function()
      roper.position.grape_m({ dim = 4, d_model = 8, rotate = "qx" })
    end, 'grape_m: option rotate: expected letters of "qkvo", each at most once, got "qx"')
    assert.error_matches(function() roper.position.grape_m({ dim = 3, d_model = 8 }) end,
      "grape_m: expected .* an even integer")
  end)
end)
