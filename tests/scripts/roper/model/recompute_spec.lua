local models = require("tests.models")
local recompute = require("roper.model.recompute")
local roper = require("roper")

-- Loss, gradients and the state of the generator after a step; memory that lived before backward.
local function outcome(options)
  local model = models.small(options)
  local tokens = models.task():batch(3)
  collectgarbage()
  local before = roper.memory().live
  local loss = model:loss(tokens:narrow(2, 1, 29), tokens:narrow(2, 2, 29))
  collectgarbage()
  local kept = roper.memory().live - before
  loss:backward()
  local result = { loss = loss:item(), random = { roper.random_state() } }
  for _, entry in ipairs(model:named_parameters()) do
    result[entry.name] = entry.tensor.grad and entry.tensor.grad:totable() or "none"
  end
  return result, kept
end

describe("recompute", function()
  it("gives the same bits, including the draws of dropout", function()
    for _, position in ipairs({ "none", "roper", "t5", "cope", "deberta" }) do
      for _, norm in ipairs({ "pre", "post" }) do
        local options = { position = position, norm = norm, dropout = 0.2, length = 30 }
        local expected = outcome(options)
        options.recompute = true
        assert.same(expected, (outcome(options)))
      end
    end
  end)

  -- Gradients after a forward pass with dropout, a change of the model, and the backward pass.
  local function gradients(options, change, what)
    local model = models.small(options)
    local tokens, layer = models.task():batch(3), model.layers[2]
    if what == "what a layer of no class reads" then
      model.layers[2] = setmetatable({ factor = 2, part = layer }, { __call = function(self, x)
        return self.part(x) * self.factor
      end })
    end
    local loss = model:loss(tokens:narrow(2, 1, 29), tokens:narrow(2, 2, 29))
    local parameters = model:named_parameters()
    change(model)
    loss:backward()
    local result = { random = { roper.random_state() } }
    for _, entry in ipairs(parameters) do
      result[entry.name] = entry.tensor.grad and entry.tensor.grad:totable() or "none"
    end
    return result, model
  end

  local changes = {
    ["training"] = function(model) model:training(false) end,
    ["the dropout of a layer"] = function(model) model.layers[1].dropout = 0.5 end,
    ["the dropout of attention"] = function(model) model.layers[2].attention.dropout = 0 end,
    ["where norms are"] = function(model) model.layers[1].norm = "post" end,
    ["what attention sees"] = function(model) model.layers[1].attention.causal = false end,
    ["a scheme"] = function(model) model.layers[1].attention.position = nil end,
    ["an option of a scheme"] = function(model)
      model.layers[1].attention.position.distance = 17
    end,
    ["a part of a layer"] = function(model)
      model.layers[1].feed_forward = roper.nn.FeedForward({ d_model = 16 })
    end,
    ["a weight, by another tensor"] = function(model)
      local linear = model.layers[1].attention.query
      linear.weight = (linear.weight:detach() * 3):parameter()
    end,
    ["a method of one layer"] = function(model)
      model.layers[2].forward = function(_, x) return x end
    end,
    ["what a layer of no class reads"] = function(model) model.layers[2].factor = 9 end,
    ["the generator"] = function() roper.seed(77) end,
    ["the precision of products"] = function() roper.matmul_precision "bfloat16" end,
  }
  for what, change in pairs(changes) do
    it("recomputes from the state of forward, whatever changed since: " .. what, function()
      finally(function() roper.matmul_precision "float32" end)
      local results = {}
      for i, recomputed in ipairs({ false, true }) do
        roper.matmul_precision "float32"
        results[i] = gradients({ position = "t5", dropout = 0.2, recompute = recomputed }, change,
          what)
      end
      assert.same(results[1], results[2])
    end)
  end

  it("keeps later changes", function()
    local _, model = gradients({ dropout = 0.2, recompute = true }, function(model)
      model:training(false)
      model.layers[1].norm, model.layers[2].extra = "post", 3
    end)
    assert.is_false(model.layers[1].attention.is_training)
    assert.same({ "post", 3 }, { model.layers[1].norm, model.layers[2].extra })
  end)

  it("rejects tensors that were written to since, like any operation", function()
    for what, change in pairs({
      weight = function(model) model.layers[1].attention.value.weight:fill(1) end,
      bias = function(model) model.layers[2].feed_forward.outer.bias:fill(1) end,
      table = function(model) model.layers[1].attention.position.table:fill(1) end,
      gain = function(model) model.layers[1].feed_forward_norm.gain:fill(2) end,
    }) do
      assert.error_matches(function()
        gradients({ position = "t5", recompute = true }, change)
      end, "backward: a tensor %[.-%] that .- needs was changed in place after the forward pass",
        nil, nil, what)
    end
    local positions = roper.tensor({ { 0, 1, 2 } }, "float64")
    local layer = models.small().layers[1]
    local y = recompute(layer, roper.randn({ 1, 3, 16 }), nil, positions):sum()
    positions:fill(0)
    assert.error_matches(function() y:backward() end, "changed in place after the forward pass")
  end)

  it("accepts a layer of many parameters", function()
    local Own = roper.nn.class "Own"
    function Own:init()
      for i = 1, 200 do
        self[i] = roper.tensor({ i }):parameter()
      end
    end
    function Own:forward(x)
      for i = 1, 200 do
        x = x + self[i]
      end
      return x
    end
    local own = Own()
    recompute(own, roper.ones({ 1 })):backward()
    assert.equal(1, own[200].grad:item())
  end)

  it("keeps only the input of each layer", function()
    local options = { layers = 6, recompute = false }
    local _, whole = outcome(options)
    options.recompute = true
    local _, kept = outcome(options)
    assert.is_true(kept < whole / 4, ("%d of %d bytes"):format(kept, whole))
  end)

  it("is off in evaluation, with a cache, and in checkpoints", function()
    local model = models.small({ recompute = true })
    assert.is_nil(model.options.recompute)
    local layer, tokens, calls = model.layers[1], models.task():batch(1), 0
    local forward = layer.forward
    function layer.forward(...)
      calls = calls + 1
      return forward(...)
    end
    -- The number of calls of the layer in a step.
    local function calls_of(cache)
      calls = 0
      model(tokens, cache):sum():backward()
      return calls
    end
    assert.equal(2, calls_of())
    assert.equal(1, calls_of(model:cache({ batch = 1, length = 30 })))
    model:training(false)
    assert.equal(1, calls_of())
  end)

  it("trains its parameters if no gradient flows to the input", function()
    local linear = roper.nn.Linear({ inputs = 2, outputs = 3 })
    recompute(linear, roper.ones({ 4, 2 })):sum():backward()
    assert.same({ { 4, 4 }, { 4, 4 }, { 4, 4 } }, linear.weight.grad:totable())
  end)

  it("passes on further arguments, and is a plain call without recording", function()
    local x = roper.tensor({ 3 }):parameter()
    local calls = 0
    local function f(a, times, none, power)
      calls = calls + 1
      assert.is_nil(none)
      return (a * times) ^ power
    end
    local y = recompute(f, x, 2, nil, 3)
    assert.equal(216, y:item())
    y:backward()
    assert.equal(3 * 36 * 2, x.grad:item())
    assert.equal(2, calls)
    roper.no_grad(recompute, f, x, 2, nil, 3)
    assert.equal(3, calls)
  end)

  it("restores the generator if the recomputation fails", function()
    local x, fails = roper.ones({ 4 }):parameter(), false
    local y = recompute(function(a)
      a = roper.dropout(a, 0.5)
      return fails and error("again") or a
    end, x):sum()
    fails = true
    local before = { roper.random_state() }
    assert.error_matches(function() y:backward() end, "again")
    assert.same(before, { roper.random_state() })
  end)
end)
