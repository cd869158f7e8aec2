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

describe("attention agrees with the definition at 641 positions", function()
  for _, rotate in ipairs(agreement.subsets()) do
    for _, pairing in ipairs(pairings) do
      it(('rotating "%s", %s'):format(rotate, pairing), function()
        roper.seed(#rotate + 1)
        agreement.check({ agreement.inputs() }, {
          position = scheme(rotate, pairing),
          causal = pairing == "half",
        })
      end)
    end
  end

  for _, rotate in ipairs({ "qk", "qkvo" }) do
    for _, fractions in ipairs({ { 0.5, 0.5 }, { 0.25, 1 }, { 1, 0.25 }, { 0, 0.5 },
      { 0.75, 0 } }) do
      it(('rotating "%s", fractions %g and %g'):format(rotate, fractions[1], fractions[2]),
        function()
          roper.seed(1)
          for i, pairing in ipairs(pairings) do
            agreement.check({ agreement.inputs({ keys = i == 1 and 641 or 70 }) }, {
              position = scheme(rotate, pairing, fractions[1], fractions[2]), causal = true })
          end
        end)
    end
  end

  local places = {
    ["an offset of 131072"] = { offset = 131072 },
    ["a fractional offset"] = { offset = -17.25 },
    ["fractional and negative positions"] = {
      positions = roper.arange(-320, 321, 1, "float64") * 0.7310585,
    },
    ["positions in no order"] = {
      positions = (roper.arange(0, 641, 1, "float64") * 1e3):sin() * 900,
    },
    ["one position for all"] = { positions = -3.5 },
    ["positions that differ by row of the batch"] = {
      batch = 2,
      positions = roper.cat({ roper.arange(0, 641, 1, "float64"):view({ 1, 641 }),
        roper.arange(131072, 131713, 1, "float64"):view({ 1, 641 }) * -0.5 }),
    },
    ["queries and keys apart"] = {
      query_positions = roper.arange(0, 641, 1, "float64") * 2,
      key_positions = roper.arange(0, 641) - 100,
    },
  }
  for name, options in pairs(places) do
    it("with " .. name, function()
      roper.seed(2)
      for i, rotate in ipairs({ "qk", "qkvo" }) do
        agreement.check({ agreement.inputs({ batch = options.batch }) }, {
          position = scheme(rotate, pairings[i]),
          causal = i == 1,
          offset = options.offset,
          positions = options.positions,
          query_positions = options.query_positions,
          key_positions = options.key_positions,
        })
      end
    end)
  end

  it("with a large and a small base", function()
    roper.seed(3)
    for _, base in ipairs({ 1, 2.5, 5e5, 0.5 }) do
      agreement.check({ agreement.inputs({ keys = 100 }) },
        { position = roper.position.roper({ dim = 8, base = base }), causal = true })
    end
  end)

  it("with another scale", function()
    roper.seed(4)
    for _, scale in ipairs({ 1, 0.01, -0.3 }) do
      agreement.check({ agreement.inputs({ keys = 100 }) }, { position = "roper", scale = scale })
    end
  end)
end)

describe("attention agrees with the definition for", function()
  it("several batches and heads, other widths of values, one position", function()
    roper.seed(5)
    agreement.check({ agreement.inputs({ batch = 2, heads = 3, keys = 70 }) },
      { position = "roper", causal = true })
    agreement.check({ agreement.inputs({ keys = 130, value_features = 5 }) },
      { position = "rope", causal = true })
    agreement.check({ agreement.inputs({ keys = 1 }) }, { position = "roper", causal = true })
    agreement.check({ agreement.inputs({ keys = 65, features = 1 }) }, {})
  end)

  it("fewer queries than keys, aligned with the last keys if causal", function()
    roper.seed(6)
    for _, queries in ipairs({ 1, 5, 64, 65, 100 }) do
      local q, k, v = agreement.inputs({ keys = 150, heads = 2 })
      local last = q:narrow(3, 151 - queries, queries)
      local options = { position = "roper", causal = true, offset = 3 }
      agreement.check({ last, k, v }, options)
      arrays.close(roper.attention(q, k, v, options):narrow(3, 151 - queries, queries),
        roper.attention(last, k, v, options), 1e-12)
      agreement.check({ last, k, v }, { position = "roper" })
    end
  end)

  it("more queries than keys, if not causal", function()
    roper.seed(7)
    agreement.check({ agreement.inputs({ queries = 70, keys = 3 }) }, { position = "roper" })
  end)

  it("masks of every shape, with and without the causal rule", function()
    roper.seed(8)
    for _, shape in ipairs({ { 80, 80 }, { 1, 80 }, { 80, 1 }, { 2, 1, 1, 80 }, { 3, 80, 80 },
      { 80 }, { 2, 3, 80, 80 }, {} }) do
      local mask = roper.rand(shape):lt(0.6)
      for _, causal in ipairs({ false, true }) do
        agreement.check({ agreement.inputs({ batch = 2, heads = 3, keys = 80 }) },
          { position = "roper", causal = causal, mask = mask })
      end
    end
    local transposed = roper.rand({ 80, 80 }):lt(0.5):transpose(1, 2)
    agreement.check({ agreement.inputs({ keys = 80 }) }, { mask = transposed })
  end)

  it("inputs of any memory layout", function()
    roper.seed(9)
    local function heads_last() -- as a projection leaves them
      return roper.randn({ 2, 70, 3, 8 }, "float64"):transpose(2, 3)
    end
    local function features_apart()
      return roper.randn({ 2, 3, 8, 70 }, "float64"):transpose(3, 4)
    end
    local function one_for_all()
      return roper.randn({ 1, 1, 70, 8 }, "float64"):expand({ 2, 3, 70, 8 })
    end
    local function every_other()
      return roper.randn({ 2, 3, 140, 8 }, "float64"):view({ 2, 3, 70, 16 }):narrow(4, 5, 8)
    end
    for _, rotate in ipairs({ "", "qkvo" }) do
      for _, make in ipairs({ heads_last, features_apart, one_for_all, every_other }) do
        agreement.check({ make(), make(), make() }, { position = scheme(rotate), causal = true })
      end
    end
  end)

  it("heads of queries that share heads of keys and values", function()
    roper.seed(1)
    local options = { position = scheme("qkvo"), causal = true }
    for _, shared in ipairs({ 1, 2, 3 }) do
      local q = agreement.inputs({ batch = 2, heads = 6, keys = 70 })
      local _, k, v = agreement.inputs({ batch = 2, heads = shared, keys = 70, value_features = 8 })
      agreement.check({ q, k, v }, options)
      local function all(x)
        return x:unsqueeze(3):expand({ 2, shared, 6 // shared, 70, 8 }):contiguous()
          :view({ 2, 6, 70, 8 })
      end
      arrays.close(roper.oracle.attention(q, all(k), all(v), options),
        roper.oracle.attention(q, k, v, options), 0)
      arrays.close(roper.attention_weights(q, all(k), options),
        roper.attention_weights(q, k, options), 0)
      for _, f in ipairs({ roper.linear_attention, roper.oracle.linear_attention,
        roper.eager.attention }) do
        arrays.close(f(q, all(k), all(v), options), (f(q, k, v, options)), 0)
      end
    end
    local q, k = roper.zeros({ 1, 6, 3, 8 }), roper.zeros({ 1, 4, 3, 8 })
    assert.error_matches(function() roper.attention(q, k, k) end,
      "attention: expected k and v with a divisor of the heads of q, got q .1, 6, 3, 8., k .1, 4")
  end)

  it("no queries, no batch and no heads", function()
    for _, shape in ipairs({ { 1, 1, 0, 8 }, { 0, 1, 3, 8 }, { 1, 0, 3, 8 } }) do
      local q, k = roper.zeros(shape), roper.zeros({ shape[1], shape[2], 3, 8 })
      assert.same(shape, roper.attention(q, k, k, { position = "roper" }):shape())
    end
  end)

  it("one thread and two, bit for bit", function()
    local threads = roper.threads()
    roper.seed(10)
    local q, k, v = agreement.inputs({ batch = 3, keys = 150 })
    local results = {}
    for n = 1, 2 do
      roper.threads(n)
      results[n] = roper.attention(q, k, v, { position = "roper", causal = true })
    end
    roper.threads(threads)
    arrays.close(results[1], results[2], 0)
  end)
end)

describe("attention", function()
  it("agrees with another implementation's values and gradients", function()
    local positions = golden.values("attention").positions
    local cases = {
      none = { position = "none", causal = true },
      rope = { position = scheme("qk"), causal = true },
      rope_interleaved = { position = scheme("qk", "interleaved", 0.5) },
      roper = { position = scheme("qkvo"), causal = true },
      roper_interleaved = { position = scheme("qkvo", "interleaved"), causal = true },
      roper_fraction = { position = scheme("qkvo", "half", 0.5, 0.25) },
      values = { position = scheme("vo", "interleaved", 1, 0.5), causal = true },
    }
    for name, options in pairs(cases) do
      if type(options.position) == "userdata" then
        local o = options.position:options()
        o.base = 100
        options.position = roper.position.rope(o)
      end
      options.positions = positions
      attention_gradients.check_golden(roper.attention, "attention_" .. name, options)
    end
  end)

  it("returns 0 for a query whose keys are all masked", function()
    roper.seed(11)
    local q, k, v = agreement.inputs({ keys = 70 })
    local mask = roper.ones({ 70, 70 }, "int32")
    mask[3], mask[70] = 0, 0
    for _, dtype in ipairs({ "float32", "float64" }) do
      local y = roper.attention(q:to(dtype), k:to(dtype), v:to(dtype),
        { position = "roper", causal = true, mask = mask })
      assert.equal(0, y[{ 1, 1, 3 }]:abs():max():item())
      assert.equal(0, y[{ 1, 1, 70 }]:abs():max():item())
      assert.is_true(y[{ 1, 1, 4 }]:abs():max():item() > 0)
    end
    agreement.check({ q, k, v }, { position = "roper", mask = mask })
  end)

  it("ignores masked keys, whatever their values", function()
    roper.seed(12)
    local q, k, v = agreement.inputs({ keys = 40 })
    local expected = roper.attention(q:narrow(3, 1, 20), k:narrow(3, 1, 20), v:narrow(3, 1, 20),
      { position = "roper", causal = true })
    k:narrow(3, 21, 20):fill(1e300)
    v:narrow(3, 21, 20):fill(-1e300)
    arrays.close(expected, roper.attention(q, k, v, { position = "roper", causal = true })
      :narrow(3, 1, 20), 1e-12)
  end)

  it("is exact for scores that are far apart", function()
    local q = roper.full({ 1, 1, 2, 2 }, 1e4)
    local k = roper.tensor({ { { { 1e4, 1e4 }, { -1e4, -1e4 } } } })
    local y = roper.attention(q, k, roper.tensor({ { { { 1, 2 }, { 3, 4 } } } }))
    assert.same({ { { { 1, 2 }, { 1, 2 } } } }, y:totable())
  end)

  it("never stores all scores", function()
    local q = roper.randn({ 1, 4, 3000, 8 })
    collectgarbage()
    collectgarbage()
    roper.memory_trim()
    local before = roper.memory().live
    roper.attention(q, q, q, { position = "roper", causal = true })
    local scores = 4 * 3000 * 3000 * 4
    assert.is_true(roper.memory().peak - before < scores / 8)
  end)

  it("rejects shapes, dtypes and options that do not match", function()
    local q, k = roper.ones({ 1, 2, 3, 8 }), roper.ones({ 1, 2, 5, 8 })
    local function refused(message, ...)
      local arguments = table.pack(...)
      assert.error_matches(function()
        roper.attention(table.unpack(arguments, 1, arguments.n))
      end, message)
    end
    local shapes = "attention: expected q %[B, H, Tq, d%], k %[B, H, Tk, d%], v %[B, H, Tk, dv%]"
      .. ", got "
    refused(shapes .. "%[2, 3, 8%], %[1, 2, 5, 8%]", q[1], k, k)
    refused(shapes, q, k, q)
    refused(shapes, q, roper.ones({ 1, 1, 5, 8 }), k)
    refused(shapes, q, roper.ones({ 1, 2, 5, 6 }), k)
    refused(shapes, roper.ones({ 1, 2, 3, 0 }), roper.ones({ 1, 2, 5, 0 }), k)
    refused("attention: expected floats of the same dtype, got float32, float64, float32", q,
      k:to("float64"), k)
    refused("got int32, int32, int32", q:to("int32"), k:to("int32"), k:to("int32"))
    local none = roper.zeros({ 1, 2, 0, 8 })
    refused("attention: expected 1 to %d+ keys, got 0", q, none, none)
    refused("expected a tensor, got 5", 5, k, k, { position = "rope" })
    refused("attention: causal: expected at least as many keys as queries, got 3 keys for 5", k, q,
      q, { causal = true })
    for option, value in pairs({ dropout = 1, scale = 0 / 0 }) do
      refused("attention: option " .. option .. ": expected ", q, k, k, { [option] = value })
    end
    local share = "attention: option dropout: expected a number of at least 0 and below 1, got "
    for _, p in ipairs({ -0.1, 1.5, 0 / 0 }) do
      refused(share .. "[-%d.na]+$", q, k, k, { dropout = p })
    end
    refused("attention: option scale: expected a number other than 0", q, k, k, { scale = 0 })
    refused("attention: option causal: expected true or false, got 1", q, k, k, { causal = 1 })
    refused("expected one of none, .*rope, roper.*, got .rop", q, k, k, { position = "rop" })
  end)

  it("rejects masks, positions and schemes that do not match", function()
    local q, k = roper.ones({ 2, 2, 3, 8 }), roper.ones({ 2, 2, 5, 8 })
    local function refused(message, options)
      assert.error_matches(function() roper.attention(q, k, k, options) end, message)
    end
    refused("mask: expected int32 that broadcasts to %[2, 2, 3, 5%], got float32 %[3, 5%]",
      { mask = roper.ones({ 3, 5 }) })
    refused("got int32 %[5, 3%]", { mask = roper.ones({ 5, 3 }, "int32") })
    refused("got int32 %[1, 2, 2, 3, 5%]", { mask = roper.ones({ 1, 2, 2, 3, 5 }, "int32") })
    refused("positions: expected shape %[3%] or %[2, 3%], got %[5%]",
      { positions = { 0, 1, 2, 3, 4 } })
    refused("positions: expected shape %[5%] or %[2, 5%], got %[4%]",
      { key_positions = { 0, 1, 2, 3 } })
    refused("got %[3, 3%]", { query_positions = roper.zeros({ 3, 3 }) })
    for _, value in ipairs({ 0 / 0, math.huge, 1e308 }) do
      refused("positions: expected finite numbers up to 2%^53, got ",
        { query_positions = { 0, value, 2 } })
      refused("offset.*, got ",
        { offset = value })
    end
    refused("attention: expected positions, or query_positions and key_positions, got both",
      { positions = 1, key_positions = 1 })
    refused("the position scheme is for 6 features, got queries %[2, 2, 3, 8%]",
      { position = roper.position.rope({ dim = 6 }) })
    refused("the position scheme is for 6 features, got values %[2, 2, 5, 8%]",
      { position = roper.position.rope({ dim = 6, rotate = "vo" }) })
    refused("got 0.3, which rotates 2.4 of 8; the nearest is 2 / 8",
      { position = { type = "rope", fraction = 0.3 } })
    assert.error_matches(function() roper.oracle.attention(q, k, k, { dropout = 0.5 }) end,
      "oracle.attention: option dropout: expected 0, got 0.5")
  end)
end)
