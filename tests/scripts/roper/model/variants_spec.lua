-- Options of the Transformer for the differences between published models: norms, head sizes,
-- scales, caps and gates. Logits and golden values are in published/import_spec.lua.

local core = require("roper.core")
local models = require("tests.models")
local roper = require("roper")
local scratch = require("tests.scratch")

local VARIANTS <const> = {
  reordered = { norm = "reordered", qk_norm = "all" },
  sandwich = { norm = "sandwich", rms_norm = true, activation = "geglu_tanh",
    attention_softcap = 2, logits_softcap = 3, attention_scale = 0.4 },
  heads = { head_dim = 6, kv_heads = 1, qk_norm = "head", activation = "geglu" },
  convolutions = { short_convolution = 4, head_dim = 6, kv_heads = 1, qk_norm = "head" },
  tied_convolution = { short_convolution = 3, tied = true, position = "roper" },
  windows = { position = { "window{size=3}+rope", "none" }, head_dim = 4 },
}

describe("a Transformer", function()
  before_each(scratch.create)
  after_each(scratch.remove)

  for name, options in pairs(VARIANTS) do
    it("generates with a cache what it computes without: " .. name, function()
      local model = models.convert(models.small(options), "float64")
      local tokens = models.task():batch(2)
      local whole = roper.no_grad(model, tokens)
      local cache = model:cache({ batch = 2, length = 30 })
      local parts = {}
      roper.no_grad(function()
        for i, part in ipairs({ { 1, 9 }, { 10, 1 }, { 11, 20 } }) do
          parts[i] = model(tokens:narrow(2, part[1], part[2]):contiguous(), cache)
        end
      end)
      assert.is_true(models.difference(whole, core.cat(parts, 2)) < 1e-12)
    end)

    it("is saved and loaded with all options: " .. name, function()
      local model = models.small(options)
      local path = scratch.path("model.safetensors")
      roper.save(path, model)
      local tokens = models.task():batch(1)
      assert.equal(0, models.difference(roper.load(path)(tokens), model(tokens)))
    end)

    it("has the gradients of central differences: " .. name, function()
      local model = models.convert(models.small(options), "float64")
      local given = models.task():batch(1):narrow(2, 1, 6):contiguous()
      local tokens, targets = given:narrow(2, 1, 5), given:narrow(2, 2, 5)
      model:loss(tokens, targets):backward()
      local step = 1e-6
      for _, entry in ipairs(model:named_parameters()) do
        local flat, gradient = entry.tensor:detach():view({ -1 }), entry.tensor.grad
        local i = 1 + #entry.name % flat:count()
        local function loss(change)
          flat:narrow(1, i, 1):copy(flat:narrow(1, i, 1) + change)
          local value = roper.no_grad(function() return model:loss(tokens, targets):item() end)
          flat:narrow(1, i, 1):copy(flat:narrow(1, i, 1) - change)
          return value
        end
        local expected = (loss(step) - loss(-step)) / (2 * step)
        local found = gradient and gradient:contiguous():view({ -1 })[i]:item() or 0
        assert.is_true(math.abs(expected - found) < 1e-7 + 1e-5 * math.abs(expected),
          ("%s: %g, %g"):format(entry.name, expected, found))
      end
    end)
  end

  it("normalizes what the option norm says", function()
    local x = roper.randn({ 1, 3, 8 })
    local function layer(norm)
      roper.seed(2)
      local made = roper.nn.TransformerLayer({ d_model = 8, heads = 2, norm = norm })
      made.attention_norm.gain = made.attention_norm.gain * 2
      return made
    end
    local f = function(y) return y * 3 + 1 end
    for norm, expected in pairs({
      pre = function(l) return x + f(l.attention_norm(x)) end,
      post = function(l) return l.attention_norm(x + f(x)) end,
      reordered = function(l) return x + l.attention_norm(f(x)) end,
      sandwich = function(l) return x + l.attention_norm_after(f(l.attention_norm(x))) end,
    }) do
      local made = layer(norm)
      assert.equal(0, models.difference(made:residual(x, made.attention_norm, f), expected(made)))
    end
    assert.is_nil(roper.nn.Transformer({ vocabulary = 3, norm = "post", layers = 1 }).norm)
    assert.truthy(roper.nn.Transformer({ vocabulary = 3, norm = "reordered", layers = 1 }).norm)
  end)

  it("has heads of the given size", function()
    local attention = roper.nn.MultiHeadAttention({ d_model = 10, heads = 3, head_dim = 4,
      kv_heads = 1, qk_norm = "head" })
    assert.same({ { 12, 10 }, { 4, 10 }, { 10, 12 }, { 4 } }, { attention.query.weight:shape(),
      attention.key.weight:shape(), attention.output.weight:shape(),
      attention.key_norm.gain:shape() })
    assert.same({ 2, 5, 10 }, attention(roper.zeros({ 2, 5, 10 })):shape())
    assert.same({ { 12 }, { 4 } }, (function(other)
      return { other.query_norm.gain:shape(), other.key_norm.gain:shape() }
    end)(roper.nn.MultiHeadAttention({ d_model = 10, heads = 3, head_dim = 4, kv_heads = 1,
      qk_norm = "all" })))
    assert.error_matches(function() roper.nn.MultiHeadAttention({ d_model = 10, heads = 3 }) end,
      "expected d_model divisible by heads")
  end)
end)
