local arrays = require("tests.arrays")
local models = require("tests.models")
local roper = require("roper")

local interpret, nn = roper.interpret, roper.nn
local tokens = models.task():batch(2)
local TIME <const> = 30

-- Scales the map of queries to 0, so that all visible keys have the same weight.
local function uniform(attention)
  attention.query.weight:detach():fill(0)
  attention.query.bias:detach():fill(0)
end

-- A scheme whose heads attend to one distance i - j only; a query without such a key, to all.
local function looking_back(name, distance)
  roper.position.register(name, { bias = function(_, _, _, positions)
    return positions:by_distance(function(between)
      return between:eq(-distance):to("float64"):unsqueeze(1) * 1e4
    end)
  end })
  return name
end

-- The mean of 1 / (i + 1) over the queries i from `first` to `last`.
local function mean_of_inverse(first, last)
  local sum = 0
  for i = first, last do
    sum = sum + 1 / (i + 1)
  end
  return sum / (last - first + 1)
end

describe("attention scores", function()
  it("are 1 for a head that attends to the previous token only", function()
    local model = models.small({ position = { looking_back("look_one", 1), "none" } })
    uniform(model.layers[1].attention)
    uniform(model.layers[2].attention)
    local scores = interpret.previous_token(model, tokens)
    assert.same({ 1, 1 }, scores[1]:totable())
    local weights, distances = interpret.by_distance(model, tokens)
    assert.same({ 2, 2, TIME }, weights:shape())
    assert.same({ 0, 1, 2 }, distances:narrow(1, 1, 3):totable())
    assert.near(1 / TIME, weights[{ 1, 1, 1 }]:item(), 1e-12) -- only token 0 attends to itself
    assert.equal(1, weights[{ 1, 2, 2 }]:item())
    assert.equal(0, weights[1]:narrow(2, 3, TIME - 2):max():item())
    for distance = 0, TIME - 1 do
      assert.near(mean_of_inverse(distance, TIME - 1), weights[{ 2, 1, distance + 1 }]:item(), 1e-7)
    end
    assert.near(mean_of_inverse(1, TIME - 1), scores[{ 2, 2 }]:item(), 1e-7)
  end)

  it("are 1 / n for uniform attention that is not causal, at all distances", function()
    local Both = nn.class("Both")
    function Both:init()
      self.embedding = nn.Embedding({ count = 4, features = 8 })
      self.attention = nn.MultiHeadAttention({ d_model = 8, heads = 2, causal = false })
    end
    function Both:forward(ids) return self.attention(self.embedding(ids)) end
    local model, ids = Both(), roper.zeros({ 3, 5 }, "int32")
    uniform(model.attention)
    local weights, distances = interpret.by_distance(model, ids)
    assert.same({ -4, -3, -2, -1, 0, 1, 2, 3, 4 }, distances:totable())
    arrays.close(roper.full({ 1, 2, 9 }, 1 / 5, "float64"), weights, 1e-7)
    arrays.close(roper.full({ 1, 2 }, 1 / 5, "float64"), interpret.previous_token(model, ids), 1e-7)
    arrays.close(roper.full({ 1, 2 }, 1 / 4, "float64"), interpret.induction(model,
      { ids = { 0, 3, 1 }, length = 2 }), 1e-7)
  end)

  it("agree with the weights of a trace, for every scheme", function()
    for _, position in ipairs(roper.position.list()) do
      local model = models.small({ position = position, length = TIME })
      local trace = model:trace(tokens)
      local weights = interpret.by_distance(model, tokens)
      local previous = interpret.previous_token(model, tokens)
      for layer = 1, 2 do
        local of_layer = trace[("layers.%d.attention.weights"):format(layer)]:to("float64")
        for _, distance in ipairs({ 0, 1, 7, TIME - 1 }) do
          local sum = roper.zeros({ 2 }, "float64")
          for i = distance, TIME - 1 do
            sum = sum + of_layer[{ {}, {}, i + 1, i - distance + 1 }]:mean(1)
          end
          local expected = sum / (TIME - distance)
          arrays.close(expected, weights[{ layer, {}, distance + 1 }], 1e-9)
          if distance == 1 then
            arrays.close(expected, previous[layer], 1e-9)
          end
        end
      end
    end
  end)

  it("reject models without attention, and too few tokens", function()
    local linear = nn.Linear({ inputs = 2, outputs = 2 })
    assert.error_matches(function() interpret.by_distance(linear, roper.ones({ 1, 2 })) end,
      "by_distance: expected a model with attention, found none")
    local model = models.small()
    assert.error_matches(function() interpret.previous_token(model, tokens:narrow(2, 1, 1)) end,
      "previous_token: expected at least 2 tokens, got 1")
    assert.error_matches(function()
      interpret.by_distance(model, roper.zeros({ 0, 4 }, "int32"))
    end, "by_distance: expected at least one token, got int32 %[0, 4%]")
  end)
end)

