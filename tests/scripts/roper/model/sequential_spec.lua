local arrays = require("tests.arrays")
local core = require("roper.core")
local roper = require("roper")
local scratch = require("tests.scratch")

local nn = roper.nn

local function mlp()
  return nn.Sequential({ nn.Linear({ inputs = 3, outputs = 8 }), nn.GELU(),
    nn.Linear({ inputs = 8, outputs = 8 }), nn.ReLU(), nn.Linear({ inputs = 8, outputs = 2 }) })
end

describe("nn.Sequential", function()
  setup(scratch.create)
  teardown(scratch.remove)

  it("computes and trains like PyTorch's, with default AdamW", function()
    local golden, model = core.load_safetensors("tests/fixtures/sequential.safetensors"), mlp()
    for i, layer in ipairs(model) do
      for _, name in ipairs(layer.weight and { "weight", "bias" } or {}) do
        layer[name] = golden[("before.%d.%s"):format(i - 1, name)]:clone():parameter()
      end
    end
    arrays.close(golden.y, model(golden.x), 1e-14)
    local adam = roper.optim.AdamW()
    for _ = 1, 5 do
      model:zero_gradients();
      (model(golden.x) - golden.target):square():mean():backward()
      adam:step(model:parameters())
    end
    for i, layer in ipairs(model) do
      for _, name in ipairs(layer.weight and { "weight", "bias" } or {}) do
        arrays.close(golden[("after.%d.%s"):format(i - 1, name)], layer[name], 1e-12)
      end
    end
  end)

  it("accepts modules as arguments, as a list, and nested", function()
    local one, two = nn.Linear({ inputs = 2, outputs = 2 }), nn.ReLU()
    assert.equal(two, nn.Sequential(one, two)[2])
    assert.equal(2, #nn.Sequential({ one, two }))
    local x = roper.randn({ 4, 2 })
    arrays.close(two(one(x)), nn.Sequential(nn.Sequential(one), nn.Sequential({ two }))(x), 0)
    assert.equal(x, nn.Sequential()(x))
  end)

  it("is printed, traced, counted and saved like any other module", function()
    local model = nn.Sequential(mlp(), nn.Dropout({ p = 0.25 }))
    assert.equal([[
Sequential: 122 parameters
  1: Sequential                           122
    1: Linear    bias [8], weight [8, 3]   32
    2: GELU                                 0
    3: Linear    bias [8], weight [8, 8]   72
    4: ReLU                                 0
    5: Linear    bias [2], weight [2, 8]   18
  2: Dropout                                0]], tostring(model))
    assert.equal("1.5.weight", model:named_parameters()[6].name)
    local x = roper.randn({ 4, 3 })
    arrays.close(model:training(false)(x), model:trace(x)["1.5"], 0)
    local path, other = scratch.path("model"), nn.Sequential(mlp(), nn.Dropout())
    model:save(path)
    other:load(path):training(false)
    arrays.close(model(x), other(x), 0)
  end)

  it("is recomputed with the same gradients and draws", function()
    local recompute = require("roper.model.recompute")
    local model, x = nn.Sequential(mlp(), nn.Dropout({ p = 0.5 })), roper.randn({ 64, 3 })
    local gradients = {}
    for i, run in ipairs({ function() return model(x) end, function()
      return recompute(model, x)
    end }) do
      model:zero_gradients()
      roper.seed(7)
      run():square():sum():backward()
      gradients[i] = model[1][1].weight.grad
    end
    arrays.close(gradients[1], gradients[2], 0)
  end)

  it("rejects values that are not modules, and arguments for the first module only", function()
    for text, make in pairs({
      ["Sequential: expected a module as number 2, got nil"] = function()
        nn.Sequential({ nn.ReLU(), nil, nn.ReLU() })
      end,
      ["Sequential: expected a module as number 1, got 5"] = function()
        nn.Sequential(5, nn.ReLU())
      end,
      ["Sequential: expected a module as number 1, got nil"] = function() nn.Sequential(nil) end,
      ["Sequential: expected one argument, got 3"] = function() nn.Sequential()(1, nil, 2) end,
    }) do
      local ok, message = pcall(make)
      assert.is_false(ok)
      assert.truthy(message:find(text, 1, true), message)
    end
    assert.equal(1, nn.Sequential()(1, nil, nil))
  end)
end)

describe("nn.Dropout", function()
  it("drops a fraction p in training only, and scales the rest", function()
    local dropout, x = nn.Dropout({ p = 0.25 }), roper.ones({ 10000 })
    local y = dropout(x)
    local zeros = y:eq(0):sum():item()
    assert.is_true(math.abs(zeros - 2500) < 5 * (10000 * 0.25 * 0.75) ^ 0.5)
    arrays.close(roper.full({ 10000 - zeros }, 1 / 0.75), y[y:ne(0)], 1e-6)
    assert.equal(x, dropout:training(false)(x))
    assert.equal(0.5, nn.Dropout().p)
    assert.error_matches(function() nn.Dropout({ p = 1 }) end,
      "Dropout: option p: expected a number of at least 0 and below 1, got 1")
  end)
end)

describe("nn.ReLU and nn.GELU", function()
  it("are the functions of these names, without options", function()
    local x = roper.tensor({ -1, 0, 2 })
    arrays.close(roper.relu(x), nn.ReLU()(x), 0)
    arrays.close(roper.gelu(x), nn.GELU()(x), 0)
    assert.error_matches(function() nn.ReLU({ inplace = true }) end,
      "ReLU: unknown option inplace; it takes none")
  end)
end)
