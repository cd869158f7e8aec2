local arrays = require("tests.arrays")
local models = require("tests.models")
local roper = require("roper")

local interpret = roper.interpret
local tokens = models.task():batch(2)

-- A model with one layer, whose queries and keys are the same for all tokens.
local function constant(position, q, k)
  local model = models.small({ position = position, layers = 1 })
  for name, values in pairs({ query = q, key = k }) do
    local map = model.layers[1].attention[name]
    map.weight:detach():fill(0)
    map.bias:detach():copy(roper.tensor(values))
  end
  return model
end

-- Two heads of 8 features.
local Q <const> = { 3, 0, 0, 0, 4, 1, 0, 2, 1, 1, 1, 1, 1, 1, 1, 1 }
local K <const> = { 0, 2, 1, 0, 1, 0, 0, 5, 0, 0, 0, 0, 2, 2, 2, 2 }

local function use_of(position)
  return interpret.by_frequency(constant(position, Q, K), tokens)
end

describe("interpret.by_frequency", function()
  it("is the product of the lengths of the pairs of queries and keys", function()
    local root = 2 ^ 0.5
    for _, position in ipairs({ "rope", "roper", "learned_frequencies", "rope+alibi", "yarn",
      "longrope", "xpos" }) do
      local use, thetas = use_of(position)
      arrays.close(roper.tensor({ { { 5, 2, 0, 10 }, { 2 * root, 2 * root, 2 * root, 2 * root } } },
        "float64"), use, 1e-5)
      assert.same({ 1, 2, 4 }, thetas:shape())
      assert.near(1, thetas[{ 1, 2, 1 }]:item(), 1e-6)
    end
    local _, thetas = use_of("rope")
    arrays.close(roper.tensor({ 1, 0.1, 0.01, 0.001 }, "float64"), thetas[1][1], 1e-12)
  end)

  it("is refused if the content chooses the angles, with any number of heads", function()
    for _, heads in ipairs({ 1, 2 }) do
      local model = models.small({ heads = heads, position = "accumulated" })
      assert.error_matches(function() interpret.by_frequency(model, tokens) end,
        "expected a scheme that rotates queries and keys with a list of frequencies, such as "
          .. "rope, found none")
    end
  end)

  it("uses the pairs of the scheme", function()
    local function first_head(options)
      options.type = "rope"
      return use_of(options)[1][1]:totable()
    end
    local function close(expected, got)
      assert.equal(#expected, #got)
      for i, value in ipairs(expected) do
        assert.near(value, got[i], 1e-6)
      end
    end
    close({ 6, 0, 17 ^ 0.5, 10 }, first_head({ pairing = "interleaved" }))
    close({ 3, 0 }, first_head({ fraction = 0.5 }))
    close({ 4, 5 * 5 ^ 0.5 }, first_head({ fraction = 0.5, last = true }))
  end)

  it("is nan for layers that do not rotate, and for pairs that a layer does not have", function()
    local model = models.small({ layers = 3, position = { "rope", "alibi",
      { type = "rope", fraction = 0.5 } } })
    local use, thetas = interpret.by_frequency(model, tokens)
    assert.same({ 3, 2, 4 }, use:shape())
    local function count(x) return x:isnan():sum():item() end
    assert.same({ 0, 8, 4, 8 }, { count(use[1]), count(use[2]), count(use[3]), count(thetas[2]) })
    assert.equal(0, count(use[3]:narrow(2, 1, 2)))
  end)

  it("bounds the scores of attention", function()
    local model = models.small({ position = "rope" })
    local row = tokens[{ { 1, 1 }, { 1, 1 } }]
    local use = interpret.by_frequency(model, row)
    local scores = model:trace(row)["layers.1.attention.scores"]
    for head = 1, 2 do
      assert.is_true(math.abs(scores[{ 1, head, 1, 1 }]:item())
        <= use[1][head]:sum():item() / 8 ^ 0.5 + 1e-6)
    end
  end)

  it("neither overflows nor underflows", function()
    local q, k = {}, {}
    for i = 1, 16 do
      q[i], k[i] = Q[i] * 1e25, K[i] * 1e-25
    end
    arrays.close(use_of("rope"), (interpret.by_frequency(constant("rope", q, k), tokens)), 1e-4)
  end)

  it("rejects angles from the content, for any number of heads", function()
    for heads = 1, 2 do
      local model = roper.nn.Transformer({ vocabulary = 4, d_model = 8, heads = heads,
        position = "accumulated" })
      assert.error_matches(function()
        interpret.by_frequency(model, roper.zeros({ 1, 3 }, "int32"))
      end, "found none")
    end
  end)

  it("rejects models without such a scheme", function()
    for _, position in ipairs({ "none", "alibi", "pope", { type = "rope", rotate = "vo" } }) do
      assert.error_matches(function() use_of(position) end,
        "by_frequency: expected a scheme that rotates queries and keys with a list of "
        .. "frequencies, such as rope, found none")
    end
  end)
end)
