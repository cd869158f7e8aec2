-- The gradients and the cache of whole models are in variants_spec.lua, exported modules in
-- tests/pytorch.lua.

local configuration = require("roper.workbench.study.experiment.configuration")
local core = require("roper.core")
local experiment = require("roper.workbench.study.experiment")
local gradients = require("tests.gradients")
local models = require("tests.models")
local roper = require("roper")
local scratch = require("tests.scratch")

local function small(options)
  options.short_convolution = options.short_convolution or 4
  return models.convert(models.small(options), "float64")
end

-- The logits of the tokens, with a cache for each part.
local function in_parts(model, tokens, sizes, cache)
  local parts, first = {}, 1
  for i, size in ipairs(sizes) do
    parts[i] = roper.no_grad(model, tokens:narrow(2, first, size):contiguous(), cache)
    first = first + size
  end
  return core.cat(parts, 2)
end

describe("nn.ShortConvolution", function()
  it("has the gradients of central differences", function()
    gradients.check(function(x, weight)
      local convolution = roper.nn.ShortConvolution({ features = 3 })
      convolution.weight = weight
      return convolution(x)
    end, { { 2, 6, 3 }, { 3, 4 } })
  end)

  it("initially has weights within 1 / sqrt(width), and no bias", function()
    roper.seed(1)
    local convolution = roper.nn.ShortConvolution({ features = 64, width = 9 })
    local largest = convolution.weight:abs():max():item()
    assert.is_true(largest <= 1 / 3 and largest > 0.3)
    assert.equal(64 * 9, convolution:count())
    assert.equal(4, roper.nn.ShortConvolution({ features = 2 }).weight:size(2))
  end)
end)

describe("short_convolution", function()
  before_each(scratch.create)
  after_each(scratch.remove)

  it("convolves keys and values between norm and positions", function()
    roper.seed(2)
    local attention = roper.nn.MultiHeadAttention({ d_model = 8, heads = 4, kv_heads = 2,
      qk_norm = "head", position = "roper", short_convolution = 3 })
    local x, seen = roper.randn({ 2, 7, 8 }), nil
    local attend = attention.attend
    function attention:attend(inputs)
      seen = inputs
      return attend(self, inputs)
    end
    local y = attention(x)
    local function shifted(name, at) -- of keys or values, before positions
      local flat = attention[name](x)
      flat = attention:split(flat, 2)
      flat = name == "key" and attention.key_norm(flat) or flat
      local zeros = roper.zeros({ 2, 2, at, 2 })
      return roper.cat({ zeros, flat:narrow(3, 1, 7 - at) }, 3)
    end
    local parts = {}
    for _, name in ipairs({ "key", "value" }) do
      local sum = shifted(name, 0)
      for k = 0, 2 do
        local weight = attention[name .. "_convolution"].weight[{ {}, 3 - k }]
        sum = sum + shifted(name, k) * weight:contiguous():view({ 1, 2, 1, 2 })
      end
      parts[name] = sum
    end
    assert.is_true(models.difference(parts.key, seen.k) < 1e-6)
    assert.is_true(models.difference(parts.value, seen.v) < 1e-6)
    local q = attention.query_norm(attention:split(attention.query(x)))
    local o = roper.attention(q, parts.key, parts.value, { causal = true,
      position = attention.position })
    assert.is_true(models.difference(attention.output(o:transpose(2, 3):contiguous():view({ 2, 7,
      8 })), y) < 1e-5)
  end)

  it("does not read later tokens", function()
    local model = small({})
    local tokens = models.task():batch(1)
    local other = tokens:clone()
    other[{ 1, 20 }] = (other[{ 1, 20 }]:item() + 1) % 4
    local before, after = model(tokens), model(other)
    assert.equal(0, models.difference(before:narrow(2, 1, 19), after:narrow(2, 1, 19)))
    assert.is_true(models.difference(before, after) > 0)
  end)

  it("reads prompts of different lengths as if each were alone", function()
    for _, options in ipairs({ {}, { tied = true }, { position = "path{rank=2}" } }) do
      local model = small(options)
      local tokens, lengths = models.task():batch(3), { 2, 9, 6 }
      local cache = model:cache({ batch = 3, length = 12, lengths = lengths })
      local rows = {}
      for row, length in ipairs(lengths) do -- padding is any token
        local padding = 9 - length
        rows[row] = roper.cat({ tokens:narrow(1, 3, 1):narrow(2, 1, padding),
          tokens[{ { row, row }, { 1, length + 3 } }] }, 2)
      end
      local found = in_parts(model, roper.cat(rows, 1), { 9, 1, 2 }, cache)
      for row, length in ipairs(lengths) do
        local alone = model(tokens[{ { row, row }, { 1, length + 3 } }]:contiguous())
        assert.is_true(models.difference(alone, found[{ { row, row }, { 10 - length, 12 } }])
          < 1e-12)
      end
    end
  end)

  it("continues after select and crop", function()
    local model = small({})
    local tokens = models.task():batch(2):narrow(2, 1, 10):contiguous()
    local cache = model:cache({ batch = 2, length = 12 })
    in_parts(model, tokens, { 8 }, cache)
    cache:select({ 2, 1 })
    cache:crop(5)
    local rows = roper.cat({ tokens:narrow(1, 2, 1), tokens:narrow(1, 1, 1) }, 1)
    local found = in_parts(model, rows:narrow(2, 6, 5), { 2, 3 }, cache)
    assert.is_true(models.difference(model(rows):narrow(2, 6, 5), found) < 1e-12)
  end)

  it("is an option of experiments that changes only what has it", function()
    local config = experiment.configure("copy", { preset = "smoke", short_convolution = "4" })
    local plain = experiment.configure("copy", { preset = "smoke" })
    local none = experiment.configure("copy", { preset = "smoke", short_convolution = "0" })
    assert.same({ 4, 0, false }, { config.short_convolution, none.short_convolution,
      plain.short_convolution })
    local model, without = experiment.build(config).model, experiment.build(none).model
    assert.equal(2 * 4 * 32, model:count() - without:count())
    assert.not_equal(configuration.hash(config), configuration.hash(plain))
  end)

  it("is refused by attention that is not causal, and by Hugging Face's layout", function()
    assert.error_matches(function()
      roper.nn.MultiHeadAttention({ d_model = 8, heads = 2, causal = false,
        short_convolution = 4 })
    end, "MultiHeadAttention: short_convolution: expected causal attention, got causal = false")
    assert.error_matches(function()
      roper.export(models.small({ position = "rope", short_convolution = 4, rms_norm = true,
        activation = "swiglu", attention_bias = "none", feed_forward_bias = "none",
        logits_bias = "none" }), scratch.path("exported"))
    end, "llama: short_convolution = 4 has no counterpart; expected 0")
  end)
end)
