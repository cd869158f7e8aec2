local arrays = require("tests.arrays")
local hooks = require("roper.attention.hooks")
local models = require("tests.models")
local roper = require("roper")
local scratch = require("tests.scratch")

local nn = roper.nn
local tokens = models.task():batch(2)

local function zero(output) return 0 * output end

describe("Module:with_hooks", function()
  setup(scratch.create)
  teardown(scratch.remove)

  it("passes output, module and arguments, and replaces the output", function()
    local linear, seen = nn.Linear({ inputs = 2, outputs = 2 }), nil
    local model = nn.Sequential(linear, nn.ReLU())
    local x = roper.ones({ 3, 2 })
    local y = linear(x)
    local result = model:with_hooks({ ["1"] = function(output, ...)
      seen = { output, ... }
      return output * 0 + 5
    end }, model, x)
    assert.equal(3, #seen)
    arrays.close(y, seen[1], 0)
    assert.equal(linear, seen[2])
    assert.equal(x, seen[3])
    arrays.close(roper.full({ 3, 2 }, 5), result, 0)
    arrays.close(y, linear(x), 0)
  end)

  it("keeps the output if a hook returns nothing, and the other results of the module", function()
    local Two = nn.class("Two")
    function Two.forward(_, x) return x, "second" end
    local model, calls = Two(), 0
    local a, b = model:with_hooks({ Two = function() calls = calls + 1 end }, model, 1)
    assert.same({ 1, "second", 1 }, { a, b, calls })
    a, b = model:with_hooks({ Two = function(y) return y + 6 end }, model, 1)
    assert.same({ 7, "second" }, { a, b })
  end)

  it("runs inner hooks after outer ones, and removes each at the end of its scope", function()
    local model = nn.Sequential(nn.ReLU())
    local x = roper.ones({ 1 })
    local function plus(n) return function(y) return y + n end end
    local function times(n) return function(y) return y * n end end
    model:with_hooks({ ["1"] = plus(2) }, function()
      assert.equal(3, model(x)[1]:item())
      assert.equal(30, model:with_hooks({ ["1"] = times(10) }, model, x)[1]:item())
      assert.equal(3, model(x)[1]:item())
    end)
    assert.equal(1, model(x)[1]:item())
  end)

  it("removes hooks after an error, also in the hook itself", function()
    local model = models.small()
    local expected = model(tokens)
    for _, f in ipairs({ function() error("stop", 0) end, model }) do
      assert.error_matches(function()
        model:with_hooks({ ["layers.1"] = function() error("stop", 0) end }, f, tokens)
      end, "^stop$")
      assert.is_nil(hooks.outputs)
      arrays.close(expected, model(tokens), 0)
    end
  end)

  it("lets a hook call its module", function()
    local linear = nn.Linear({ inputs = 2, outputs = 1 })
    local x = roper.ones({ 1, 2 })
    local y = linear:with_hooks({ Linear = function(_, module, given)
      return module(2 * given)
    end }, linear, x)
    arrays.close(linear(2 * x), y, 0)
  end)

  it("is seen by trace, loss, generation, evaluation and gradients", function()
    local model, task = models.small(), models.task()
    local list = { logits = zero }
    local given, targets = tokens:narrow(2, 1, 29), tokens:narrow(2, 2, 29)
    local words = #task:vocabulary()
    model:with_hooks(list, function()
      assert.equal(0, model:trace(tokens).Transformer:abs():max():item())
      assert.near(math.log(words), model:loss(given, targets):item(), 1e-5)
      assert.near(math.log(words), roper.evaluate.answers(model, task).loss, 1e-5)
      model:loss(given, targets):backward()
    end)
    assert.equal(0, model.logits.weight.grad:abs():max():item())
    local question = task:question()
    local function text(hook)
      return model:with_hooks({ logits = hook }, roper.generate, model, { question },
        { task = task, temperature = 0, limit = 3 })[1]
    end
    local likely = 50 * roper.eye(words)[3]
    assert.equal(task:decode(roper.tensor({ 2, 2, 2 }, "int32")),
      text(function(y) return y * 0 + likely end))
  end)

  it("is the same for recomputed layers, also if backward runs later", function()
    local gradients = {}
    for i, recompute in ipairs({ false, true }) do
      local model = models.small({ recompute = recompute })
      local loss = model:with_hooks({ ["layers.1.attention"] = function(y) return 2 * y end },
        function() return model:loss(tokens:narrow(2, 1, 29), tokens:narrow(2, 2, 29)) end)
      loss:backward()
      gradients[i] = model.layers[1].attention.query.weight.grad
    end
    arrays.close(gradients[1], gradients[2], 0)
  end)

  it("refuses to save or train into a folder with hooks, but not other models", function()
    local model, other = models.small(), models.small()
    local path, run = scratch.path("hooked.safetensors"), scratch.path("hooked_run")
    local message = "expected a model without hooks, got one on layers.1; a file would not contain "
      .. "it: save outside of with_hooks"
    model:with_hooks({ ["layers.1"] = zero }, function()
      assert.error_matches(function() model:save(path) end, "save: " .. message, 1, true)
      assert.error_matches(function()
        roper.train({ model = model, task = models.task(), steps = 1, run = run,
          optimizer = roper.optim.Adam() })
      end, "train: " .. message, 1, true)
      other:save(path)
    end)
    assert.is_nil(io.open(run .. "/config.json"))
    model:save(path)
  end)

  it("rejects unknown names, other values than functions, and other shapes", function()
    local model = models.small()
    local function refused(message, list, f)
      assert.error_matches(function() model:with_hooks(list, f or model, tokens) end, message, 1,
        true)
    end
    refused('with_hooks: list: expected the name of a module, got "layer.1"; did you mean '
      .. '"layers.1"?', { ["layer.1"] = zero })
    refused("with_hooks: logits: expected a function, got 5", { logits = 5 })
    refused("hook of Linear: expected float32 [2, 30, ", { logits = function(y) return y[1] end })
    refused("or nil, got number", { logits = function() return 5 end })
  end)
end)
