local arrays = require("tests.arrays")
local roper = require("roper")

describe("backward", function()
  before_each(function() roper.seed(1) end)

  it("follows the chain rule through shared inputs and fan-out", function()
    local ok, worst = roper.gradcheck(function(x, y)
      local a = x * x
      local b = a * y + x
      local c = (a + b) * (b - x):sin()
      return c * a + c + b:sum()
    end, { roper.randn({ 3 }), roper.randn({ 3 }) })
    assert.is_true(ok, worst)
  end)

  it("visits each node once, whatever the number of paths to it", function()
    local w = roper.tensor(1, "float64"):parameter()
    local y = w
    for _ = 1, 60 do -- 2^60 paths
      y = y + y
    end
    y:backward()
    assert.equal(2.0 ^ 60, w.grad:item())
  end)

  it("adds to the gradient of a parameter over several backward passes", function()
    local w = roper.tensor({ 1, 2 }):parameter()
    for i = 1, 3 do
      w:square():sum():backward()
      assert.same({ 2 * i, 4 * i }, w.grad:totable())
    end
    w.grad = nil
    assert.is_nil(w.grad)
    w:sum():backward()
    assert.same({ 1, 1 }, w.grad:totable())
  end)

  it("accepts a gradient of the output", function()
    local w = roper.tensor({ 1, 2, 3 }):parameter()
    w:square():backward(roper.tensor({ 1, 10, 100 }))
    assert.same({ 2, 40, 600 }, w.grad:totable())
    w.grad = nil
    local y = (w * 2):view({ 3, 1 })
    y:backward(roper.tensor({ { 1, 2, 3 } }):transpose(1, 2))
    assert.same({ 2, 4, 6 }, w.grad:totable())
  end)

  it("treats a tensor of one element as a scalar", function()
    local w = roper.full({ 1, 1 }, 3):parameter()
    w:square():backward()
    assert.same({ { 6 } }, w.grad:totable())
  end)

  it("works if the output is a parameter", function()
    local w = roper.tensor(5):parameter()
    w:backward()
    w:backward()
    assert.equal(2, w.grad:item())
    local v = roper.ones({ 2 }):parameter()
    local dy = roper.tensor({ 3, 4 })
    v:backward(dy)
    dy:fill(0)
    assert.same({ 3, 4 }, v.grad:totable())
  end)

  it("gives each parameter its own gradient tensor", function()
    local a, b, c = roper.ones({ 2 }):parameter(), roper.ones({ 2 }):parameter(),
      roper.ones({ 4 }):parameter()
    local dy = roper.tensor({ 1, 2 })
    local y = a + b + c:view({ 2, 2 })[1]
    y:backward(dy)
    a.grad:fill(7)
    assert.same({ 1, 2 }, b.grad:totable())
    assert.same({ 1, 2, 0, 0 }, c.grad:totable())
    assert.same({ 1, 2 }, dy:totable())
    local kept = b.grad
    b:sum():backward()
    assert.same({ 1, 2 }, kept:totable())
    assert.same({ 2, 3 }, b.grad:totable())
  end)

  it("leaves tensors that are not parameters without a gradient", function()
    local x, w = roper.ones({ 2 }), roper.ones({ 2 }):parameter()
    w:mul(x):sum():backward()
    assert.is_nil(x.grad)
    assert.is_nil((w * x).grad)
  end)

  it("works from float64 to float32 and back", function()
    local w = roper.tensor({ 1.5 }, "float64"):parameter()
    w:to("float32"):square():to("float64"):mul(2):sum():backward()
    assert.equal("float64", w.grad:dtype())
    assert.same({ 6 }, w.grad:totable())
  end)

  it("rejects outputs without a gradient", function()
    local w = roper.ones({ 2 }):parameter()
    assert.error_matches(function() roper.ones({}):backward() end,
      "backward: expected a tensor computed from a parameter")
    assert.error_matches(function() (w * 2):backward() end,
      "backward: expected a scalar, got shape %[2%]")
    assert.error_matches(function() (w * 2):backward(roper.ones({ 3 })) end,
      "backward: expected a gradient float32 %[2%], got float32 %[3%]")
    assert.error_matches(function() (w * 2):backward(roper.ones({ 2 }, "float64")) end,
      "got float64 %[2%]")
    assert.is_nil(w.grad)
  end)
end)

