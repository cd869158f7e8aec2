local core = require("roper.core")
local roper = require("roper")
local uv = require("luv")

local optim = roper.optim
local schedule = optim.schedule

-- A parameter whose gradient is what `gradient` makes of its values, as numbers.
local function give_gradient(parameter, gradient)
  parameter.grad = nil
  local values = {}
  for i, value in ipairs(parameter:totable()) do
    values[i] = gradient(value, i)
  end
  (parameter * roper.tensor(values, parameter:dtype())):sum():backward()
end

-- Each element of a parameter after some steps, from one number's algorithm.
local function assert_follows(optimizer, steps, algorithm)
  local start = { 1, -2, 0.5 }
  local gradient = function(value, i) return value * i + 0.3 end
  local parameter = roper.tensor(start, "float64"):parameter()
  for _ = 1, steps do
    give_gradient(parameter, gradient)
    optimizer:step({ parameter })
  end
  for i, value in ipairs(start) do
    local expected = algorithm(value, function(w) return gradient(w, i) end)
    assert.is_true(math.abs(expected - parameter[i]:item()) < 1e-14)
  end
end

describe("optim.SGD", function()
  it("follows its definition", function()
    for _, nesterov in ipairs({ false, true }) do
      local optimizer = optim.SGD({ rate = 0.1, momentum = 0.9, nesterov = nesterov, l2 = 0.01 })
      assert_follows(optimizer, 5, function(w, gradient)
        local velocity = 0
        for _ = 1, 5 do
          local g = gradient(w) + 0.01 * w
          velocity = 0.9 * velocity + g
          w = w - 0.1 * (nesterov and g + 0.9 * velocity or velocity)
        end
        return w
      end)
    end
    assert_follows(optim.SGD({ rate = 0.2 }), 3, function(w, gradient)
      for _ = 1, 3 do
        w = w - 0.2 * gradient(w)
      end
      return w
    end)
  end)

  it("finds the minimum of a quadratic", function()
    for _, momentum in ipairs({ 0, 0.9 }) do
      local x = roper.tensor({ 5, -3 }):parameter()
      local optimizer = optim.SGD({ rate = 0.05, momentum = momentum })
      for _ = 1, 300 do
        x.grad = nil
        ((x - roper.tensor({ 1, 2 })):square() * roper.tensor({ 1, 3 })):sum():backward()
        optimizer:step({ x })
      end
      assert.is_true((x - roper.tensor({ 1, 2 })):abs():max():item() < 1e-3)
    end
  end)

  it("rejects bad options", function()
    for options, message in pairs({
      [{ rate = -1 }] = "SGD: option rate: expected a finite non%-negative number, got %-1",
      [{ rate = 0 / 0 }] = "SGD: option rate: expected a finite non%-negative number",
      [{ rate = "1" }] = 'SGD: option rate: expected a finite non%-negative number, got "1"',
      [{ momentun = 0.9 }] = 'SGD: unknown option momentun; did you mean "momentum"',
      [{ nesterov = 1 }] = "SGD: option nesterov: expected true or false, got 1",
      [{ clip = 0 }] = "SGD: clip: expected a number above 0, got 0",
    }) do
      assert.error_matches(function() optim.SGD(options) end, message)
    end
  end)
end)

describe("optim.Adam", function()
  it("follows its definition", function()
    local beta1, beta2, epsilon = 0.8, 0.95, 1e-4
    local optimizer = optim.Adam({ rate = 0.05, beta1 = beta1, beta2 = beta2, epsilon = epsilon,
      decay = 0.1, l2 = 0.02 })
    assert_follows(optimizer, 6, function(w, gradient)
      local m, v = 0, 0
      for t = 1, 6 do
        local g = gradient(w) + 0.02 * w
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g * g
        w = w - 0.05 * 0.1 * w
          - 0.05 * m / (1 - beta1 ^ t) / ((v / (1 - beta2 ^ t)) ^ 0.5 + epsilon)
      end
      return w
    end)
    assert.equal(6, optimizer.count)
  end)

  it("finds the minimum of a quadratic", function()
    local x = roper.tensor({ 5, -3 }):parameter()
    local optimizer = optim.Adam({ rate = 0.1 })
    for _ = 1, 500 do
      x.grad = nil
      ((x - roper.tensor({ 1, 2 })):square() * roper.tensor({ 1, 100 })):sum():backward()
      optimizer:step({ x })
    end
    assert.is_true((x - roper.tensor({ 1, 2 })):abs():max():item() < 1e-3)
  end)

  it("rejects bad options", function()
    for options, message in pairs({
      [{ rate = -1e-9 }] =
        "Adam: option rate: expected a finite non%-negative number, got %-1e%-09",
      [{ rate = math.huge }] = "Adam: option rate: expected a finite non%-negative number, got inf",
      [{ rate = 0 / 0 }] = "Adam: option rate: expected a finite non%-negative number, got %-?nan",
      [{ rat = 1 }] = 'Adam: unknown option rat; did you mean "rate"',
      [{ beta1 = 1 }] = "Adam: option beta1: expected a number of at least 0 and below 1, got 1",
      [{ beta2 = -0.5 }] = "Adam: option beta2: expected a number of at least 0 and below 1, "
        .. "got %-0.5",
      [{ clip = -1 }] = "Adam: clip: expected a number above 0, got %-1",
      [{ schedule = 5 }] = "Adam: option schedule: expected a function, got 5",
    }) do
      assert.error_matches(function() optim.Adam(options) end, message)
    end
  end)
end)

