local arrays = require("tests.arrays")
local roper = require("roper")

describe("selective", function()
  before_each(function() roper.seed(1) end)

  -- A scheme with parameters far from their initial values.
  local function stirred(options)
    local scheme = roper.position.selective(options)
    for _, tensor in pairs(scheme:parameters()) do
      tensor:copy(roper.randn(tensor:shape()))
    end
    return scheme
  end

  for number, options in ipairs({ { rotate = "qk" }, { rotate = "kv", bias = true, gate = true },
    { rotate = "qkvo", convolution = false }, { rotate = "qk", convolution = false, gate = true },
    { rotate = "qkvo", width = 1, bias = true }, { rotate = "qkvo", width = 9, gate = true },
    { rotate = "vo", base = 1, rank = 1, bias = true } }) do
    it("passes the battery with options " .. number, function()
      options.type = "selective"
      local findings = roper.position.check(options)
      assert.is_true(findings.ok, tostring(findings))
    end)
  end

  it("rotates by the tokens after a key up to the query, and those that the convolution adds",
    function()
      local scheme = stirred({ dim = 4, heads = 2, d_model = 6, width = 3 })
      local q, k = roper.randn({ 1, 2, 8, 4 }), roper.randn({ 1, 2, 8, 4 })
      local x = roper.randn({ 1, 8, 6 })
      -- the logarithm of the ratio of a query's weights for two keys
      local function ratio(query, key, other)
        local weights = roper.attention_weights(q, k, { position = scheme, input = x,
          causal = true })
        return (weights[{ {}, {}, query, key }] / weights[{ {}, {}, query, other }]):log():detach()
      end
      local far, near = ratio(8, 3, 4), ratio(8, 6, 7)
      x[{ 1, 3 }]:fill(1) -- read by the convolution up to token 5
      arrays.close(near, ratio(8, 6, 7), 1e-4)
      assert.is_true((far - ratio(8, 3, 4)):abs():max():item() > 1e-2)
    end)

  it("has the initial values of the released models", function()
    local scheme = roper.position.selective({ dim = 8, heads = 8, d_model = 512, rank = 64,
      width = 64, bias = true, gate = true })
    for name, tensor in pairs(scheme:parameters()) do
      if tensor:rank() == 2 and name ~= "log_bias" then
        assert.near(0, tensor:mean():item(), 2e-3, name)
        assert.near(0.02, tensor:square():mean():sqrt():item(), 1e-3, name)
      else
        assert.equal(0, tensor:abs():max():item(), name)
      end
    end
    scheme = roper.position.selective({ dim = 4, heads = 1, d_model = 2 })
    assert.same({ 16, 2 }, scheme.down_weight:shape())
    assert.same({ 2, 4 }, scheme.convolution_weight:shape())
    assert.is_nil(scheme:parameters().log_bias)
    assert.is_nil(scheme:parameters().gate_weight)
  end)

  it("is finite for inputs of any size", function()
    local scheme = stirred({ dim = 4, heads = 2, d_model = 8, gate = true, bias = true })
    local q = roper.randn({ 1, 2, 5, 4 })
    for _, size in ipairs({ 0, 1e-30, 1e8, 1e30 }) do
      local x = (roper.randn({ 1, 5, 8 }) * size):parameter()
      local o = roper.attention(q, q, q, { position = scheme, input = x, causal = true })
      o:backward(roper.ones(o:shape()))
      assert.is_true(o:isfinite():all() and x.grad:isfinite():all(), tostring(size))
    end
  end)

  it("rejects unsupported options", function()
    local function refused(message, options)
      assert.error_matches(function()
        roper.position.selective(options)
      end, message)
    end
    refused("selective: expected d_model to be a multiple of heads, got 8 and 3",
      { dim = 4, heads = 3, d_model = 8 })
    refused("selective: expected fraction %* dim to be an even integer",
      { dim = 5, heads = 2, d_model = 8 })
    refused('selective: option rotate: expected letters of "qkvo", each at most once, got "qx"',
      { dim = 4, heads = 2, d_model = 8, rotate = "qx" })
    refused("selective: option base: expected a finite positive number, got 0",
      { dim = 4, heads = 2, d_model = 8, base = 0 })
    local scheme = roper.position.selective({ dim = 4, heads = 2, d_model = 8 })
    local q = roper.randn({ 1, 2, 5, 4 })
    assert.error_matches(function() roper.attention(q, q, q, { position = scheme }) end,
      "position: selective: expected causal attention")
    assert.error_matches(function()
      roper.attention(q, q, q, { position = scheme, causal = true })
    end, "position: selective: expected the input of the layer")
    assert.error_matches(function()
      roper.attention(q, q, q, { position = scheme, causal = true,
        input = roper.ones({ 1, 5, 6 }) })
    end, "position: selective: expected an input %[1, 5, 8%]")
  end)
end)
