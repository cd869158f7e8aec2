local arrays = require("tests.arrays")
local models = require("tests.models")
local roper = require("roper")

describe("path", function()
  local Q, X
  before_each(function()
    roper.seed(1)
    Q, X = roper.randn({ 1, 2, 5, 4 }), roper.randn({ 1, 5, 8 })
  end)

  local function make(options)
    local given = { dim = 4, heads = 2, d_model = 8 }
    for name, value in pairs(options or {}) do
      given[name] = value
    end
    return roper.position.path(given)
  end

  local function attend(position, how)
    local o = { position = position, causal = true, input = X }
    for name, value in pairs(how or {}) do
      o[name] = value
    end
    return roper.attention(Q, Q, Q, o)
  end

  it("is attention without positions if every map is the identity", function()
    for _, rotate in ipairs({ "qk", "qkvo" }) do
      local path = make({ rotate = rotate })
      path.beta_bias:fill(-40)
      arrays.close(roper.attention(Q, Q, Q, { causal = true }), attend(path), 1e-6)
    end
  end)

  it("is FoX if every map is the identity and it has gates", function()
    local path, fox = make({ gate = true }), roper.position.fox({ heads = 2, d_model = 8 })
    path.beta_bias:fill(-40)
    path.gate_weight, path.gate_bias = fox.gate_weight, fox.gate_bias
    fox.gate_weight:fill(0.5)
    arrays.close(attend(fox), attend(path), 1e-6)
  end)

  it("with gates equals path+fox", function()
    local both = roper.position.resolve("path+fox", { dim = 4, heads = 2, d_model = 8 })
    local path = make({ gate = true })
    for name in pairs(both.parts[1]:parameters()) do
      path[name] = both.parts[1][name]
    end
    path.gate_weight, path.gate_bias = both.parts[2].gate_weight, both.parts[2].gate_bias
    arrays.close(attend(both), attend(path), 1e-6)
  end)

  it("reflects what comes before a token if its β is 2", function()
    local path = make({ width = 1 })
    path.beta_bias:fill(40)
    path.filter:fill(100)
    X:fill(0)
    X[{ 1, 4 }]:fill(1) -- the other tokens have w = 0
    local function scores_of(position)
      local s = require("roper.attention.eager").scores(Q, Q,
        { position = position, causal = true, input = X })
      return roper.where(s:gt(-math.huge), s, 0)
    end
    local scores, plain = scores_of(path), scores_of()
    -- 4 and 5 are the queries after the map; the keys up to 3 were before it
    arrays.close(plain:narrow(3, 1, 3), scores:narrow(3, 1, 3), 1e-6)
    arrays.close(plain[{ {}, {}, 5, { 4, 5 } }], scores[{ {}, {}, 5, { 4, 5 } }], 1e-6)
    assert.is_true((plain - scores)[{ {}, {}, { 4, 5 }, { 1, 3 } }]:abs():min():item() > 1e-4)
  end)

  it("stores its maps in the cache, over several blocks", function()
    for _, position in ipairs({ "path", "path{rotate=qkvo, gate=true, width=4}" }) do
      local model = models.convert(models.small({ position = position, length = 200 }), "float64")
      local tokens = roper.randint(0, 5, { 2, 150 })
      local whole = roper.no_grad(model, tokens)
      local cache, first = model:cache({ batch = 2, length = 150 }), 1
      for _, size in ipairs({ 60, 1, 1, 1, 1, 1, 40, 45 }) do
        arrays.close(whole:narrow(2, first, size),
          roper.no_grad(model, tokens:narrow(2, first, size), cache), 1e-10)
        first = first + size
      end
    end
  end)

  it("accepts empty batches and queries", function()
    for _, rotate in ipairs({ "qk", "qkvo" }) do
      local how = { position = make({ rotate = rotate }), causal = true, input = X }
      assert.same({ 1, 2, 0, 4 }, roper.attention(Q:narrow(3, 1, 0), Q, Q, how):shape())
      local none = Q:narrow(1, 1, 0)
      how.input = X:narrow(1, 1, 0)
      assert.same({ 0, 2, 5, 4 }, roper.attention(none, none, none, how):shape())
    end
  end)

  it("agrees with the oracle, which computes in float64", function()
    for _, gate in ipairs({ false, true }) do
      local how = { position = make({ gate = gate }), causal = true, input = X }
      arrays.close(roper.oracle.attention(Q, Q, Q, how), attend(how.position):to("float64"), 1e-6)
    end
  end)

  it("says in its description what carries the values", function()
    local plain = tostring(roper.position.describe("path"))
    local words = tostring(roper.position.describe("path{rotate=qkvo, gate=true}"))
    for text, is_plain in pairs({ ["⋯ H_{j+1} kⱼ / √d"] = true, ["⋯ H_{j+1} vⱼ"] = false,
      ["no inverse"] = false, ["ln g_t"] = false }) do
      assert.truthy(words:find(text, 1, true), words)
      assert.equal(is_plain, plain:find(text, 1, true) ~= nil, plain)
    end
  end)

  it("rejects unsupported options", function()
    local function refused(message, f)
      assert.error_matches(f, message)
    end
    for _, letters in ipairs({ "q", "vo", "kqvo", "" }) do
      refused('path: option rotate: expected "qk" or "qkvo", got "' .. letters .. '"; H_t has no '
        .. "inverse in general", function() make({ rotate = letters }) end)
    end
    refused("position: path: expected causal attention", function()
      attend(make(), { causal = false })
    end)
    refused("position: path: expected the input of the layer, got none", function()
      roper.attention(Q, Q, Q, { position = make(), causal = true })
    end)
    refused("position: path: expected an input %[1, 5, 8%], one token for each key, got %[1, 4,",
      function() attend(make(), { input = X:narrow(2, 1, 4) }) end)
    refused("position: path: expected values of 4 features, as queries have, got 3; with "
      .. 'rotate = "qkvo" values travel by the same maps', function()
      roper.attention(Q, Q, Q:narrow(4, 1, 3):contiguous(), { position = make({ rotate = "qkvo" }),
        causal = true, input = X })
    end)
  end)
end)
