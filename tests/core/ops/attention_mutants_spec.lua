-- The tests of attention find known mistakes: each is planted through the public interface, and the
-- check that attention passes must fail.

local agreement = require("tests.agreement")
local roper = require("roper")

local roper_scheme = roper.position.roper({ dim = 8 })
local rope_scheme = roper.position.rope({ dim = 8 })
local causal = { position = roper_scheme, causal = true }

local function with(options, changes)
  local result = {}
  for _, from in ipairs({ options, changes }) do
    for name, value in pairs(from) do
      result[name] = value
    end
  end
  return result
end

local function positions(q)
  return roper.arange(0, q:size(3), 1, "float64")
end

--- A mask [T, T] that shows query i the keys up to i + shift.
local function shifted_mask(time, shift)
  local place = roper.arange(0, time)
  return place:view({ 1, time }):le(place:view({ time, 1 }) + shift)
end

local function other_pairing(scheme)
  local o = scheme:options()
  o.pairing = o.pairing == "half" and "interleaved" or "half"
  return roper.position.rope(o)
end

local mutants = {
  ["values rotated twice: the angle is 2j - i"] = function(q, k, v, options)
    return roper.attention(q, k, options.position:rotate(v, positions(q), "v"), options)
  end,
  ["values not rotated: the angle is -i"] = function(q, k, v, options)
    return roper.attention(q, k, v, with(options, { position = options.position:only("qko") }))
  end,
  ["output not rotated back: the angle is j"] = function(q, k, v, options)
    return roper.attention(q, k, v, with(options, { position = options.position:only("qkv") }))
  end,
  ["output rotated forth instead of back: the angle is j + i"] = function(q, k, v, options)
    local turned = roper.attention(q, k, v, with(options,
      { position = options.position:only("qkv") }))
    return options.position:rotate(turned, positions(q), "o")
  end,
  ["keys not rotated"] = function(q, k, v, options)
    return roper.attention(q, k, v, with(options, { position = options.position:only("qvo") }))
  end,
  ["swapped pairing"] = function(q, k, v, options)
    return roper.attention(q, k, v, with(options, { position = other_pairing(options.position) }))
  end,
  ["the sign of the sine flipped"] = function(q, k, v, options)
    return roper.attention(q, k, v, with(options, { positions = -positions(q) }))
  end,
  ["the sign of the sine flipped for keys"] = function(q, k, v, options)
    return roper.attention(q, k, v, with(options, { query_positions = positions(q),
      key_positions = -positions(k) }))
  end,
  ["the causal mask one key too wide"] = function(q, k, v, options)
    return roper.attention(q, k, v, with(options, { causal = false,
      mask = shifted_mask(q:size(3), 1) }))
  end,
  ["the causal mask one key too narrow"] = function(q, k, v, options)
    return roper.attention(q, k, v, with(options, { causal = false,
      mask = shifted_mask(q:size(3), -1) }))
  end,
  ["no causal mask"] = function(q, k, v, options)
    return roper.attention(q, k, v, with(options, { causal = false }))
  end,
  ["queries one place off"] = function(q, k, v, options)
    return roper.attention(q, k, v, with(options, { query_positions = positions(q) + 1 }))
  end,
  ["another base"] = function(q, k, v, options)
    return roper.attention(q, k, v, with(options,
      { position = roper.position.roper({ dim = 8, base = 10001 }) }))
  end,
  ["no scale"] = function(q, k, v, options)
    return roper.attention(q, k, v, with(options, { scale = 1 }))
  end,
}

describe("the check of attention", function()
  local inputs

  before_each(function()
    roper.seed(1)
    inputs = { agreement.inputs({ keys = 100 }) }
  end)

  it("accepts attention, also with a mask equal to the causal one", function()
    agreement.check(inputs, causal)
    agreement.check(inputs, causal, function(q, k, v, options)
      return roper.attention(q, k, v, with(options, { causal = false,
        mask = shifted_mask(q:size(3), 0) }))
    end)
  end)

  it("accepts attention composed of rotations and explicit weights", function()
    agreement.check(inputs, causal, function(q, k, v, options)
      local p, scheme = positions(q), options.position
      local scores = scheme:rotate(q, p, "q"):matmul(scheme:rotate(k, p, "k"):transpose(3, 4))
        / math.sqrt(q:size(4))
      local hidden = shifted_mask(q:size(3), 0):eq(0)
      local weights = roper.where(hidden, -math.huge, scores):softmax(4)
      return scheme:unrotate(weights:matmul(scheme:rotate(v, p, "v")), p, "o")
    end)
  end)

  for name, mutant in pairs(mutants) do
    it("rejects " .. name, function()
      assert.error_matches(function() agreement.check(inputs, causal, mutant) end,
        "differs from the oracle by ")
    end)
  end

  it("distinguishes RoPE from RoPER", function()
    local rope = { position = rope_scheme, causal = true }
    agreement.check(inputs, rope)
    assert.error_matches(function()
      agreement.check(inputs, rope, function(q, k, v) return roper.attention(q, k, v, causal) end)
    end, "differs from the oracle by ")
  end)
end)
