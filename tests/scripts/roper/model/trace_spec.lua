local arrays = require("tests.arrays")
local core = require("roper.core")
local models = require("tests.models")
local roper = require("roper")
local hooks = require("roper.attention.hooks")

local nn = roper.nn
local tokens = models.task():batch(2)

-- The names in a trace, sorted, as text.
local function names_of(trace)
  return table.concat(require("roper.base.tables").keys(trace), " ")
end

describe("Module:trace", function()
  it("returns the output of each part of a Transformer", function()
    for _, norm in ipairs({ "pre", "post" }) do
      local model = models.small({ norm = norm, dropout = 0.5 })
      local trace = model:trace(tokens)
      assert.is_true(model.is_training)
      model:training(false)
      local x = model.embedding(tokens)
      arrays.close(x, trace.embedding, 0)
      for i, layer in ipairs(model.layers) do
        local name = ("layers.%d"):format(i)
        local input = norm == "pre" and layer.attention_norm(x) or x
        arrays.close(layer.attention(input), trace[name .. ".attention"], 0)
        arrays.close(layer.attention.key(input), trace[name .. ".attention.key"], 0)
        x = layer(x)
        arrays.close(x, trace[name], 0)
      end
      arrays.close(model(tokens), trace.Transformer, 0)
      assert.is_false(trace.Transformer:is_parameter())
    end
  end)

  it("returns the weights of attention by layer and head, for every scheme", function()
    for _, position in ipairs(roper.position.list()) do
      local model = models.small({ position = position, length = 30 })
      local trace = model:trace(tokens)
      for i, layer in ipairs(model.layers) do
        local x = trace[("layers.%d.attention_norm"):format(i)]
        local module = layer.attention
        local q, k = module:split(module.query(x)), module:split(module.key(x))
        local weights = trace[("layers.%d.attention.weights"):format(i)]
        local _, expected = roper.eager.attention(q, k, k, { position = module.position,
          causal = true, input = x })
        assert.same({ 2, 2, 30, 30 }, weights:shape())
        arrays.close(expected, weights, 1e-5)
        assert.is_nil(trace[("layers.%d.attention.weights#2"):format(i)])
      end
      assert.is_string(roper.plot.attention(trace["layers.2.attention.weights"][1][2],
                                            { format = "svg" }))
    end
  end)

  it("returns the scores before the softmax, for every scheme", function()
    for _, position in ipairs(roper.position.list()) do
      local model = models.small({ position = position, length = 30 })
      local trace = model:trace(tokens)
      for i = 1, 2 do
        local name = ("layers.%d.attention."):format(i)
        local scores = trace[name .. "scores"]
        assert.equal(-math.huge, scores[{ 1, 1, 1, 2 }]:item())
        arrays.close(trace[name .. "weights"], scores:softmax(4), 1e-6)
      end
    end
  end)

  it("returns scores with their scale, bias and mask", function()
    local q = roper.tensor({ { { { 1, 2 }, { 0, 3 } } } })
    local k = roper.tensor({ { { { 1, 1 }, { 4, 0 } } } })
    local Own = nn.class("Own")
    function Own.forward()
      return (roper.attention(q, k, k, { scale = 0.5, bias = roper.tensor({ { 0, 10 } }),
        mask = roper.tensor({ { 1, 1 }, { 0, 1 } }, "int32") }))
    end
    assert.same({ { 1.5, 12 }, { -math.huge, 10 } }, Own():trace()["Own.scores"][1][1]:totable())
  end)

  it("leaves the random generator and the state of a scheme as without a trace", function()
    roper.position.register("trace_random", { state = { "sum" }, bias = function(self, ...)
      local _, _, positions, x = ...
      local sum = positions:keep(self, "sum", x, function(before)
        local own = x:narrow(3, 1, 1):squeeze(3):cumsum(2)
        return before and own + before:narrow(2, before:size(2), 1) or own
      end)
      return roper.rand({ 1 }) * sum:view({ -1, 1, 1, positions.keys })
    end })
    local model = models.small({ position = "trace_random" })
    local function run(call)
      local cache = model:cache({ batch = 2, length = 30 })
      roper.seed(5)
      call(tokens:narrow(2, 1, 20), cache)
      return call(tokens:narrow(2, 21, 10), cache), roper.rand({ 1 }):item()
    end
    local logits, drawn = run(model)
    local trace, drawn_traced = run(function(...) return model:trace(...) end)
    arrays.close(logits, trace.Transformer, 1e-6)
    assert.equal(drawn, drawn_traced)
    arrays.close(trace["layers.2.attention.weights"],
      trace["layers.2.attention.scores"]:softmax(4), 1e-6)
  end)

  it("changes no bit, also with a cache", function()
    for _, position in ipairs({ "fox", "roper", "t5" }) do
      local model = models.small({ position = position })
      local whole = model(tokens)
      local scores = model:trace(tokens)["layers.2.attention.scores"]
      local cache = model:cache({ batch = 2, length = 30 })
      for at = 1, 30 do
        local trace = model:trace(tokens:narrow(2, at, 1), cache)
        arrays.close(whole:narrow(2, at, 1), trace.Transformer, 1e-4)
        assert.same({ 2, 2, 1, at }, trace["layers.1.attention.weights"]:shape())
        arrays.close(scores[{ {}, {}, { at, at }, { 1, at } }], trace["layers.2.attention.scores"],
          1e-4)
      end
      arrays.close(whole, model(tokens), 0)
    end
  end)

  it("numbers repeated calls, and names modules without a field", function()
    local Twice, Own = nn.class("Twice"), nn.class("Own")
    function Twice.forward(_, x) return 2 * x, x end
    function Own:init() self.part, self.twice = nn.class("Part")(), Twice() end
    function Own:forward(x)
      function self.part.forward() return self.twice(x) + Twice()(x) end
      local y = self.part() + self.part() + self.twice(x)
      return roper.eager.attention(y, y, y) + roper.attention(y, y, y)
    end
    local x = roper.ones({ 1, 1, 2, 4 })
    local trace = Own():trace(x)
    assert.equal("Own Own.scores Own.scores#2 Own.weights Own.weights#2 part part#2 part.Twice "
      .. "part.Twice#2 twice twice#2 twice#3", names_of(trace))
    assert.equal(2, #trace["twice#2"])
    arrays.close(2 * x, trace["twice#2"][1], 0)
    arrays.close(4 * x, trace["part#2"], 0)
    arrays.close(trace["Own.weights"], trace["Own.weights#2"], 1e-6)
  end)

  it("keeps the output of a part, whatever is done to it later", function()
    local Own = nn.class("Own")
    function Own:init() self.twice = nn.class("Twice")() end
    function Own:forward(x)
      function self.twice.forward() return 2 * x end
      return self.twice():fill(7)
    end
    local trace = Own():trace(roper.ones({ 2 }))
    assert.same({ 2, 2 }, trace.twice:totable())
    assert.same({ 7, 7 }, trace.Own:totable())
  end)

  it("leaves no hooks behind, also after an error", function()
    local model = models.small()
    model:trace(tokens)
    assert.is_nil(hooks.current)
    model.layers[2].feed_forward.forward = function() error("stop", 0) end
    assert.error_matches(function() model:trace(tokens) end, "^stop$")
    assert.is_nil(hooks.current)
    assert.is_true(model.is_training)
    assert.is_true(roper.is_recording())
  end)

  it("uses the right names after an error that a part caught", function()
    local Own = nn.class("Own")
    function Own:init() self.bad = nn.class("Bad")() end
    function Own:forward(x)
      pcall(self.bad, x)
      return (roper.attention(x, x, x))
    end
    assert.equal("Own Own.scores Own.weights", names_of(Own():trace(roper.ones({ 1, 1, 2, 4 }))))
  end)

  it("computes weights only while it runs", function()
    local model, attention, asked = models.small(), core.attention, {}
    finally(function() core.attention = attention end)
    core.attention = function(q, k, v, options)
      asked[#asked + 1] = options.weights or false
      return attention(q, k, v, options)
    end
    model(tokens)
    model:trace(tokens)
    model(tokens)
    assert.same({ false, false, true, true, false, false }, asked)
  end)
end)
