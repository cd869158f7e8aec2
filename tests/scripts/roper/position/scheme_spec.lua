local options_of = require("roper.options.rows")
local roper = require("roper")

-- Names are used once a process: a scheme stays registered.
local count = 0
local function fresh()
  count = count + 1
  return ("spec_scheme_%d"):format(count)
end

local function near(_, _, _, positions)
  return positions:by_distance(function(distance) return -distance:square():unsqueeze(1) end)
end

describe("position.register", function()
  before_each(function() roper.seed(1) end)

  it("makes a scheme available by name", function()
    local name = fresh()
    roper.position.register(name, { bias = near })
    local names = roper.position.list()
    assert.equal(name, names[#names])
    local q = roper.zeros({ 1, 2, 3, 4 })
    local weights = roper.attention_weights(q, q, { position = name })
    local scores = roper.tensor({ { 0, -1, -4 }, { -1, 0, -1 }, { -4, -1, 0 } })
    assert.is_true((weights[1][2] - scores:softmax(2)):abs():max():item() < 1e-6)
    assert.same({ type = name }, roper.position[name]():options())
  end)

  it("prints a scheme as its name and options", function()
    local name = fresh()
    roper.position.register(name, { bias = near, takes = { heads = "size",
      kind = { { "near", "far" }, "near" }, rates = { "table", nil } } })
    assert.equal(name .. '{heads = 2, kind = "near"}',
      tostring(roper.position[name]({ heads = 2 })))
    assert.equal(name .. '{heads = 2, kind = "far", rates = {…}}',
      tostring(roper.position[name]({ heads = 2, kind = "far", rates = { 1, 2 } })))
  end)

  it("checks its options, and creates its state", function()
    local name = fresh()
    roper.position.register(name, {
      takes = { heads = "size", rate = { "number", 0.5 } },
      per_layer = true,
      init = function(self)
        self.slope = (roper.ones({ self.heads, 1 }) * self.rate):parameter()
      end,
      bias = function(self, _, _, positions)
        return positions:by_distance(function(distance)
          return -self.slope * distance:abs():to(self.slope:dtype())
        end)
      end,
    })
    local model = roper.nn.Transformer({ vocabulary = 4, d_model = 8, heads = 2, layers = 2,
      position = { type = name, rate = 0.25 } })
    local names = {}
    for _, entry in ipairs(model:named_parameters()) do
      names[entry.name] = entry.tensor
    end
    assert.same({ { 0.25 }, { 0.25 } }, names["layers.1.attention.position.slope"]:totable())
    assert.is_not_nil(names["layers.2.attention.position.slope"])
    local path = os.tmpname()
    model:save(path)
    local again = roper.load(path)
    os.remove(path)
    local tokens = roper.tensor({ { 0, 1, 2, 3, 1 } }, "int32")
    assert.equal(0, (model(tokens) - again(tokens)):abs():max():item())
    model(tokens):sum():backward()
    assert.is_true(names["layers.1.attention.position.slope"].grad:abs():max():item() > 0)
  end)

  it("rejects invalid schemes, and names that are taken", function()
    local function refused(message, name, scheme)
      assert.error_matches(function() roper.position.register(name, scheme) end, message)
    end
    refused("rope is a built%-in scheme", "rope", {})
    refused('a name of letters, digits and _, not that of a function, got "list"', "list", {})
    refused('got "a b"', "a b", {})
    refused("expected a table of methods, got 5", fresh(), 5)
    refused('unknown member bais; did you mean "bias"', fresh(), { bais = near })
    refused("bias: expected a function, got 3", fresh(), { bias = 3 })
  end)

  it("rejects options of an unknown kind, and defaults of another kind", function()
    for message, rule in pairs({
      ['expected a kind or a list of choices, got "numbr"; did you mean "number"?'] = "numbr",
      ['expected a kind or a list of choices, got "size|bol"; there are '] = { "size|bol" },
      ['expected a kind or a list of choices, got "half"'] = { "half", "whole" },
      ["expected a kind or a list of choices, got 5"] = 5,
      ["expected a kind or a list of choices, got nil"] = {},
      ["expected a kind or a list of choices, got a table"] = { { {} } },
      ["the default: expected a positive integer, got 0.5"] = { "size", 0.5 },
      ["the default: expected one of half, whole, got 1"] = { { "half", "whole" }, 1 },
    }) do
      local name = fresh()
      local ok, got = pcall(roper.position.register, name, { takes = { rate = rule } })
      assert.is_false(ok)
      local start = ("position: %s: takes: option rate: %s"):format(name, message)
      assert.equal(start, got:sub(1, #start))
    end
    roper.position.register(fresh(), { takes = { a = "number?", b = { "size|string", "x" },
      c = { { "half", "whole" }, "half" }, d = { { smallest = 1, largest = 3 }, 2 },
      e = "callable?", f = "positions?", g = "tensor?", h = "any?" } })
  end)

  it("knows the kinds of all options of the library", function()
    for _, name in ipairs(roper.position.list()) do
      for option, rule in pairs(roper.position.takes(name)) do
        local is_rule = type(rule) == "table" and rule[2] ~= nil
        assert.is_nil(options_of.kind_refusal(is_rule and rule[1] or rule), name .. " " .. option)
      end
    end
  end)

  it("names the method with a wrong result", function()
    local q = roper.zeros({ 1, 2, 3, 4 })
    local function refused(message, scheme)
      local name = fresh()
      roper.position.register(name, scheme)
      assert.error_matches(function() roper.attention(q, q, q, { position = name }) end,
        "position: " .. name .. ": " .. message)
    end
    refused("bias: expected a tensor, got nil", { bias = function() end })
    refused("bias: expected float32 that broadcasts to %[1, 2, 3, 3%], got float32 %[4%]",
      { bias = function() return roper.zeros({ 4 }) end })
    refused("bias: .* got float64 %[3%]",
      { bias = function() return roper.zeros({ 3 }, "float64") end })
    refused("bias: .* got string", { bias = function() return "x" end })
    refused("carry: expected float32 %[1, 2, 3, 4%], got nil", { carry = function() end })
    refused("carry: expected float32 %[1, 2, 3, 4%], got float32 %[1, 2, 3, 1%]",
      { carry = function() return roper.zeros({ 1, 2, 3, 1 }) end })
    refused('turns: expected angles, a rotary or a table with rotate and unrotate for "q", got '
      .. "number", { turns = function() return 3 end })
    for message, values in pairs({
      ["expected a function from distances to vectors, got nil"] = function() end,
      ["expected a function from distances to vectors, got 5"] = function() return 5 end,
      ['expected a number as second result, .*, got "far"'] = function() return near, "far" end,
      ["expected a function that returns a tensor, got one that returns nil"] = function()
        return function() end
      end,
    }) do
      refused("values: " .. message, { values = values })
      refused("values: " .. message, { values = values, carry = function() end }) -- eager attention
    end
    local name = fresh()
    roper.position.register(name, { embed = function() return roper.zeros({ 1 }) end })
    local model = roper.nn.Transformer({ vocabulary = 4, d_model = 8, heads = 2, position = name })
    assert.error_matches(function() model(roper.zeros({ 1, 3 }, "int32")) end,
      "embed: expected float32 %[1, 3, 8%], got %[1%]")
  end)

  it("names the scheme that a checkpoint needs", function()
    local name = fresh()
    roper.position.register(name, { bias = near })
    local path = os.tmpname()
    roper.nn.Transformer({ vocabulary = 4, d_model = 8, heads = 2, position = name }):save(path)
    local text = assert(io.open(path, "rb")):read("a")
    local missing = name:gsub("spec", "none")
    assert(io.open(path, "wb")):write((text:gsub(name, missing))):close()
    assert.error_matches(function() roper.load(path) end,
      "needs the position scheme " .. missing .. ": register it first")
    os.remove(path)
  end)

  it("rejects a state that is not a list of names", function()
    local function refuses(definition, given)
      local name = fresh()
      roper.position.register(name, definition)
      assert.error_matches(function() roper.position[name]() end,
        ("position: %s: state: expected a list of names, got %s"):format(name, given))
      assert.truthy(roper.position.describe(name))
    end
    refuses({ state = { {} } }, "a table")
    refuses({ state = { 1 } }, "a table")
    refuses({ init = function(self) self.state = 5 end }, "5")
  end)
end)

describe("positions of queries and keys", function()
  before_each(function() roper.seed(1) end)

  it("select the values of the queries, which need one for each key", function()
    local q, k = roper.zeros({ 1, 1, 2, 4 }), roper.zeros({ 1, 1, 3, 4 })
    local positions = roper.position.positions(q, k)
    assert.same({ 2, 3 }, positions:of_queries(roper.tensor({ 1, 2, 3 }), 1):totable())
    local function refused(message)
      assert.has_error(function() positions:of_queries(roper.zeros({ 1, 2 }), 2) end, message)
    end
    local message = "of_queries: values: expected 3 on axis 2, one for each key, got float32 [1, 2]"
    refused(message)
    positions.state = { earlier = 1 }
    refused(message .. "; a cache passes only new tokens, so keep those of earlier ones with "
      .. "positions:keep")
  end)

  -- A bias that a function of the distance gives, where distances are a view and where not.
  it("give the same biases as a view and row by row", function()
    local q, k = roper.randn({ 2, 3, 5, 4 }, "float64"), roper.randn({ 2, 3, 7, 4 }, "float64")
    local table_of = roper.randn({ 3, 4 }, "float64")
    local function vectors(distance)
      return distance:view({ 1, -1, 1 }) * table_of:view({ 3, 1, 4 })
    end
    local function numbers(distance)
      return distance:square():unsqueeze(1) * table_of:narrow(2, 1, 1)
    end
    local a = roper.attention_weights(q, k, { causal = true })
    local regular = roper.position.positions(q, k, { causal = true, offset = 3 })
    assert.equal(-2, regular.shift)
    local listed = roper.position.positions(q, k, { causal = true, offset = 3 })
    listed.shift = nil
    local same = roper.position.positions(q, k, { query_positions = roper.arange(5, 10),
      key_positions = roper.arange(3, 10) })
    assert.equal(-2, same.shift)
    local function reached(distance) return vectors(distance:maximum(-2):minimum(2)) end
    local seen = regular:visible():to("float64")
    for _, pair in ipairs({
      { regular:by_distance(numbers), listed:by_distance(numbers) },
      { regular:by_query(q, vectors), listed:by_query(q, vectors), seen },
      { regular:by_key(k, vectors), listed:by_key(k, vectors), seen },
      { regular:by_query(q, reached, 2), listed:by_query(q, reached), seen },
      { regular:by_key(k, reached, 2.5), listed:by_key(k, reached), seen },
      { same:by_query(q, reached, 2), listed:by_query(q, reached) },
      { same:by_key(k, reached, 2), listed:by_key(k, reached) },
      { regular:by_weights(a, vectors), listed:by_weights(a, vectors) },
    }) do
      local difference = regular:expanded(pair[1]) - pair[2]
      assert.is_true((difference * (pair[3] or 1)):abs():max():item() < 1e-12)
    end
    local distances = regular:distances()
    assert.equal(-2, distances[{ 1, 1, 1, 1 }]:item())
    local expected = (q:unsqueeze(4) * vectors(distances:view({ -1 })):view({ 1, 3, 5, 7, 4 }))
      :sum(5)
    assert.is_true((same:expanded(same:by_query(q, vectors)) - expected):abs():max():item() < 1e-12)
    for _, causal in ipairs({ true, false }) do
      local positions = roper.position.positions(q, k, { causal = causal })
      local weights = roper.attention_weights(q, k, { causal = causal })
      local carried = (weights:unsqueeze(5)
        * vectors(positions:distances():view({ -1 })):view({ 1, 3, 5, 7, 4 })):sum(4)
      assert.is_true((positions:by_weights(weights, vectors) - carried):abs():max():item() < 1e-12)
    end
  end)

  it("are rejected if they do not match, by each attention and scheme", function()
    local q = roper.randn({ 2, 2, 3, 4 })
    local function refused(message, options)
      for _, position in ipairs({ "rope", "alibi", "pope" }) do
        for _, attention in ipairs({ roper.attention, roper.eager.attention }) do
          options.position = position
          assert.error_matches(function() attention(q, q, q, options) end, message)
        end
      end
    end
    refused("positions: expected shape .*%[2, 3%].*, got %[", { positions = { 5 } })
    refused("positions: expected shape .*, got %[.*4%]", { key_positions = { 1, 2, 3, 4 } })
    refused("positions: expected shape .*, got %[3, 3%]", { positions = roper.zeros({ 3, 3 }) })
    refused("positions: expected finite numbers up to 2%^53, got %-?nan",
      { positions = { 0, 1, 0 / 0 } })
    refused("positions: expected finite numbers up to 2%^53, got 1e%+16",
      { query_positions = { 0, 1, 1e16 } })
    refused("expected positions, or query_positions and key_positions, got both",
      { positions = { 0, 1, 2 }, key_positions = { 0, 1, 2 } })
  end)

  it("that are not consecutive are not a view", function()
    local q = roper.randn({ 2, 1, 3, 4 })
    local function shift(positions)
      return roper.position.positions(q, q, { positions = positions }).shift
    end
    assert.equal(0, shift({ 0.5, 1.5, 2.5 }))
    assert.is_nil(shift({ 0, 2, 4 }))
    assert.is_nil(shift({ 0, 1, 3 }))
    assert.equal(0, shift(roper.tensor({ { 0, 1, 2 }, { -3, -2, -1 } })))
    assert.is_nil(shift(5))
  end)
end)

describe("joined schemes", function()
  it("combine their parts, and reject two rotations", function()
    local q = roper.randn({ 1, 2, 4, 4 })
    local joined = roper.position.resolve("rope+alibi", { dim = 4, heads = 2 })
    assert.same({ "rope", "alibi" },
      { joined:options().parts[1].type, joined:options().parts[2].type })
    local rope, alibi = roper.position.rope({ dim = 4 }), roper.position.alibi({ heads = 2 })
    local expected = roper.attention(rope:rotate(q), rope:rotate(q), q, { position = alibi })
    assert.is_true((roper.attention(q, q, q, { position = "rope+alibi" }) - expected):abs():max()
      :item() < 1e-5)
    assert.error_matches(function() roper.attention(q, q, q, { position = "rope+roper" }) end,
      'rotary and rotary both rotate "q"; at most one scheme of a combination can')
    assert.error_matches(function() roper.attention(q, q, q, { position = "rope+rop" }) end,
      "got .rop")
  end)
end)