describe("optimizers", function()
  local function parameter_with_gradient(...)
    local parameter = roper.zeros({ select("#", ...) }):parameter()
    local gradients = { ... }
    give_gradient(parameter, function(_, i) return gradients[i] end)
    return parameter
  end

  it("clip the norm of all gradients together", function()
    local optimizer = optim.SGD({ rate = 1, clip = 1 })
    local a, b = parameter_with_gradient(3, 0), parameter_with_gradient(-4)
    optimizer:step({ a, b })
    assert.is_true(math.abs(a[1]:item() + 0.6) < 1e-6)
    assert.equal(0, a[2]:item())
    assert.is_true(math.abs(b[1]:item() - 0.8) < 1e-6)
    assert.equal(3, a.grad[1]:item())
    local small = parameter_with_gradient(0.3, -0.4)
    optimizer:step({ small })
    assert.same(roper.tensor({ -0.3, 0.4 }):totable(), small:totable())
  end)

  it("reject gradients that are not finite when clipping, without changing anything", function()
    for _, make in ipairs({ optim.SGD, optim.Adam }) do
      for _, bad in ipairs({ 0 / 0, math.huge }) do
        local optimizer, x = make({ clip = 1 }), parameter_with_gradient(1, bad)
        assert.error_matches(function() optimizer:step({ x }) end,
                             "optimizer: the gradient norm is %-?[ni]")
        assert.same({ 0, 0 }, x:totable())
        assert.equal(0, optimizer.count)
      end
    end
  end)

  it("reject a duplicate parameter, without changing anything", function()
    local w, v = roper.ones({ 2 }):parameter(), roper.ones({ 2 }):parameter()
    for _, name in ipairs({ "SGD", "Adam" }) do
      local optimizer = roper.optim[name]()
      w:sum():backward()
      assert.error_matches(function() optimizer:step({ w, v, w }) end,
        "step: expected each parameter once, got number 1 again as number 3")
      assert.equal(0, optimizer.count)
      assert.same({ 1, 1 }, w:totable())
    end
  end)

  it("leave parameters without a gradient unchanged", function()
    for _, make in ipairs({ optim.SGD, optim.Adam }) do
      local optimizer = make({ rate = 1 })
      local without, with = roper.ones({ 2 }):parameter(), parameter_with_gradient(1, 1)
      optimizer:step({ without, with })
      assert.same({ 1, 1 }, without:totable())
      assert.not_same({ 0, 0 }, with:totable())
    end
  end)

  it("update all parameters or none when memory runs out", function()
    for make, momentum in pairs({ [optim.SGD] = 0.5, [optim.Adam] = false }) do
      local failures = 0
      local allowed = -1
      local ok, message
      repeat
        allowed = allowed + 1
        local optimizer = make({ rate = 1, l2 = 0.5, clip = 1, momentum = momentum or nil })
        local a, b = parameter_with_gradient(1, 1), parameter_with_gradient(1, 1)
        local c = roper.ones({ 2, 2 }):parameter()
        c:transpose(1, 2):matmul(roper.ones({ 2, 2 })):sum():backward()
        core.memory_fail_after(allowed)
        ok, message = pcall(optimizer.step, optimizer, { a, b, c })
        core.memory_fail_after(-1)
        failures = failures + (ok and 0 or 1)
        assert.truthy(ok or message:find("out of memory", 1, true), message)
        for i, parameter in ipairs({ a, b, c }) do
          assert.equal(ok, parameter:view({ -1 }):totable()[2] ~= (i == 3 and 1 or 0))
        end
        assert.equal(ok and 1 or 0, optimizer.count)
      until ok
      assert.is_true(failures > 2)
    end
  end)

  it("multiply the rate by the schedule's factor for the step, counted from 1", function()
    for _, make in ipairs({ optim.SGD, optim.Adam }) do
      local steps = {}
      local optimizer = make({ rate = 0.5, schedule = function(step)
        steps[#steps + 1] = step
        return step == 2 and 0 or 1 / step
      end })
      local x = parameter_with_gradient(1)
      optimizer:step({ x })
      local once = x[1]:item()
      assert.is_true(math.abs(once + 0.5) < 1e-5)
      optimizer:step({ x })
      assert.equal(once, x[1]:item())
      optimizer:step({ x })
      assert.is_true(math.abs(x[1]:item() - once + 0.5 / 3) < 1e-5)
      assert.same({ 1, 2, 3 }, steps)
    end
  end)

  it("reject a rate that is not finite, also from a schedule", function()
    for name, make in pairs({ sgd = optim.SGD, adam = optim.Adam }) do
      local x, message = parameter_with_gradient(1), name .. "_step: option rate: expected a finite"
      local scheduled = make({ schedule = function() return 0 / 0 end })
      assert.error_matches(function() scheduled:step({ x }) end, message)
      local changed = make()
      changed.options.rate = math.huge
      assert.error_matches(function() changed:step({ x }) end, message)
      assert.same({ 0 }, x:totable())
    end
  end)
end)

describe("optim.schedule", function()
  local function assert_points(f, points)
    for step, expected in pairs(points) do
      local got = f(step)
      assert(math.abs(got - expected) < 1e-12, ("step %d: %g"):format(step, got))
    end
  end

  it("constant is 1", function()
    assert_points(schedule.constant(), { [1] = 1, [1000] = 1 })
  end)

  it("cosine rises, then falls along half a cosine, then stays", function()
    assert_points(schedule.cosine(10, 110), {
      [1] = 0.1, [5] = 0.5, [10] = 1, [35] = (1 + 0.5 ^ 0.5) / 2, [60] = 0.5, [110] = 0, [500] = 0,
    })
    assert_points(schedule.cosine(0, 4, 0.2), { [1] = 0.2 + 0.4 * (1 + 0.5 ^ 0.5), [2] = 0.6,
      [4] = 0.2, [9] = 0.2 })
  end)

  it("inverse_square_root rises, then falls with the root of the step", function()
    assert_points(schedule.inverse_square_root(100), {
      [1] = 0.01, [50] = 0.5, [100] = 1, [400] = 0.5, [10000] = 0.1,
    })
  end)

  it("noam is equation 3 of Vaswani et al.", function()
    assert_points(schedule.noam(256, 4), {
      [1] = 1 / 16 / 8, [2] = 2 / 16 / 8, [4] = 1 / 32, [16] = 1 / 64, [400] = 1 / 320,
    })
  end)
end)

describe("a step", function()
  setup(core.interrupt_enable)
  teardown(core.interrupt_disable)

  it("is completed before Ctrl-C takes effect", function()
    for _, class in ipairs({ "Adam", "SGD" }) do
      local parameters = {}
      for i = 1, 3 do
        parameters[i] = roper.ones({ 2 }):parameter()
        give_gradient(parameters[i], function() return 1 end)
      end
      local optimizer = optim[class]({ schedule = function()
        uv.kill(uv.os_getpid(), "sigint")
        return 1
      end })
      local after, counted = false, false
      local ok, message = core.interrupt_call(function()
        optimizer:step(parameters, function() counted = true end)
        after = true
      end, tostring)
      assert.is_false(ok)
      assert.matches("interrupted$", message)
      assert.is_false(after)
      assert.is_true(counted)
      assert.equal(1, optimizer.count)
      for _, parameter in ipairs(parameters) do
        assert.is_true(parameter:max() < 1)
      end
    end
  end)

  it("restricts the decay of SGD to weights and embeddings if asked", function()
    local function stepped(decay_on)
      local weight = roper.ones({ 2, 2 }):parameter()
      local gain = roper.ones({ 2 }):parameter()
      local loss = (weight:sum() + gain:sum()) * 0
      loss:backward()
      roper.optim.SGD({ rate = 0.5, l2 = 0.5, decay_on = decay_on }):step({ weight, gain })
      return weight[1][1]:item(), gain[1]:item()
    end
    assert.same({ 0.75, 1 }, { stepped("matrices") })
    assert.same({ 0.75, 0.75 }, { stepped("all") })
  end)
end)

describe("schedules", function()
  it("refuse a step that is not a number", function()
    for name, factor in pairs({ cosine = schedule.cosine(2, 4), noam = schedule.noam(8, 2),
      inverse_square_root = schedule.inverse_square_root(2) }) do
      assert.error_matches(function() factor("x") end,
        ("schedule.%s: step: expected a finite number, got \"x\""):format(name), 1, true)
    end
  end)
end)
