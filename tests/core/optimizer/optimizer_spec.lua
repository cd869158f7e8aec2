local arrays = require("tests.arrays")
local core = require("roper.core")
local golden = require("tests.golden")
local roper = require("roper")

--- Set the gradient of a parameter.
local function set_gradient(parameter, gradient)
  parameter.grad = nil
  parameter:backward(gradient)
end

--- The parameter after each step, from the golden start and gradients.
local function trajectory(values, step)
  local w = values.start:clone():parameter()
  local steps = {}
  for i = 1, #values.gradients do
    set_gradient(w, values.gradients[i])
    step(w, i)
    steps[i] = w:detach():clone()
  end
  return roper.stack(steps)
end

--- A step of Adam with state of its own.
local function adam(values, settings)
  local mean, variance = roper.zeros({ 7 }, values.start:dtype()), roper.zeros({ 7 },
    values.start:dtype())
  return function(w, i)
    local all = { correction1 = 1 - (settings.beta1 or 0.9) ^ i,
      correction2 = 1 - (settings.beta2 or 0.999) ^ i }
    for name, value in pairs(settings) do
      all[name] = value
    end
    core.adam_step(w, mean, variance, all)
  end
end

local function sgd(values, settings)
  local velocity = settings.momentum and roper.zeros({ 7 }, values.start:dtype()) or nil
  return function(w)
    core.sgd_step(w, velocity, settings)
  end
end

describe("adam_step", function()
  it("follows PyTorch's Adam and AdamW over several steps", function()
    golden.each("optimizer", function(values, tolerance)
      for name, settings in pairs({
        adam = { rate = 0.01, beta1 = 0.8, beta2 = 0.95, epsilon = 1e-6 },
        adam_l2 = { rate = 0.01, l2 = 0.1 },
        adamw = { rate = 0.01, decay = 0.1 },
      }) do
        arrays.close(values[name], trajectory(values, adam(values, settings)), tolerance, name)
      end
    end)
  end)

  it("scales gradients before anything else", function()
    local values = golden.values("optimizer")
    local scaled = { start = values.start, gradients = values.gradients * 0.25 }
    local settings = { rate = 0.01, l2 = 0.1 }
    local expected = trajectory(scaled, adam(values, settings))
    settings.gradient_scale = 0.25
    arrays.close(expected, trajectory(values, adam(values, settings)), 1e-15)
  end)

  it("is the same with one thread and with two", function()
    local threads = roper.threads()
    roper.seed(1)
    local start, gradient, results = roper.randn({ 50000 }), roper.randn({ 50000 }), {}
    for n = 1, 2 do
      roper.threads(n)
      local w = start:clone():parameter()
      set_gradient(w, gradient)
      core.adam_step(w, roper.zeros({ 50000 }), roper.zeros({ 50000 }), { rate = 0.1 })
      results[n] = w:detach()
    end
    roper.threads(threads)
    arrays.close(results[1], results[2], 0)
  end)

  it("rejects state and settings that do not match, without changing anything", function()
    local w, state = roper.ones({ 2, 3 }):parameter(), roper.zeros({ 2, 3 })
    assert.error_matches(function() core.adam_step(w, state, state:clone(), {}) end,
      "adam_step: the parameter %[2, 3%] has no gradient")
    set_gradient(w, roper.ones({ 2, 3 }))
    local function refused(message, mean, variance, settings)
      assert.error_matches(function() core.adam_step(w, mean, variance, settings) end, message)
    end
    refused("adam_step: expected mean like the parameter's float32 %[2, 3%], got float32 %[3%]",
      roper.zeros({ 3 }), state, {})
    refused("adam_step: expected variance like .*, got float64 %[2, 3%]", state,
      state:to("float64"), {})
    refused("adam_step: expected packed tensors, got a strided view", state,
      roper.zeros({ 3, 2 }):transpose(1, 2), {})
    for name, list in pairs({
      rate = { 0 / 0, math.huge }, decay = { 0 / 0 }, l2 = { -math.huge },
      beta1 = { 1, -0.1, 0 / 0 }, beta2 = { 1, 2 }, epsilon = { -1, 0 / 0, math.huge },
      gradient_scale = { 0 / 0, math.huge },
    }) do
      for _, value in ipairs(list) do
        refused(value - value ~= 0 and ("adam_step: option %s: expected a finite"):format(name)
          or "adam_step: expected finite settings, betas in %[0, 1%) and epsilon >= 0, got ",
          state, state, { [name] = value })
      end
    end
    for _, value in ipairs({ 0, -1, 1.5 }) do
      refused("adam_step: expected corrections above 0 and up to 1, got ", state, state,
        { correction1 = value })
      refused("adam_step: expected corrections above 0", state, state, { correction2 = value })
    end
    local both, result = roper.zeros({ 3, 3 }), roper.zeros({ 2, 3 }) * w
    refused("adam_step: mean and variance share elements", state, state, {})
    refused("adam_step: mean and variance share elements", both:narrow(1, 1, 2),
      both:narrow(1, 2, 2), {})
    refused("adam_step: parameter and mean share elements", w, state, {})
    refused("adam_step: parameter and variance share elements", state, w:detach(), {})
    refused("adam_step: variance and gradient share elements", state, w.grad, {})
    refused("assign: expected a tensor outside the graph", state, result, {})
    assert.equal(6, w:sum():item())
    assert.equal(0, state:abs():sum():item())
  end)
end)

