local arrays = require("tests.arrays")
local roper = require("roper")

describe("position.list and position.resolve", function()
  it("name every scheme, and create one from each name", function()
    local names = roper.position.list()
    assert.equal("none", names[1])
    local known = {}
    for _, name in ipairs(names) do
      known[name] = true
      local scheme = roper.position.resolve(name, { dim = 4, heads = 2, d_model = 8, length = 16 })
      assert.is_true(name == "none" or scheme:options() ~= nil)
    end
    assert.is_true(known.rope and known.roper and known.alibi)
    table.remove(roper.position.list())
    assert.equal(#names, #roper.position.list())
  end)

  it("accept a name, options with a type, a scheme or nothing", function()
    assert.is_nil(roper.position.resolve(nil, 8))
    assert.is_nil(roper.position.resolve("none", 8))
    assert.equal("qk", roper.position.resolve("rope", 8):options().rotate)
    local options = roper.position.resolve({ type = "roper", base = 5 }, 8):options()
    assert.same({ 8, 5.0, "qkvo" }, { options.dim, options.base, options.rotate })
    local scheme = roper.position.rope({ dim = 4 })
    assert.equal(scheme, roper.position.resolve(scheme, 8))
  end)

  it("reject other names", function()
    for _, value in ipairs({ "RoPE", "", 5, true }) do
      local ok, message = pcall(roper.position.resolve, value, 8)
      assert.is_false(ok)
      assert.matches(tostring(value), message, 1, true)
    end
    assert.error_matches(function() roper.position.resolve({ base = 5 }, 8) end, "got nil")
  end)
end)

describe("position.convert_pairing", function()
  --- Attention of a projected sequence: x [T, in], weights of q, k, v [heads * dim, in], of the
  --- output [in, heads * dim].
  local function attend(x, weights, heads, scheme)
    local time, width = x:size(1), weights.q:size(1)
    local parts = {}
    for name in ("qkv"):gmatch(".") do
      parts[name] = roper.linear(x, weights[name]):view({ 1, time, heads, width // heads })
        :transpose(2, 3)
    end
    local output = roper.attention(parts.q, parts.k, parts.v, { position = scheme, causal = true })
    return roper.linear(output:transpose(2, 3):view({ time, width }), weights.o)
  end

  local function random_weights(heads, dim)
    local weights = {}
    for name in ("qkvo"):gmatch(".") do
      local shape = name == "o" and { 6, heads * dim } or { heads * dim, 6 }
      weights[name] = roper.randn(shape, "float64")
    end
    return weights
  end

  it("leaves a projection with attention unchanged", function()
    arrays.each_seed(20, function(seed)
      local heads, dim = math.random(3), 2 * math.random(1, 4)
      local rotated = 2 * math.random(0, dim // 2)
      local name = seed % 2 == 0 and "rope" or "roper"
      local from, to = "half", "interleaved"
      if seed % 4 > 1 then
        from, to = to, from
      end
      local function scheme(pairing)
        return roper.position[name]({ dim = dim, pairing = pairing, fraction = rotated / dim })
      end
      local x, weights = roper.randn({ 7, 6 }, "float64"), random_weights(heads, dim)
      local expected = attend(x, weights, heads, scheme(from))
      local converted = {}
      for letter, weight in pairs(weights) do
        converted[letter] = weight
        if name == "roper" or letter == "q" or letter == "k" then
          converted[letter] = roper.position.convert_pairing(weight, from, to,
            { heads = heads, rotated = rotated, axis = letter == "o" and 2 or 1 })
        end
      end
      arrays.close(expected, attend(x, converted, heads, scheme(to)), 1e-12)
      if rotated > 2 then -- with one pair both pairings are one
        local swapped = attend(x, weights, heads, scheme(to))
        assert.is_true((expected - swapped):abs():max():item() > 1e-3)
      end
    end)
  end)

  it("undoes itself, for matrices and biases", function()
    roper.seed(1)
    for _, shape in ipairs({ { 16 }, { 16, 3 }, { 5, 16 } }) do
      local options = { heads = 2, rotated = 6, axis = #shape == 2 and shape[2] == 16 and 2 or 1 }
      local w = roper.randn(shape)
      local there = roper.position.convert_pairing(w, "half", "interleaved", options)
      assert.is_true((w - there):abs():max():item() > 0)
      arrays.close(w, roper.position.convert_pairing(there, "interleaved", "half", options), 0)
      arrays.close(w, roper.position.convert_pairing(w, "half", "half", options), 0)
    end
    assert.same({ 0, 2, 1, 3, 4 }, roper.position.convert_pairing(roper.arange(0, 5), "half",
      "interleaved", { rotated = 4 }):totable())
  end)

  it("rejects what does not fit", function()
    local w = roper.ones({ 12, 3 })
    local function refused(message, ...)
      local arguments = table.pack(...)
      assert.error_matches(function()
        roper.position.convert_pairing(w, table.unpack(arguments, 1, arguments.n))
      end, "convert_pairing: .-" .. message)
    end
    refused("axis 1: expected a multiple of 5 heads, got 12 features", "half", "half",
      { heads = 5 })
    refused("heads: expected a positive integer, got 0", "half", "half", { heads = 0 })
    refused("rotated: expected an even number up to 12, got 14", "half", "half", { rotated = 14 })
    refused("rotated: expected an even number up to 12, got 3", "half", "half", { rotated = 3 })
    assert.error_matches(function()
      roper.position.convert_pairing(w, "half", "interleaved", { axis = 3 })
    end, "an axis from 1 to 2")
  end)
end)
