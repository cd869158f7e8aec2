local scoped = require("roper.base.scoped")
local core = require("roper.core")
local models = require("tests.models")

-- The results of f, or the message of its error.
local function outcome(f)
  return { pcall(scoped.with_seed, 5, f) }
end

describe("scoped.with_seed", function()
  it("restores the generator, also after an error", function()
    core.seed(3)
    local before = { core.random_state() }
    local first = outcome(function() return core.rand({ 2 }):totable() end)
    core.rand({ 7 })
    assert.same(first, outcome(function() return core.rand({ 2 }):totable() end))
    core.seed(3)
    assert.same({ false, "no" }, outcome(function() error(core.rand({ 3 }) and "no", 0) end))
    assert.same(before, { core.random_state() })
  end)
end)

describe("scoped.with_matmul_precision", function()
  it("sets the precision during the call and restores it, also after an error", function()
    local function told(...)
      return core.matmul_precision(), ...
    end
    assert.same({ "bfloat16", 1, nil, 3, n = 4 }, table.pack(
      scoped.with_matmul_precision("bfloat16", function() return told(1, nil, 3) end)))
    assert.equal("float32", core.matmul_precision())
    assert.same({ false, "no" }, { pcall(scoped.with_matmul_precision, "bfloat16",
      function() error("no", 0) end) })
    assert.equal("float32", core.matmul_precision())
  end)
end)

describe("scoped.without_training", function()
  it("disables dropout and gradients and restores them, also after an error", function()
    local model = models.small({ seed = 1, dropout = 0.5 })
    local function needs_gradient()
      return (pcall(function() (model.embedding.weight * 2):sum():backward() end))
    end
    for _, was_training in ipairs({ true, false }) do
      model:training(was_training)
      local seen = scoped.without_training(model, function()
        return { model.is_training, model.layers[1].is_training, needs_gradient() }
      end)
      assert.same({ false, false, false }, seen)
      assert.has_error(function()
        scoped.without_training(model, function() error("no", 0) end)
      end, "no")
      assert.same({ was_training, true }, { model.layers[1].is_training, needs_gradient() })
    end
  end)

  it("restores the state of each module", function()
    local model = models.small()
    model.layers[2]:training(false)
    scoped.without_training(model, function() end)
    assert.same({ true, true, false, false }, { model.is_training, model.layers[1].is_training,
      model.layers[2].is_training, model.layers[2].attention.is_training })
  end)
end)