describe("sgd_step", function()
  it("follows PyTorch's SGD over several steps", function()
    golden.each("optimizer", function(values, tolerance)
      for name, settings in pairs({
        sgd = { rate = 0.1 },
        sgd_l2 = { rate = 0.1, l2 = 0.1 },
        sgd_momentum = { rate = 0.1, momentum = 0.9 },
        sgd_nesterov = { rate = 0.1, momentum = 0.9, nesterov = true, l2 = 0.1 },
      }) do
        arrays.close(values[name], trajectory(values, sgd(values, settings)), tolerance, name)
      end
    end)
  end)

  it("accepts a gradient of another memory layout", function()
    local w = roper.zeros({ 2, 3 }):parameter()
    w:transpose(1, 2):backward(roper.arange(0, 6):view({ 3, 2 }))
    core.sgd_step(w, nil, { rate = 1 })
    assert.same({ { 0, -2, -4 }, { -1, -3, -5 } }, w:totable())
  end)

  it("rejects state and settings that do not match", function()
    local w = roper.ones({ 2 }):parameter()
    assert.error_matches(function() core.sgd_step(w, nil, {}) end,
      "sgd_step: the parameter %[2%] has no")
    set_gradient(w, roper.ones({ 2 }))
    local function refused(message, velocity, settings)
      assert.error_matches(function() core.sgd_step(w, velocity, settings) end, message)
    end
    refused("sgd_step: the parameter %[2%] has no velocity", nil, { momentum = 0.9 })
    refused("sgd_step: parameter and velocity share elements", w, {})
    refused("sgd_step: velocity and gradient share elements", w.grad:view({ 2 }), {})
    refused("sgd_step: expected velocity like .*, got float32 %[3%]", roper.zeros({ 3 }), {})
    for _, name in ipairs({ "rate", "momentum", "l2", "gradient_scale" }) do
      for _, value in ipairs({ 0 / 0, math.huge }) do
        refused(("sgd_step: option %s: expected a finite number"):format(name), nil,
          { [name] = value })
      end
    end
    refused("sgd_step: option nesterov: expected true or false, got 1", nil, { nesterov = 1 })
    assert.same({ 1, 1 }, w:totable())
  end)

  it("invalidates graphs that were recorded before", function()
    for _, case in ipairs({ { core.sgd_step, 1 }, { core.sgd_step, 2 }, { core.adam_step, 3 } }) do
      local step, count = table.unpack(case)
      for written = 1, count do
        local tensors = { roper.ones({ 2 }):parameter() } -- the parameter, then its state
        for i = 2, count do
          tensors[i] = roper.ones({ 2 })
        end
        set_gradient(tensors[1], roper.ones({ 2 }))
        local loss = (tensors[written] * roper.ones({ 2 }):parameter()):sum()
        step(table.unpack(tensors))
        assert.error_matches(function() loss:backward() end, "changed in place")
      end
    end
  end)
end)

describe("gradient_norm", function()
  it("is exact for float64 whose squares overflow or underflow", function()
    for _, exponent in ipairs({ -1000, -540, 540, 1000 }) do
      local w, v = core.ones({ 1 }, "float64"):parameter(), core.ones({ 2 }, "float64"):parameter()
      w:backward(core.full({ 1 }, 3 * 2.0 ^ exponent, "float64"))
      v:backward(core.tensor({ 0, -4 * 2.0 ^ exponent }, "float64"))
      assert.equal(5 * 2.0 ^ exponent, core.gradient_norm({ w, v }))
    end
    local w = core.ones({ 1 }, "float64"):parameter()
    w:backward(core.full({ 1 }, -math.huge, "float64"))
    assert.equal(math.huge, core.gradient_norm({ w }))
  end)

  it("equals PyTorch's norm for clipping", function()
    golden.each("clip", function(values, tolerance)
      local parameters = {}
      for i = 1, 2 do
        parameters[i] = roper.zeros(values["gradient" .. i]:shape(),
          values.norm:dtype()):parameter()
        parameters[i]:backward(values["gradient" .. i])
      end
      parameters[3] = roper.ones({ 3 }):parameter() -- without a gradient
      local norm = core.gradient_norm(parameters)
      assert.is_true(math.abs(values.norm:item() - norm) < tolerance)
      for i = 1, 2 do -- PyTorch divides by the norm plus 1e-6
        arrays.close(values["clipped" .. i], parameters[i].grad * (1.5 / norm), 1e-5)
      end
    end)
  end)

  it("is the same for any number of threads, and exact for many elements", function()
    local threads = roper.threads()
    local w = roper.zeros({ 300000 }):parameter()
    w:backward(roper.ones({ 300000 }))
    for n = 1, 2 do
      roper.threads(n)
      assert.equal(300000 ^ 0.5, core.gradient_norm({ w }))
    end
    roper.threads(threads)
    assert.equal(0, core.gradient_norm({}))
  end)

  it("is not finite if a gradient is not, and rejects other values than tensors", function()
    local w = roper.zeros({ 2 }):parameter()
    w:backward(roper.tensor({ 0 / 0, 1 }))
    assert.is_true(core.gradient_norm({ w }) ~= core.gradient_norm({ w }))
    assert.error_matches(function() core.gradient_norm({ w, 5 }) end,
      "gradient_norm: expected a tensor as element 2, got number")
  end)
end)
