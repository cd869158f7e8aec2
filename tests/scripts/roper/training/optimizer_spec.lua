-- Goes over the declarations of all optimizers: what is declared once has an effect everywhere.
local checkpoint = require("roper.model.checkpoint")
local experiment = require("roper.workbench.study.experiment")
local fields = require("roper.workbench.study.experiment.fields")
local kinds = require("roper.training.optimizer").kinds
local options_of = require("roper.options.rows")
local roper = require("roper")
local scratch = require("tests.scratch")
local tables = require("roper.base.tables")

-- A value of an option that differs from its default.
local function probe(row)
  if row[1] == "schedule" then
    return function(step) return 1 / (step + 1) end
  elseif row[2] == "boolean" then
    return not row[3]
  end
  return type(row[2]) == "table" and row[2][#row[2]] or row[1] == "clip" and 0.1 or 0.25
end

-- All options of an optimizer, different from their defaults.
local function probes(kind)
  local options = {}
  for _, row in ipairs(options_of.rows(kind.options_class)) do
    options[row[1]] = probe(row)
  end
  return options
end

local function step(optimizer, model, x)
  model:zero_gradients()
  model(x or roper.tensor({ { 1, -2 }, { 0.5, 1 } })):square():sum():backward()
  optimizer:step(model:parameters())
end

local function model_of()
  roper.seed(1)
  local model = roper.nn.Linear({ inputs = 2, outputs = 2 })
  model.bias:detach():fill(0.5)
  return model
end

local function values(model)
  return tables.map(model:parameters(), function(parameter) return parameter:totable() end)
end

-- The parameters of a model after some steps, each on other data: then averages of gradients also
-- matter to an optimizer that uses only their signs.
local function trained(kind, options)
  local model, optimizer = model_of(), roper.optim[kind.name](options)
  for _ = 1, 10 do
    step(optimizer, model, roper.randn({ 2, 2 }))
  end
  return values(model)
end

local function configured(given)
  return experiment.configure("copy", tables.merged({ preset = "smoke" }, given))
end

describe("the field optimizer", function()
  it("has the declared optimizers as values", function()
    local names = tables.map(kinds, function(kind) return kind.field end)
    for _, field in ipairs(fields.of("copy")) do
      if field[1] == "optimizer" then
        assert.same(names, field[2])
      end
    end
    local message = ('field optimizer: expected one of %s, got "none"'):format(
      table.concat(names, ", "))
    assert.error_matches(function() configured({ optimizer = "none" }) end, message)
    local config = configured({})
    config.optimizer = "none"
    assert.error_matches(function() experiment.build(config) end, message)
  end)
end)

for _, kind in ipairs(kinds) do
  describe("the optimizer " .. kind.name, function()
    setup(scratch.create)
    teardown(scratch.remove)

    it("has options that all change the result of training", function()
      local expected = trained(kind, probes(kind))
      for _, row in ipairs(options_of.rows(kind.options_class)) do
        local options = probes(kind)
        options[row[1]] = row[3]
        assert.not_same(expected, trained(kind, options), row[1])
      end
    end)

    it("continues from a checkpoint with the same bits", function()
      local function state_of(options)
        return { model = model_of(), optimizer = roper.optim[kind.name](options), step = 0, sum = 0,
          count = 0, task = roper.tasks.copy(), config = {}, steps = 9 }
      end
      local path = scratch.path(kind.name .. ".safetensors")
      local state, loaded = state_of(probes(kind)), state_of(probes(kind))
      step(state.optimizer, state.model)
      for _, name in ipairs(kind.moments) do
        assert.is_true(state.optimizer.state[1][name]:ne(0):any(), name)
      end
      checkpoint.save_training(path, state)
      checkpoint.load_training(path, loaded)
      step(state.optimizer, state.model)
      step(loaded.optimizer, loaded.model)
      assert.same(values(state.model), values(loaded.model))
      assert.not_same(values(model_of()), values(loaded.model))
    end)

    it("is what experiments with its field train", function()
      local given = { optimizer = kind.field, decay = 0.125, rate = 0.5, clip = 2 }
      for _, pair in ipairs(kind.fields) do
        given[pair[2]] = probe(kind.rows[pair[1]])
      end
      local optimizer = experiment.build(configured(given)).optimizer
      assert.equal(kind.class, getmetatable(optimizer))
      assert.same({ 0.125, 0.5, 2 }, { optimizer.options[kind.decay], optimizer.options.rate,
        optimizer.options.clip })
      for _, pair in ipairs(kind.fields) do
        assert.equal(given[pair[2]], optimizer.options[pair[1]], pair[1])
      end
    end)

    it("alone takes its fields", function()
      for _, other in ipairs(kinds) do
        for _, pair in ipairs(other ~= kind and kind.fields or {}) do
          assert.error_matches(function()
            configured({ optimizer = other.field, [pair[2]] = probe(kind.rows[pair[1]]) })
          end, ("field %s: has an effect only with optimizer=%s"):format(pair[2], kind.field), 1,
            true)
        end
      end
    end)
  end)
end