describe("a graph", function()
  it("can be used for one backward pass", function()
    local w = roper.ones({ 2 }):parameter()
    local shared = w * w
    local loss = shared:sum()
    loss:backward()
    for _, output in ipairs({ loss, shared:mean(), (shared * w):sum() }) do
      assert.error_matches(function() output:backward() end,
        "backward: an earlier backward has freed the saved values of this graph %(at \"%w+\"%)")
    end
    assert.same({ 2, 2 }, w.grad:totable())
  end)

  it("rejects values that were changed in place", function()
    local changes = {
      mul = function(w, x) return w * x end,
      matmul = function(w, x) return w:matmul(x) end,
      linear = function(w, x) return roper.linear(w, x) end,
      exp = function(_, _, h) return h:exp() end,
      softmax = function(_, _, h) return h:softmax() end,
      maximum = function(w, x) return w:maximum(x) end,
      layer_norm = function(w, x) return roper.layer_norm(x, w[1], x[1]) end,
    }
    for name, f in pairs(changes) do
      local w, x = roper.ones({ 2, 2 }):parameter(), roper.ones({ 2, 2 })
      local y = f(w, x, w * 1)
      x:fill(3)
      y:detach():fill(3)
      local ok, message = pcall(function() y:sum():backward() end)
      assert.is_false(ok, name)
      assert.matches('backward: a tensor %[.-%] that "' .. name .. '" needs was changed in place',
        message)
    end
    local w, condition = roper.ones({ 2 }):parameter(), roper.ones({ 2 }, "int32")
    local y = roper.where(condition, w, 0):sum()
    condition:fill(0)
    assert.error_matches(function() y:backward() end, 'that "where" needs was changed in place')
  end)

  it("detects a change through any view, and an update of a parameter", function()
    local w, x = roper.ones({ 4 }):parameter(), roper.ones({ 2, 4 })
    local y = w * x[1]
    x:transpose(1, 2)[{ 4, 2 }] = 5 -- another row, the same storage
    assert.error_matches(function() y:sum():backward() end, "changed in place")
    y = w * w
    w[1] = 2
    assert.error_matches(function() y:sum():backward() end, "changed in place")
    local indices = roper.tensor({ 1, 2 }, "int32")
    y = w:gather(1, indices)
    roper.embedding(w:view({ 4, 1 }), indices)
    indices:fill(1)
    y:sum():backward() -- gather keeps places of its own
    assert.same({ 1, 1, 0, 0 }, w.grad:totable())
  end)

  it("lets values change if no gradient needs them", function()
    local w, x = roper.ones({ 2 }):parameter(), roper.ones({ 2 })
    local y = (w + x):sum()
    x:fill(9)
    y:backward()
    assert.same({ 1, 1 }, w.grad:totable())
  end)

  it("rejects assignments to a result", function()
    local w = roper.ones({ 2 }):parameter()
    local y = w * 2
    assert.error_matches(function() y[1] = 0 end,
      "assign: expected a tensor outside the graph, got a result")
    assert.error_matches(function() y:fill(0) end, "assign: expected a tensor outside the graph")
    assert.error_matches(function() y:copy(w) end, "assign: expected a tensor outside the graph")
    w:fill(5)
  end)

  it("does not lose gradients if a value is assigned into a tensor", function()
    local w, x = roper.ones({ 2 }):parameter(), roper.zeros({ 2 })
    local places = roper.tensor({ 1 }, "int32")
    for _, value in ipairs({ w, w * 2, (w * 2):sum() }) do
      assert.error_matches(function() x[{ {} }] = value end,
        "assign: expected values outside the graph, .* store y:detach%(%)")
      assert.error_matches(function() x[places] = value end, "expected values outside the graph")
    end
    assert.same({ 0, 0 }, x:totable())
    x[1] = w:sum():detach()
    roper.no_grad(function() x[2] = w:sum() + 1 end)
    assert.same({ 2, 3 }, x:totable())
  end)

  it("can be longer than the C stack is deep, in backward and when it is dropped", function()
    local LENGTH <const> = 150000
    local w = roper.zeros({ 1 }):parameter()
    collectgarbage()
    collectgarbage()
    local before = roper.memory().blocks
    local function chain(length)
      local one, y = roper.ones({ 1 }), w
      for _ = 1, length do
        y = y + one
      end
      return y
    end
    local y = chain(LENGTH)
    assert.equal(LENGTH, y:item())
    y:backward()
    assert.same({ 1 }, w.grad:totable())
    y = nil -- luacheck: ignore
    collectgarbage()
    chain(LENGTH) -- dropped without a sweep
    w.grad = nil
    collectgarbage()
    collectgarbage()
    assert.equal(before, roper.memory().blocks)
    roper.memory_trim() -- what it held
  end)

  it("releases its memory in the backward pass, before it is dropped", function()
    local w = roper.ones({ 1000 }):parameter()
    local y = w
    for _ = 1, 100 do
      y = y:sin()
    end
    y = y:sum()
    collectgarbage()
    collectgarbage()
    local before = roper.memory().live
    y:backward()
    assert.is_true(before - roper.memory().live > 100 * 4000)
    assert.is_true(y:item() == y:item())
  end)
end)