describe("interpret.copying", function()
  local rows = roper.tensor({ { 0, 1, 2, 3, 4 }, { 4, 3, 2, 1, 0 } }, "int32")

  it("is the mean weight on the sources of the next tokens", function()
    local model = models.small({ position = { looking_back("look_two", 2), "none" } })
    uniform(model.layers[1].attention)
    uniform(model.layers[2].attention)
    -- The query of token t is t - 1, which looks back to t - 3, or at itself if it is the first.
    local sources = roper.tensor({ { -1, -1, -1, 0, 1 }, { -1, 0, -1, -1, 0 } }, "int32")
    local scores = interpret.copying(model, rows, sources)
    assert.same({ 2, 2 }, scores:shape())
    assert.near(3 / 4, scores[{ 1, 1 }]:item(), 1e-6)
    assert.near((1 / 3 + 1 / 4 + 1 + 1 / 4) / 4, scores[{ 2, 1 }]:item(), 1e-7)
  end)

  it("takes the sources of a task, which are equal to the tokens that repeat them", function()
    local task = roper.tasks.copy({ letters = 2, alphabet = 2, length = 19, seed = 1 })
    local batch = task:batch(4)
    local _, sources = task:explain(batch)
    for row, indices in ipairs(sources:totable()) do
      for t, source in ipairs(indices) do
        if source >= 0 then
          assert.equal(batch[{ row, t }]:item(), batch[{ row, source + 1 }]:item())
        end
      end
    end
    assert.is_true(sources:ge(0):any())
  end)

  it("rejects sources that do not fit the tokens", function()
    local model = models.small()
    local function refused(sources, message)
      assert.has_error(function() interpret.copying(model, rows, sources) end,
        "copying: sources: " .. message)
    end
    local none = roper.full({ 2, 5 }, -1, "int32")
    refused(none, "expected a token that repeats an earlier one, got none")
    refused(none:narrow(2, 1, 4), "expected int32 [2, 5], like the tokens, got int32 [2, 4]")
    refused(none:to("float32"), "expected int32 [2, 5], like the tokens, got float32 [2, 5]")
    refused(none + 6, "expected indices from -1 to 4, got 5")
  end)
end)

