local arrays = require("tests.arrays")
local models = require("tests.models")
local roper = require("roper")

local nn = roper.nn

-- Keys are values, and the last features of both turn (as in DeepSeek-V4).
local TIED <const> = { tied = true, position = { type = "roper", fraction = 0.5, last = true } }

describe("MultiHeadAttention with keys that are values", function()
  before_each(function() roper.seed(1) end)

  -- The last two of four features turned.
  local function turned(x, angle)
    local c, s = math.cos(angle), math.sin(angle)
    return { x[1], x[2], x[3] * c - x[4] * s, x[3] * s + x[4] * c }
  end

  -- The output of one head for its queries and keys.
  local function expected(q, k)
    local output = {}
    for i = 1, #q do
      local sum, total = { 0, 0, 0, 0 }, 0
      for j = 1, i do
        local seen, score = turned(k[j], j - i), 0
        for t = 1, 4 do
          score = score + q[i][t] * seen[t]
        end
        local weight = math.exp(score / 2)
        total = total + weight
        for t = 1, 4 do
          sum[t] = sum[t] + weight * seen[t]
        end
      end
      output[i] = {}
      for t = 1, 4 do
        output[i][t] = sum[t] / total
      end
    end
    return output
  end

  it("rotates the values that it carries, in the last features only", function()
    local attention = models.convert(roper.nn.MultiHeadAttention({ d_model = 8, heads = 2,
      tied = true, position = TIED.position }), "float64")
    assert.is_nil(attention.value)
    local x = roper.randn({ 1, 5, 8 }, "float64")
    local q = attention:split(attention.query(x)):totable()
    local k = attention:split(attention.key(x)):totable()
    local heads = roper.tensor({ { expected(q[1][1], k[1][1]), expected(q[1][2], k[1][2]) } },
      "float64")
    arrays.close(attention.output(heads:transpose(2, 3):view({ 1, 5, 8 })), attention(x), 1e-14)
  end)

  it("has one projection less in each layer, and a cache of both", function()
    local model, free = models.small(TIED), models.small()
    assert.equal(free:count() - 2 * (16 * 16 + 16), model:count())
    models.convert(model, "float64")
    local tokens = models.task():batch(2)
    local whole = roper.no_grad(model, tokens)
    local cache, first = model:cache({ batch = 2, length = 30 }), 1
    for _, size in ipairs({ 7, 1, 1, 21 }) do
      arrays.close(whole:narrow(2, first, size),
        roper.no_grad(model, tokens:narrow(2, first, size), cache), 1e-12)
      first = first + size
    end
  end)

  it("passes the gradients of both to the keys", function()
    local attention = models.convert(roper.nn.MultiHeadAttention({ d_model = 8, heads = 2,
      tied = true, position = TIED.position }), "float64")
    assert.is_true(roper.gradcheck(function(x, weight)
      attention.key.weight = weight
      return attention(x)
    end, { roper.randn({ 1, 4, 8 }, "float64"), attention.key.weight:detach() }))
  end)

  it("is loaded from a file", function()
    local model, path = models.small(TIED), os.tmpname()
    model:save(path)
    local again = roper.load(path)
    os.remove(path)
    local tokens = models.task():batch(2)
    assert.is_nil(again.layers[1].attention.value)
    assert.equal(0, (model(tokens) - again(tokens)):abs():max():item())
  end)
end)

