-- The Lua collector may run whenever a binding makes a value: what a core function works on must be
-- held by then.

local arrays = require("tests.arrays")
local core = require("roper.core")
local roper = require("roper")

--- A stand-in for a tensor that collects, twice and noisily, when it is looked at.
local function loud(make)
  return setmetatable({}, {
    __tensor = function()
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

local function matrix()
  return roper.tensor({ { 1, 2, 3, 4 }, { 5, 6, 7, 8 }, { 9, 1, 2, 3 }, { 4, 5, 6, 7 } })
end

local function row()
  return matrix()[2]:clone()
end

local function places()
  return roper.tensor({ { 1, 2, 3, 4 }, { 4, 3, 2, 1 }, { 1, 1, 1, 1 }, { 2, 2, 2, 2 } }, "int32")
end

local function ids()
  return roper.tensor({ 0, 1, 2, 3 }, "int32")
end

local function heads()
  return matrix():view({ 1, 1, 4, 4 })
end

local calls = {
  add = { roper.add, matrix, row },
  eq = { roper.eq, row, matrix },
  where = { roper.where, places, matrix, row },
  matmul = { roper.matmul, matrix, matrix },
  linear = { roper.linear, matrix, matrix, row },
  layer_norm = { roper.layer_norm, matrix, row, row },
  embedding = { roper.embedding, matrix, ids },
  gather = { function(x, index) return roper.gather(x, 1, index) end, matrix, places },
  cross_entropy = { roper.cross_entropy, matrix, ids },
  cat = { function(...) return roper.cat({ ... }) end, matrix, matrix, matrix },
  attention = { function(q, k, v) return (roper.attention(q, k, v, { position = "roper" })) end,
    heads, heads, heads },
  weights = { roper.attention_weights, heads, heads },
  oracle = { roper.oracle.attention, heads, heads, heads },
  rotate = { function(x, positions)
    return roper.position.rope({ dim = 4 }):rotate(x, positions)
  end, matrix, ids },
  positions = { function(q, positions)
    return (roper.attention(q, heads(), heads(), { position = "rope", positions = positions }))
  end, heads, ids },
  sum = { roper.sum, matrix },
  argmax = { roper.argmax, matrix },
  tensor = { roper.tensor, matrix },
}

describe("a core function holds its arguments", function()
  for name, call in pairs(calls) do
    it(name .. ", whichever of them collects", function()
      local function arguments(noisy)
        local list = {}
        for i = 2, #call do
          list[i - 1] = i - 1 == noisy and loud(call[i]) or call[i]()
        end
        return table.unpack(list)
      end
      local expected = call[1](arguments())
      for noisy = 1, #call - 1 do
        arrays.close(expected, call[1](arguments(noisy)), 0, name)
      end
    end)
  end

  it("where the option table or the list makes them", function()
    local function made(f)
      return setmetatable({}, {
        __len = function() return 3 end,
        __index = function() return loud(f) end,
      })
    end
    assert.same({ 12, 4 }, roper.cat(made(matrix)):shape())
    local w = matrix():parameter()
    w:sum():backward()
    assert.is_true(core.gradient_norm(made(function() return w end)) > 6)
    local options = setmetatable({ causal = true }, {
      __index = function() return roper.zeros({ 4, 4 }, "int32") end,
    })
    local q = heads()
    local expected, actual = core.attention(q, q, q, { causal = true }),
      core.attention(q, q, q, options)
    arrays.close(expected, actual, 0)
  end)

  it("and refuses what is no tensor in the end", function()
    for _, value in ipairs({ 5, "x", {} }) do
      local fake = setmetatable({}, { __tensor = function() return value end })
      assert.error_matches(function() roper.add(fake, 1) end, "tensor expected, got ")
    end
    local failing = setmetatable({}, { __tensor = function() error("not today") end })
    assert.error_matches(function() roper.add(matrix(), failing) end, "not today")
  end)
end)

describe("a tensor that is closed", function()
  it("is refused, and closes twice without harm", function()
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

  it("is the same with a full collection between any two operations", function()
    assert.same(expected, train(8, collectgarbage))
  end)

  it("is the same with a collector that never rests", function()
    collectgarbage("incremental", 10, 1000, 3)
    assert.same(expected, train(8, function() end))
  end)

  it("is the same in generational mode", function()
    collectgarbage("generational", 1, 1)
    assert.same(expected, train(8, function() end))
    assert.same(expected, train(8, collectgarbage))
  end)

  it("is the same with the collector stopped", function()
    collectgarbage("stop")
    local losses = train(8, function() end)
    collectgarbage("restart")
    assert.same(expected, losses)
  end)

  it("leaves no block behind", function()
    collectgarbage()
    collectgarbage()
    local before = roper.memory().blocks
    train(5, function() end)
    collectgarbage()
    collectgarbage()
    assert.equal(before, roper.memory().blocks)
  end)
end)