describe("parameter", function()
  it("marks a leaf, and can be undone", function()
    local w = roper.ones({ 2 })
    assert.is_false(w:is_parameter())
    assert.equal(w, w:parameter())
    assert.is_true(w:is_parameter())
    w:parameter(false)
    assert.is_false(w:is_parameter())
    assert.error_matches(function() w:sum():backward() end, "computed from a parameter")
  end)

  it("rejects int32 and results", function()
    assert.error_matches(function() roper.ones({ 2 }, "int32"):parameter() end,
      "parameter: expected float32 or float64, got int32")
    local y = roper.ones({ 2 }):parameter() * 2
    assert.error_matches(function() y:parameter() end,
      "parameter: expected a tensor outside the graph, got a result")
    y:detach():parameter()
  end)

  it("collects gradients through views that were created before", function()
    local base = roper.ones({ 4 })
    local half = base:narrow(1, 1, 2):parameter() -- a leaf that shares storage
    half:mul(3):sum():backward()
    assert.same({ 3, 3 }, half.grad:totable())
    assert.is_nil(base.grad)
  end)
end)

describe("no_grad", function()
  it("records nothing inside, and resumes recording afterwards", function()
    local w = roper.ones({ 2 }):parameter()
    local y, recording = roper.no_grad(function(x) return x * 2, roper.is_recording() end, w)
    assert.is_false(recording)
    assert.is_true(roper.is_recording())
    assert.error_matches(function() y:sum():backward() end, "computed from a parameter")
    y:fill(3)
    w:sum():backward()
    assert.same({ 1, 1 }, w.grad:totable())
  end)

  it("resumes recording after an error, and nests", function()
    assert.error_matches(function() roper.no_grad(function() error("inside") end) end, "inside")
    assert.is_true(roper.is_recording())
    assert.is_false(roper.no_grad(function()
      roper.no_grad(function() end)
      pcall(roper.no_grad, error)
      return roper.is_recording()
    end))
    assert.is_true(roper.is_recording())
  end)

  it("is undone by enable_grad, also inside a backward function", function()
    local w = roper.ones({ 2 }):parameter()
    local y = roper.no_grad(function()
      local made = roper.enable_grad(function(x) return x * 3 end, w)
      assert.is_false(roper.is_recording())
      return made
    end)
    y:sum():backward()
    assert.same({ 3, 3 }, w.grad:totable())
    w.grad = nil
    local again = roper.differentiable(function(x) return x * x end, function(dy, x)
      local leaf = x:clone():parameter()
      roper.enable_grad(function() (leaf * leaf):backward(dy) end)
      assert.is_false(roper.is_recording())
      return leaf.grad
    end)
    again(w):sum():backward()
    assert.same({ 2, 2 }, w.grad:totable())
    assert.error_matches(function() roper.no_grad(roper.enable_grad, error, "inside") end, "inside")
    assert.is_true(roper.is_recording())
  end)

  it("passes arguments and results", function()
    local results = table.pack(roper.no_grad(function(...) return ... end, 1, nil, 3))
    assert.same({ 1, nil, 3, n = 3 }, results)
    assert.same({ n = 0 }, table.pack(roper.no_grad(function() end)))
  end)
end)

describe("random graphs", function()
  it("pass gradcheck", function()
    local steps = {
      function(a, b) return a + b end,
      function(a, b) return a * b end,
      function(a, b) return a - b:sin() end,
      function(a, b) return a / (b:square() + 1) end,
      function(a) return a:transpose(1, 2):tanh():transpose(1, 2) end,
      function(a, b) return a:matmul(b):sigmoid() end,
      function(a) return a:softmax(1) * 3 end,
      function(a, b) return roper.cat({ a:narrow(1, 1, 1), b:narrow(1, 2, 2) }) end,
      function(a) return a:sum(2, true) + a:mean(1) end,
      function(a, b) return roper.layer_norm(a, b[1], b[2]) * 0.3 end,
      function(a, b) return roper.linear(a, b, a[3]):gelu() end,
      function(a) return a:view({ 9 }):view({ 3, 3 }):cumsum(1) end,
    }
    arrays.each_seed(20, function(seed)
      local choices = {}
      for i = 1, 3 * 12 do
        choices[i] = math.random(1 << 30)
      end
      local ok, worst = roper.gradcheck(function(...)
        local values = { ... }
        for i = 1, 12 do
          local step = steps[choices[3 * i - 2] % #steps + 1]
          local a = values[choices[3 * i - 1] % #values + 1]
          local b = values[choices[3 * i] % #values + 1]
          values[#values + 1] = step(a, b):tanh()
        end
        return values[#values] + values[#values - 1]
      end, { roper.randn({ 3, 3 }), roper.randn({ 3, 3 }) })
      assert.is_true(ok, ("seed %d: relative error %g"):format(seed, worst))
    end)
  end)
end)
