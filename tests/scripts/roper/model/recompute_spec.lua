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
  it("gives the same bits, dropout's draws included", function()
    for _, position in ipairs({ "none", "roper", "t5", "cope", "deberta" }) do
      for _, norm in ipairs({ "pre", "post" }) do
        local options = { position = position, norm = norm, dropout = 0.2, length = 30 }
        local expected = outcome(options)
        options.recompute = true
        assert.same(expected, (outcome(options)))
      end
    end
  end)

  it("keeps the input of each layer alone", function()
    local options = { layers = 6, recompute = false }
    local _, whole = outcome(options)
    options.recompute = true
    local _, kept = outcome(options)
    assert.is_true(kept < whole / 4, ("%d of %d bytes"):format(kept, whole))
  end)

  it("is off in use, with a cache, and in what is saved", function()
    local model = models.small({ recompute = true })
    assert.is_nil(model.options.recompute)
    local layer, tokens, calls = model.layers[1], models.task():batch(1), 0
    local forward = layer.forward
    function layer.forward(...)
      calls = calls + 1
      return forward(...)
    end
    -- How often the layer is called in a step.
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

  it("trains what is inside where nothing flows to the input", function()
    local linear = roper.nn.Linear({ inputs = 2, outputs = 3 })
    recompute(linear, roper.ones({ 4, 2 })):sum():backward()
    assert.same({ { 4, 4 }, { 4, 4 }, { 4, 4 } }, linear.weight.grad:totable())
  end)

  it("passes on what else the function takes, and is a plain call without recording", function()
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

  it("leaves the generator as it was where the second time fails", function()
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