-- Two heads of attention that compose to an induction head: the first copies the token before, the
-- second attends to tokens whose copy is the current token.
local function induction_circuit(words)
  local Circuit = nn.class("Circuit")
  function Circuit:init()
    self.embedding = nn.Embedding({ count = words, features = 2 * words })
    self.layers = {}
    for i, position in ipairs({ "look_one", "none" }) do
      self.layers[i] = nn.MultiHeadAttention({ d_model = 2 * words, heads = 1,
        position = position })
    end
  end
  function Circuit:forward(ids)
    local x = self.embedding(ids)
    x = x + self.layers[1](x)
    return x + self.layers[2](x)
  end
  local model = Circuit()
  local eye, none = roper.eye(words), roper.zeros({ words, words })
  local first, second = roper.cat({ eye, none }, 2), roper.cat({ none, eye }, 2)
  local empty = roper.zeros({ words, 2 * words })
  for _, entry in ipairs(model:named_parameters()) do
    entry.tensor:detach():fill(0)
  end
  model.embedding.weight:detach():copy(first)
  local function set(map, upper, lower)
    map.weight:detach():copy(roper.cat({ upper, lower }, 1))
  end
  local copying, matching = model.layers[1], model.layers[2]
  set(copying.value, first, empty) -- of the token
  set(copying.output, empty, first) -- into the second half
  set(matching.query, 1e4 * first, empty) -- the current token
  set(matching.key, second, empty) -- the token before
  return model
end

-- The tokens that interpret.induction passes to a model.
local function repeated(model, options)
  local ids
  model:with_hooks({ embedding = function(_, _, x) ids = x end }, interpret.induction, model,
    options)
  return ids
end

describe("interpret.induction", function()
  it("is the weight on the token after the earlier occurrence", function()
    looking_back("look_one", 1)
    local scores = interpret.induction(induction_circuit(9), { length = 6, batch = 4 })
    -- Token 0 has no token before it and copies itself, so the first query of the repetition
    -- divides its weight among tokens 0 and 1.
    assert.near((6 - 0.5) / 6, scores[{ 2, 1 }]:item(), 1e-6)
    assert.equal(0, scores[{ 1, 1 }]:item())
  end)

  it("is 1 for a head that looks back by n - 1, and 1 / (i + 1) on average without one", function()
    local model = models.small({ position = { looking_back("look_four", 4), "none" } })
    uniform(model.layers[1].attention)
    uniform(model.layers[2].attention)
    local scores = interpret.induction(model, { length = 5 })
    assert.same({ 1, 1 }, scores[1]:totable())
    assert.near(mean_of_inverse(5, 9), scores[{ 2, 1 }]:item(), 1e-7)
  end)

  it("repeats distinct random tokens, the same for the same seed", function()
    local model = models.small()
    roper.seed(3)
    local before = roper.rand({ 1 }):item()
    roper.seed(3)
    local ids = repeated(model, { ids = { 3, 5, 7, 8 }, length = 4, batch = 3 })
    assert.equal(before, roper.rand({ 1 }):item())
    for _, row in ipairs(ids:totable()) do
      assert.same({ table.unpack(row, 1, 4) }, { table.unpack(row, 5, 8) })
      table.sort(row)
      assert.same({ 3, 3, 5, 5, 7, 7, 8, 8 }, row)
    end
    local one = repeated(model, { length = 8, seed = 2 })
    assert.same(one:totable(), repeated(model, { length = 8, seed = 2 }):totable())
    assert.not_same(one:totable(), repeated(model, { length = 8 }):totable())
  end)

  it("stays within the length of a model with a table of positions", function()
    local model = models.small({ position = "learned", length = 7 })
    assert.equal(6, repeated(model):size(2))
  end)

  it("rejects too few token ids", function()
    assert.error_matches(function() interpret.induction(models.small(), { length = 500 }) end,
      "induction: length: expected from 2 to %d+, the number of token ids, got 500")
    assert.error_matches(function() interpret.induction(nn.ReLU()) end,
      "induction: expected a model with an Embedding, or the option ids")
  end)

  it("rejects ids that are not distinct token ids", function()
    for _, row in ipairs({ { { 3, 5, 3 }, "got 3 again as element 3" },
      { { 3, "x" }, 'got "x" as element 2' }, { { 1.5, 2 }, "got 1.5 as element 1" },
      { { 1, -1 }, "got %-1 as element 2" } }) do
      assert.error_matches(function() interpret.induction(models.small(), { ids = row[1] }) end,
        "induction: ids: expected distinct token ids, " .. row[2])
    end
  end)
end)
