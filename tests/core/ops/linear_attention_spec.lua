local agreement = require("tests.agreement")
local arrays = require("tests.arrays")
local attention_gradients = require("tests.attention_gradients")
local golden = require("tests.golden")
local roper = require("roper")

local pairings = { "half", "interleaved" }

local function scheme(rotate, pairing, fraction, value_fraction)
  return roper.position.rope({ dim = 8, rotate = rotate, pairing = pairing or "half",
    fraction = fraction, value_fraction = value_fraction })
end

describe("linear attention agrees with the definition", function()
  for _, rotate in ipairs(agreement.subsets()) do
    it(('rotating "%s", both pairings, causal and not'):format(rotate), function()
      roper.seed(#rotate + 1)
      for i, pairing in ipairs(pairings) do
        for _, causal in ipairs({ false, true }) do
          agreement.check_linear({ agreement.inputs({ keys = 100 + i }) },
            { position = scheme(rotate, pairing), causal = causal })
        end
      end
    end)
  end

  it("at 641 positions, also if only some features are rotated", function()
    roper.seed(1)
    for _, fractions in ipairs({ { 1, 1 }, { 0.5, 0.5 }, { 0.25, 1 }, { 1, 0 } }) do
      for i, pairing in ipairs(pairings) do
        agreement.check_linear({ agreement.inputs() }, { causal = i == 1,
          position = scheme("qkvo", pairing, fractions[1], fractions[2]) })
      end
    end
  end)

  it("at any positions", function()
    roper.seed(2)
    for _, options in ipairs({
      { offset = 131072 },
      { offset = -17.25 },
      { positions = roper.arange(-64, 65, 1, "float64") * 0.7310585 },
      { positions = -3.5 },
      { query_positions = roper.arange(0, 129) * 2, key_positions = roper.arange(0, 129) - 100 },
      { batch = 2, positions = roper.randn({ 2, 129 }, "float64") * 900 },
    }) do
      for i, rotate in ipairs({ "qk", "qkvo" }) do
        local inputs = { agreement.inputs({ keys = 129, batch = options.batch }) }
        local given = { position = scheme(rotate, pairings[i]), causal = i == 1 }
        for _, name in ipairs({ "offset", "positions", "query_positions", "key_positions" }) do
          given[name] = options[name]
        end
        agreement.check_linear(inputs, given)
      end
    end
  end)

  it("at the boundaries of a chunk, with fewer queries than keys and with more", function()
    roper.seed(3)
    for _, keys in ipairs({ 1, 2, 63, 64, 65, 127, 128, 129, 192 }) do
      for _, queries in ipairs({ 1, 2, 63, 64, 65, 128, 192 }) do
        local inputs = { agreement.inputs({ queries = queries, keys = keys }) }
        agreement.check_linear(inputs, { position = "roper" })
        if queries <= keys then
          agreement.check_linear(inputs, { position = "roper", causal = true, offset = 3 })
        end
      end
    end
  end)

  it("for random shapes of any memory layout", function()
    arrays.each_seed(30, function()
      local batch, heads = math.random(3), math.random(3)
      local keys, features = math.random(150), 2 * math.random(20)
      local causal, rotate = math.random(2) == 1, math.random(2) == 1 and "qk" or "qkvo"
      local values = rotate == "qk" and math.random(40) or features
      local queries = math.random(causal and keys or 150)
      local inputs = { arrays.random_layout({ batch, heads, queries, features }, "float64"),
        arrays.random_layout({ batch, heads, keys, features }, "float64"),
        arrays.random_layout({ batch, heads, keys, values }, "float64") }
      agreement.check_linear(inputs, { causal = causal, epsilon = math.random(),
        position = { type = "rope", rotate = rotate, pairing = pairings[math.random(2)] } })
    end)
  end)

  it("for one feature, and for more than fit in vector registers", function()
    roper.seed(4)
    agreement.check_linear({ agreement.inputs({ keys = 70, features = 1 }) }, { causal = true })
    agreement.check_linear({ agreement.inputs({ keys = 70, features = 130, value_features = 5 }) },
      { position = "rope", causal = true })
    agreement.check_linear({ agreement.inputs({ keys = 70, features = 6, value_features = 70 }) },
      { position = "rope" })
  end)
end)

describe("linear attention", function()
  it("agrees with another implementation's values and gradients", function()
    local cases = {
      none = { position = "none", causal = true },
      rope = { position = { type = "rope", base = 100 }, causal = true },
      roper = { position = { type = "roper", base = 100, pairing = "interleaved" },
        causal = true },
      whole = { position = { type = "roper", base = 100 } },
    }
    for name, options in pairs(cases) do
      options.positions = golden.values("linear_attention").positions
      attention_gradients.check_golden(roper.linear_attention, "linear_attention_" .. name, options)
    end
  end)

  it("depends on relative positions only", function()
    roper.seed(5)
    local q, k, v = agreement.inputs({ keys = 200, heads = 2 })
    for _, position in ipairs({ "rope", "roper" }) do
      for _, causal in ipairs({ false, true }) do
        local options = { position = position, causal = causal }
        local here = roper.linear_attention(q, k, v, options)
        options.offset = 131072
        arrays.close(here, roper.linear_attention(q, k, v, options), 1e-12, position)
      end
    end
  end)

  it("does not depend on later tokens", function()
    roper.seed(6)
    local q, k, v = agreement.inputs({ keys = 150 })
    local options = { position = "roper", causal = true }
    for _, seen in ipairs({ 1, 63, 64, 65, 100 }) do
      local function first(x)
        return x:narrow(3, 1, seen)
      end
      local expected = roper.linear_attention(first(q), first(k), first(v), options)
      local other_k, other_v = k:clone(), v:clone()
      other_k:narrow(3, seen + 1, 150 - seen):fill(1e100)
      other_v:narrow(3, seen + 1, 150 - seen):fill(-1e100)
      local actual = roper.linear_attention(q, other_k, other_v, options)
      arrays.close(expected, first(actual), 1e-12)
    end
  end)

  it("returns plain means for equal keys, if nothing is rotated", function()
    local v = roper.arange(0, 100, 1, "float64"):view({ 1, 1, 100, 1 })
    local ones = roper.ones({ 1, 1, 100, 3 }, "float64")
    local y = roper.linear_attention(ones, ones, v, { causal = true, epsilon = 0 })
    arrays.close(v / 2, y, 1e-12)
  end)

  it("can have negative weights once rotated, and weights that do not sum to 1", function()
    roper.seed(7)
    local q, k, v = agreement.inputs({ keys = 30, features = 2 })
    local position = roper.position.rope({ dim = 2 })
    local _, weights = roper.oracle.linear_attention(q, k, v, { position = position })
    assert.is_true(weights:min():item() < 0)
    assert.is_true((weights:sum(4) - 1):abs():max():item() > 0.1)
    local _, plain = roper.oracle.linear_attention(q, k, v, { epsilon = 0 })
    assert.is_true(plain:min():item() > 0)
    arrays.close(roper.ones({ 1, 1, 30 }, "float64"), plain:sum(4), 1e-12)
  end)

  it("is 0 if features underflow, and finite if they are large", function()
    local q = roper.full({ 1, 1, 3, 4 }, -200)
    local v = roper.ones({ 1, 1, 3, 4 })
    assert.equal(0, roper.linear_attention(q, q, v):abs():max():item())
    local large = roper.full({ 1, 1, 3, 4 }, 1e15)
    arrays.close(v, roper.linear_attention(large, large, v), 1e-5)
  end)

  it("stores nothing per position but inputs and outputs", function()
    local function peak(time)
      local q = roper.randn({ 1, 2, time, 32 }):parameter()
      collectgarbage()
      collectgarbage()
      roper.memory_trim()
      local before = roper.memory().live
      roper.linear_attention(q, q, q, { position = "roper", causal = true }):sum():backward()
      return roper.memory().peak - before
    end
    local short, long = peak(2048), peak(16384)
    local sums = 2 * 32 * 32 * 4 -- bytes of the running sums
    assert.is_true(long < 16384 * sums / 2, long)
    assert.is_true(long < 8 * 1.2 * short, long / short)
  end)

  it("gives the same bits on one thread and two", function()
    local threads = roper.threads()
    roper.seed(8)
    local inputs = { agreement.inputs({ batch = 3, keys = 300 }) }
    local results = {}
    for n = 1, 2 do
      roper.threads(n)
      local copies = {}
      for i, x in ipairs(inputs) do
        copies[i] = x:clone():parameter()
      end
      local y = roper.linear_attention(copies[1], copies[2], copies[3],
        { position = "roper", causal = true })
      y:square():sum():backward()
      results[n] = roper.cat({ y:detach(), copies[1].grad, copies[2].grad, copies[3].grad })
    end
    roper.threads(threads)
    arrays.close(results[1], results[2], 0)
  end)

  it("accepts no queries, no batch and no heads", function()
    for _, shape in ipairs({ { 1, 1, 0, 8 }, { 0, 1, 3, 8 }, { 1, 0, 3, 8 } }) do
      for _, causal in ipairs({ false, true }) do
        local q = roper.zeros(shape):parameter()
        local k = roper.ones({ shape[1], shape[2], 3, 8 }):parameter()
        local y = roper.linear_attention(q, k, k, { position = "roper", causal = causal })
        assert.same(shape, y:shape())
        y:sum():backward()
        assert.equal(0, k.grad:abs():sum():item())
      end
    end
  end)

  it("rejects shapes, dtypes and options that do not match", function()
    local q, k = roper.ones({ 1, 2, 3, 8 }), roper.ones({ 1, 2, 5, 8 })
    local function refused(message, ...)
      local arguments = table.pack(...)
      for name, f in pairs({ linear_attention = roper.linear_attention,
        ["oracle.linear_attention"] = roper.oracle.linear_attention }) do
        assert.error_matches(function() f(table.unpack(arguments, 1, arguments.n)) end,
          (message:gsub("NAME", name)))
      end
    end
    refused("linear_attention: expected q %[B, H, Tq, d%], k %[B, H, Tk, d%], "
      .. "v %[B, H, Tk, dv%], got %[2, 3, 8%], %[1, 2, 5, 8%]", q[1], k, k)
    refused("linear_attention: expected floats of the same dtype, got float32, float64, float32", q,
      k:to("float64"), k)
    refused("linear_attention: expected 1 to %d+ keys, got 0", q, roper.zeros({ 1, 2, 0, 8 }),
      roper.zeros({ 1, 2, 0, 8 }))
    refused("linear_attention: causal: expected at least as many keys as queries, got 3 keys for 5",
      k, q, q, { causal = true })
    for _, epsilon in ipairs({ -1e-9, 0 / 0, math.huge }) do
      refused("NAME: option epsilon: expected a finite non%-negative number, got ", q, k, k,
        { epsilon = epsilon })
    end
    refused("expected one of none, .*rope, roper.*, got .rop", q, k, k, { position = "rop" })
    refused("linear_attention: the position scheme is for 6 features, got queries %[1, 2, 3, 8%]",
      q, k, k, { position = roper.position.rope({ dim = 6 }) })
    refused("linear_attention: the position scheme is for 8 features, got values %[1, 2, 5, 4%]",
      q, k, roper.ones({ 1, 2, 5, 4 }), { position = "roper" })
    refused("positions: expected shape %[3%] or %[1, 3%], got %[4%]", q, k, k,
      { query_positions = { 0, 1, 2, 3 } })
    refused("NAME: expected positions, or query_positions and key_positions, got both", q, k, k,
      { positions = 1, key_positions = 1 })
  end)
end)