describe("nn.MultiHeadAttention", function()
  -- The same by core operations alone, a head at a time.
  local function by_hand(module, x, options)
    local q, k, v = module.query(x), module.key(x), module.value(x)
    local batch, time, width = table.unpack(x:shape())
    local dim = width // module.heads
    local outputs = {}
    for head = 1, module.heads do
      local function part(y)
        return y:narrow(3, (head - 1) * dim + 1, dim):unsqueeze(2)
      end
      local o = roper.attention(part(q), part(k), part(v), options)
      outputs[head] = o:view({ batch, time, dim })
    end
    return module.output(roper.cat(outputs, 3))
  end

  it("attends in each head separately", function()
    local x = roper.randn({ 2, 5, 12 })
    for _, position in ipairs({ "none", "rope", "roper" }) do
      local module = nn.MultiHeadAttention({ d_model = 12, heads = 3, position = position })
      arrays.close(by_hand(module, x, { causal = true, position = position }), module(x), 1e-5)
    end
    local both_ways = nn.MultiHeadAttention({ d_model = 12, heads = 3, causal = false })
    arrays.close(by_hand(both_ways, x, {}), both_ways(x), 1e-5)
  end)

  it("accepts a scheme, its options or its name", function()
    local x = roper.randn({ 1, 5, 8 })
    local scheme = roper.position.rope({ dim = 4, base = 100, rotate = "kv" })
    local module = nn.MultiHeadAttention({ d_model = 8, heads = 2, position = scheme })
    local other = nn.MultiHeadAttention({ d_model = 8, heads = 2,
      position = { type = "rope", base = 100, rotate = "kv" } })
    for _, name in ipairs({ "query", "key", "value", "output" }) do
      other[name] = module[name]
    end
    arrays.close(module(x), other(x), 0)
    other.position = nil
    assert.is_true(models.difference(module(x), other(x)) > 1e-3)
  end)

  it("passes everything that attention depends on to an override of attend", function()
    local module = nn.MultiHeadAttention({ d_model = 8, heads = 2, position = "rope" })
    local x, positions = roper.randn({ 1, 4, 8 }), roper.tensor({ { 5, 3, 3, 11 } })
    local expected, attend, seen = module(x, nil, positions), module.attend, nil
    function module:attend(inputs)
      seen = inputs
      return attend(self, inputs)
    end
    arrays.close(expected, module(x, nil, positions), 0)
    assert.same({ x, positions }, { seen.x, seen.positions })
    local cache = models.small({ d_model = 8, heads = 2 }):cache({ batch = 1, length = 6 })
    module(x, cache:layer(1))
    assert.same({ { 0, 1, 2, 3 } }, seen.positions:totable()) -- of these tokens, also with a cache
    assert.equal(cache:layer(1), seen.cache)
  end)

  it("rejects attend without its table", function()
    local module, q = nn.MultiHeadAttention({ d_model = 8, heads = 2 }), roper.ones({ 1, 2, 3, 4 })
    assert.error_matches(function() module:attend({ q = q, k = q, v = q, position = 3 }) end,
      'attend: unknown option position; did you mean "positions"?', 1, true)
  end)

  it("rejects a width that is not divisible by the heads, and odd rotary widths", function()
    assert.error_matches(function() nn.MultiHeadAttention({ d_model = 12, heads = 5 }) end,
      "MultiHeadAttention: expected d_model divisible by heads, got d_model 12 and 5 heads")
    assert.error_matches(function()
      nn.MultiHeadAttention({ d_model = 6, heads = 2, position = "rope" })
    end, "rope: fraction: expected a fraction that rotates an even number of features, got 1, "
      .. "which rotates 3 of 3; the nearest is 2 / 3")
    assert.error_matches(function()
      nn.MultiHeadAttention({ d_model = 8, heads = 2, position = "rooper" })
    end, 'position: expected one of none, [%w_, ]*, got "rooper"; did you mean "roper"')
    assert.error_matches(function()
      local scheme = roper.position.rope({ dim = 8 })
      nn.MultiHeadAttention({ d_model = 8, heads = 2, position = scheme })(roper.ones({ 1, 2, 8 }))
    end, "attention: the position scheme is for 8 features, got queries %[1, 2, 2, 4%]")
  end)
end)

describe("MultiHeadAttention with kv_heads", function()
  local tokens = models.task():batch(3)

  it("agrees with a model that repeats the weights of keys and values, and with its cache, in each "
    .. "position scheme", function()
    for _, name in ipairs(roper.position.list()) do
      local options = { d_model = 32, heads = 4, layers = 1, position = name, length = 30 }
      options.kv_heads = 2
      local grouped = models.small(options):training(false)
      options.kv_heads = nil
      local whole = models.small(options):training(false)
      local found = {}
      for _, entry in ipairs(grouped:named_parameters()) do
        found[entry.name] = entry.tensor
      end
      for _, entry in ipairs(whole:named_parameters()) do
        local x = found[entry.name]
        if x:size(1) ~= entry.tensor:size(1) then -- [2 x 8, ...] to [4 x 8, ...]
          local inputs = x:rank() > 1 and x:size(2) or 1
          x = x:view({ 2, 1, 8, inputs }):expand({ 2, 2, 8, inputs }):contiguous()
            :view(entry.tensor:shape())
        end
        entry.tensor:copy(x)
      end
      local expected = roper.no_grad(whole, tokens)
      arrays.close(expected, roper.no_grad(grouped, tokens), 1e-5, name)
      local cache = grouped:cache({ batch = 3, length = 30 })
      roper.no_grad(grouped, tokens:narrow(2, 1, 20), cache)
      arrays.close(expected:narrow(2, 21, 10),
        roper.no_grad(grouped, tokens:narrow(2, 21, 10), cache), 1e-5, name)
      assert.same({ 3, 2, 30, 8 }, cache.layers[1].keys:shape())
    end
  end)

  it("refuses numbers that do not divide the heads", function()
    assert.error_matches(function()
      nn.MultiHeadAttention({ d_model = 8, heads = 4, kv_heads = 3 })
    end, "MultiHeadAttention: expected heads divisible by kv_heads, got 4 heads and kv_heads 3")
  end)

  it("gives biases to the linear maps of attention_bias", function()
    for which, expected in pairs({ all = "qkvo", qkv = "qkv", none = "" }) do
      local attention = nn.MultiHeadAttention({ d_model = 8, heads = 2, attention_bias = which })
      local biased = ""
      for _, part in ipairs({ "query", "key", "value", "output" }) do
        biased = biased .. (attention[part].bias and part:sub(1, 1) or "")
      end
      assert.equal(expected, biased)
    end
  end)
end)
