-- The Lua collector can run whenever a binding creates a value: the arguments of a core function
-- must be kept alive.

local arrays = require("tests.arrays")
local core = require("roper.core")
local roper = require("roper")

describe("a core function keeps its arguments alive", function()
  it("if the option table or the list creates them", function()
    local function matrix()
      return roper.tensor({ { 1, 2, 3, 4 }, { 5, 6, 7, 8 }, { 9, 1, 2, 3 }, { 4, 5, 6, 7 } })
    end
    -- A list that makes its tensors, and collects before and after.
    local function made(make)
      return setmetatable({}, {
        __len = function() return 3 end,
        __index = function()
          collectgarbage()
          local tensor = make()
          for _ = 1, 20 do -- take over what was given back
            roper.full({ 4, 4 }, -1)
          end
          collectgarbage()
          return tensor
        end,
      })
    end
    arrays.close(roper.cat({ matrix(), matrix(), matrix() }), roper.cat(made(matrix)), 0)
    local w = matrix():parameter()
    w:sum():backward()
    assert.is_true(core.gradient_norm(made(function() return w end)) > 6)
    local options = setmetatable({ causal = true }, {
      __index = function() return roper.zeros({ 4, 4 }, "int32") end,
    })
    local q = matrix():view({ 1, 1, 4, 4 })
    local expected, actual = core.attention(q, q, q, { causal = true }),
      core.attention(q, q, q, options)
    arrays.close(expected, actual, 0)
  end)
end)

describe("a tensor that is closed", function()
  it("is rejected, and can be closed twice", function()
    local x = roper.ones({ 2 })
    local gc = getmetatable(x).__gc
    gc(x)
    gc(x)
    for _, f in ipairs({
      function() x:sum() end,
      function() return x[1] end,
      function() return x + 1 end,
      function() return #x end,
      function() roper.cat({ x }) end,
      function() x:fill(1) end,
      function() roper.matmul(roper.ones({ 2, 2 }), x) end,
    }) do
      assert.error_matches(f, "already collected")
    end
    local kept
    do
      local y <close> = roper.ones({ 2 })
      kept = y
    end
    assert.error_matches(function() kept:sum() end, "already collected")
  end)

  it("is rejected, also if it is a position scheme", function()
    local scheme, q = roper.position.roper({ dim = 4 }), roper.ones({ 1, 1, 2, 4 })
    local gc = getmetatable(scheme).__gc
    gc(scheme)
    gc(scheme)
    for name, f in pairs({
      rotate = function() scheme:rotate(q) end,
      matrix = function() scheme:matrix(1) end,
      thetas = function() scheme:thetas() end,
      only = function() scheme:only("q") end,
      options = function() scheme:options() end,
      tostring = function() tostring(scheme) end,
      attention = function() roper.attention(q, q, q, { position = scheme }) end,
      linear = function() roper.linear_attention(q, q, q, { position = scheme }) end,
    }) do
      assert.error_matches(f, "this scheme was already collected", nil, nil, name)
    end
  end)

  it("stays alive in the graph", function()
    local w, x = roper.ones({ 2 }):parameter(), roper.tensor({ 3, 4 })
    local y = w * x
    getmetatable(x).__gc(x)
    y:sum():backward()
    assert.same({ 3, 4 }, w.grad:totable())
  end)
end)

--- A few steps of training a small network on random data; the loss after each.
local function train(steps, between)
  roper.seed(1)
  local parameters = {
    roper.randn({ 16, 8 }):parameter(), roper.zeros({ 16 }):parameter(),
    roper.ones({ 16 }):parameter(), roper.zeros({ 16 }):parameter(),
    roper.randn({ 5, 16 }):parameter(),
  }
  local square = roper.differentiable(function(x) return x * x end,
    function(dy, x) return dy * x * 2 end)
  local x = roper.randn({ 1, 2, 6, 8 })
  local states, losses = {}, {}
  for i, p in ipairs(parameters) do
    states[i] = { roper.zeros(p:shape()), roper.zeros(p:shape()) }
  end
  for step = 1, steps do
    local mixed = roper.attention(x, x, x, { position = "roper", causal = true, dropout = 0.1 })
    between()
    local h = roper.linear(mixed, parameters[1], parameters[2], "relu")
    h = roper.layer_norm(square(h), parameters[3], parameters[4]) + roper.where(h:gt(0.1), h, 0)
    between()
    local logits = roper.linear(h, parameters[5])
    local loss = roper.cross_entropy(logits, x:sum(4):abs():floor():minimum(4):to("int32"))
    loss:backward()
    between()
    for i, p in ipairs(parameters) do
      core.adam_step(p, states[i][1], states[i][2], { rate = 0.01,
        correction1 = 1 - 0.9 ^ step, correction2 = 1 - 0.999 ^ step })
      p.grad = nil
    end
    losses[step] = loss:item()
  end
  return losses
end

describe("training under a busy collector", function()
  local expected

  setup(function()
    expected = train(8, function() end)
    assert.is_true(expected[8] < expected[1])
  end)

  after_each(function()
    collectgarbage("incremental", 200, 100, 13)
  end)

  it("gives the same result with a full collection between any two operations", function()
    assert.same(expected, train(8, collectgarbage))
  end)

  it("gives the same result with a collector that runs all the time", function()
    collectgarbage("incremental", 10, 1000, 3)
    assert.same(expected, train(8, function() end))
  end)

  it("gives the same result in generational mode", function()
    collectgarbage("generational", 1, 1)
    assert.same(expected, train(8, function() end))
    assert.same(expected, train(8, collectgarbage))
  end)

  it("gives the same result with the collector stopped", function()
    collectgarbage("stop")
    local losses = train(8, function() end)
    collectgarbage("restart")
    assert.same(expected, losses)
  end)

  it("releases every block", function()
    collectgarbage()
    collectgarbage()
    local before = roper.memory().blocks
    train(5, function() end)
    collectgarbage()
    collectgarbage()
    assert.equal(before, roper.memory().blocks)
  end)
end)
