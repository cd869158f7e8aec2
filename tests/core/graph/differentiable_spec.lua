local gradients = require("tests.gradients")
local roper = require("roper")

local cube = roper.differentiable(function(x) return x * x * x end,
  function(dy, x) return dy * x * x * 3 end)

describe("differentiable", function()
  it("returns a function with a custom gradient", function()
    assert.same({ 8, 27 }, cube(roper.tensor({ 2, 3 })):totable())
    gradients.check(cube, { { 2, 3 } })
    gradients.check(function(x) return cube(x:sin()) * x end, { { 2, 3 } })
    local weighted = roper.differentiable(
      function(x, y, w) return (x * w + y):sum(1) end,
      function(dy, x, y, w)
        local whole = dy:view({ 1, -1 }):expand(y:shape())
        return whole * w, whole, whole * x
      end)
    gradients.check(weighted, { { 2, 3 }, { 2, 3 }, { 2, 3 } }, { layouts = false })
  end)

  it("accepts inputs that are not parameters, also int32", function()
    local take = roper.differentiable(
      function(w, index) return w:gather(1, index) end,
      function(dy, w, index)
        local dw = roper.zeros(w:shape(), w:dtype())
        for i = 1, #index do
          dw[index[i]:item()] = dw[index[i]:item()] + dy[i]
        end
        return dw
      end)
    local w = roper.tensor({ 1, 2, 3 }):parameter()
    take(w, roper.tensor({ 3, 1, 3 }, "int32")):sum():backward()
    assert.same({ 1, 0, 2 }, w.grad:totable())
  end)

  it("adds other gradients to one whose elements share memory", function()
    local function sum(backward)
      return roper.differentiable(function(x) return x:sum() end, backward)
    end
    local early = sum(function(_, x)
      collectgarbage() -- only the graph holds the gradient of `late`
      return roper.arange(0, x:count()):to("float32"):view(x:shape())
    end)
    local late = sum(function(_, x) return roper.ones({ 1, 1 }):expand(x:shape()) end)
    local x = roper.ones({ 2, 3 }):parameter()
    local y = x * 1
    local total = early(y) + late(y)
    total:backward()
    assert.same({ { 1, 2, 3 }, { 4, 5, 6 } }, x.grad:totable())
  end)

  it("records nothing inside either function", function()
    local inside = {}
    local f = roper.differentiable(
      function(x)
        inside[1] = roper.is_recording()
        return x * 2
      end,
      function(dy)
        inside[2] = roper.is_recording()
        return dy * 2
      end)
    f(roper.ones({ 2 }):parameter()):sum():backward()
    assert.same({ false, false }, inside)
    assert.is_true(roper.is_recording())
  end)

  it("does not call backward if no gradient flows", function()
    local called = 0
    local f = roper.differentiable(function(x) return x end, function(dy)
      called = called + 1
      return dy
    end)
    assert.error_matches(function() f(roper.ones({ 1 })):backward() end, "from a parameter")
    roper.no_grad(f, roper.ones({ 1 }):parameter())
    f(roper.ones({ 1 }):parameter())
    assert.equal(0, called)
  end)

  it("can return its input, or keep values for backward", function()
    local kept
    local exp = roper.differentiable(function(x)
      kept = x:exp()
      return kept
    end, function(dy) return dy * kept end)
    local identity = roper.differentiable(function(x) return x end, function(dy) return dy end)
    gradients.check(function(x) return identity(x) * exp(identity(x)) end, { { 3 } })
    local w = roper.ones({ 2 }):parameter()
    identity(w):backward(roper.tensor({ 4, 5 }))
    assert.same({ 4, 5 }, w.grad:totable())
  end)

  it("accepts up to 64 inputs", function()
    local sum = roper.differentiable(function(...)
      local total = 0
      for _, x in ipairs({ ... }) do
        total = x + total
      end
      return total
    end, function(dy, ...)
      local all = {}
      for i = 1, select("#", ...) do
        all[i] = dy * i
      end
      return table.unpack(all)
    end)
    local inputs = {}
    for i = 1, 4096 do
      inputs[i] = roper.tensor(i):parameter()
    end
    local y = sum(table.unpack(inputs))
    assert.equal(4096 * 4097 / 2, y:item())
    y:backward()
    for i = 1, 4096 do
      assert.equal(i, inputs[i].grad:item())
    end
    inputs[4097] = inputs[1]
    assert.error_matches(function() sum(table.unpack(inputs)) end,
      "differentiable: expected 1 to 4096 tensors, got 4097")
  end)

  it("passes on gradients in the dtype of each input", function()
    local narrow = roper.differentiable(function(x) return x:to("float32") end,
      function(dy) return dy:to("float64") end)
    local w = roper.ones({ 2 }, "float64"):parameter()
    narrow(w):add(narrow(w)):sum():backward()
    assert.same({ 2, 2 }, w.grad:totable())
    local wrong = roper.differentiable(function(x) return x:to("float32") end,
      function(dy) return dy end)
    assert.error_matches(function() wrong(w):sum():backward() end,
      "differentiable: expected a float64 gradient for input 1, got float32")
  end)

  it("passes on an error in backward, and stays usable", function()
    local fail = true
    local f = roper.differentiable(function(x) return x * 1 end, function(dy)
      if fail then
        error("inside backward")
      end
      return dy
    end)
    local w = roper.ones({ 2 }):parameter()
    local y = f(w * 2):sum()
    assert.error_matches(function() y:backward() end, "inside backward")
    assert.is_true(roper.is_recording())
    assert.is_nil(w.grad)
    assert.error_matches(function() y:backward() end,
      "an earlier backward has freed the saved values of this graph")
    fail = false
    f(w * 2):sum():backward()
    assert.same({ 2, 2 }, w.grad:totable())
  end)

  it("passes on the error value that backward raised, also through a nested backward", function()
    local w = roper.ones({ 2 }):parameter()
    for _, value in ipairs({ {}, 5, print, false }) do
      local strange = roper.differentiable(function(x) return x * 1 end,
        function() error(value, 0) end)
      local inner = strange(w):sum()
      local outer = roper.differentiable(function(x) return x * 1 end,
        function() inner:backward() end)
      local ok, raised = pcall(function() outer(w):sum():backward() end)
      assert.is_false(ok)
      assert.equal(value, raised)
      ok, raised = pcall(function() inner:backward() end)
      assert.is_false(ok)
      assert.matches("an earlier backward has freed the saved values of this graph", raised)
    end
  end)

  it("rejects inputs changed in place after forward, but not those that forward changed", function()
    local x = roper.ones({ 2 })
    local product = roper.differentiable(function(a, b) return a * b end,
      function(dy, a, b) return dy * b, dy * a end)
    local w = roper.ones({ 2 }):parameter()
    local y = product(w, x):sum()
    x[1] = 3
    assert.error_matches(function() y:backward() end,
      'backward: a tensor %[2%] that "differentiable" needs was changed in place')
    assert.is_nil(w.grad)
    local filling = roper.differentiable(function(a, b) return a * b:fill(4) end,
      function(dy, a, b) return dy * b, dy * a end)
    filling(w, x):sum():backward()
    assert.same({ 4, 4 }, w.grad:totable())
  end)

  it("can run another graph's backward pass inside backward, but not the running one", function()
    local w, v = roper.ones({ 2 }):parameter(), roper.ones({ 2 }):parameter()
    local inner
    local f = roper.differentiable(function(x) return x * 1 end, function(dy)
      inner:backward(dy)
      return dy
    end)
    inner = v * 3
    f(w):sum():backward()
    assert.same({ 1, 1 }, w.grad:totable())
    assert.same({ 3, 3 }, v.grad:totable())
    inner = w * w
    local y = f(inner) + inner * 3 -- a part of inner's gradient is there before f's backward
    assert.error_matches(function() y:sum():backward() end,
                         'this graph %(at "mul"%) is in use by the backward')
    inner = f(w)
    assert.error_matches(function() inner:sum():backward() end,
      'saved values of this graph %(at "differentiable"%)')
  end)

  it("keeps all gradients if a nested backward pass fails", function()
    local w = roper.tensor({ 2, 3 }):parameter()
    local spent = (w * 1):sum()
    spent:backward()
    for _, other in ipairs({ spent, 0 }) do
      local a, inner, refused = w * w, nil, nil
      local f = roper.differentiable(function(x) return x * 1 end, function(dy)
        refused = not pcall(function() inner:backward(dy) end)
        return dy
      end)
      inner = a + other
      local y = f(a) + a * 3 -- the part of a * 3 is there before f's backward
      w.grad = nil
      y:sum():backward()
      assert.is_true(refused)
      assert.same({ 16, 24 }, w.grad:totable())
    end
  end)

  it("can close the output tensor inside backward", function()
    local w = roper.ones({ 2 }):parameter()
    local loss
    local f = roper.differentiable(function(x) return x * 1 end, function(dy)
      do
        local _ <close> = loss
      end
      return dy
    end)
    loss = (f(w * 2) * 3):sum()
    loss:backward()
    assert.same({ 6, 6 }, w.grad:totable())
    assert.error_matches(function() loss:item() end, "already collected")
  end)

  it("passes on an error in forward", function()
    local f = roper.differentiable(function() error("inside forward") end,
      function(dy) return dy end)
    assert.error_matches(function() f(roper.ones({ 1 }):parameter()) end, "inside forward")
    assert.is_true(roper.is_recording())
  end)

  it("works in a coroutine", function()
    local w = roper.tensor({ 2 }):parameter()
    local thread = coroutine.create(function()
      local y = cube(w):sum()
      coroutine.yield()
      y:backward()
      return y:item()
    end)
    assert.is_true(coroutine.resume(thread))
    local ok, value = coroutine.resume(thread)
    assert.is_true(ok, value)
    assert.equal(8, value)
    assert.same({ 12 }, w.grad:totable())
    local bad = roper.differentiable(function(x) return x * 1 end, function() error("inside") end)
    local failed, message = coroutine.resume(coroutine.create(function()
      bad(w):sum():backward()
    end))
    assert.is_false(failed)
    assert.matches("inside", message)
  end)

  it("releases everything when its graph is dropped or was swept", function()
    local w = roper.ones({ 2 }):parameter()
    local function count()
      collectgarbage()
      collectgarbage()
      return roper.memory().blocks
    end
    cube(w):sum():backward()
    local before = count()
    for i = 1, 50 do
      local y = cube(cube(w)):sum()
      if i % 2 == 0 then
        y:backward()
      end
    end
    assert.equal(before, count())
  end)

  it("is collected with the tensors that its backward holds", function()
    local w = roper.randn({ 1000 }):parameter()
    local holds = {
      result = function()
        local y
        y = roper.differentiable(function(x) return x:exp() end,
          function(dy) return dy * y end)(w)
        return y
      end,
      loss = function()
        local loss
        local y = roper.differentiable(function(x) return x:exp() end,
          function(dy) return dy * loss end)(w)
        loss = (y * y):sum()
        return loss
      end,
      each_other = function()
        local a, b
        a = roper.differentiable(function(x) return x * 2 end, function(dy) return dy * b end)(w)
        b = roper.differentiable(function(x) return x * 3 end, function(dy) return dy * a end)(w)
        return roper.cat({ a, b, a + b }):sum()
      end,
      closed = function()
        local y
        y = roper.differentiable(function(x) return x:exp() end,
          function(dy) return dy * y end)(w)
        local z <close> = y * 2
        return z
      end,
    }
    for name, hold in pairs(holds) do
      local collected = setmetatable({}, { __mode = "k" })
      local function live()
        collectgarbage()
        collectgarbage()
        return roper.memory().live
      end
      hold()
      local before = live()
      for _ = 1, 50 do
        collected[hold()] = true
      end
      assert.equal(before, live(), name)
      assert.is_nil(next(collected), name)
      assert.is_nil(w.grad)
    end
  end)

  it("keeps its backward exactly as long as a tensor above needs it", function()
    local w = roper.randn({ 1, 4, 4 }, "float64"):parameter()
    local index = roper.ones({ 1, 4, 4 }, "int32")
    local above = {
      function(y) return y end,
      function(y) return y * 2 end,
      function(y) return roper.cat({ y, w, y }) end,
      function(y) return y[1] end,
      function(y) return y[{ {}, { 1, 2 }, 3 }] end,
      function(y) return y:squeeze(1) end,
      function(y) return y:unsqueeze(2):view({ -1 }) end,
      function(y) return y:transpose(2, 3):contiguous():clone() end,
      function(y) return y:contiguous():to("float64"):to("float32") end,
      function(y) return y:max(2) end,
      function(y) return y:gather(1, index) end,
      function(y) return roper.where(index, y, w) end,
      function(y) return roper.linear(y, y[1]) end,
      function(y) return roper.layer_norm(y, y[{ 1, 1 }], y[{ 1, 2 }]) end,
      function(y) return y:matmul(y):softmax() end,
      function(y) return roper.dropout(y, 0.5, 1):cumsum(1) end,
      function(y) return roper.position.rope({ dim = 4 }):rotate(y) end,
      function(y) return roper.cross_entropy(y, index[{ {}, {}, 1 }]) end,
      function(y)
        y = y:unsqueeze(1)
        return (roper.attention(y, y, y, { causal = true, weights = true }))
      end,
      function(y)
        y = y:unsqueeze(1)
        return roper.linear_attention(y, y, y)
      end,
      function(y) return cube(y) + cube(y) * y end,
    }
    for i, f in ipairs(above) do
      local calls, kept = 0, setmetatable({}, { __mode = "v" })
      local function make()
        local guard = {}
        kept[1] = guard
        local y = roper.differentiable(function(x) return x * 1 end, function(dy)
          calls = calls + #guard + 1
          return dy
        end)(w)
        return f(y):sum()
      end
      local loss = make()
      collectgarbage()
      collectgarbage()
      assert.is_table(kept[1], i)
      loss:backward()
      assert.equal(1, calls, i)
      collectgarbage()
      assert.is_nil(kept[1], i)
      assert.is_number(loss:item())
    end
  end)

  it("keeps nothing alive if no Lua function is in the graph", function()
    local q = roper.ones({ 1, 1, 2, 2 }):parameter()
    local y = roper.attention(q, q, q) * q
    assert.is_nil(debug.getuservalue(y, 1))
    assert.is_table(debug.getuservalue(cube(y) * 2, 1))
  end)

  it("keeps every backward of a chain until the end of the backward pass", function()
    local w = roper.ones({ 2 }):parameter()
    local calls = 0
    local y = w
    for _ = 1, 12 do
      local f = roper.differentiable(function(a, b) return a + b end, function(dy)
        calls = calls + 1
        collectgarbage()
        return dy, dy
      end)
      y = f(y, y * 2)
    end
    y = y:sum()
    collectgarbage()
    y:backward()
    assert.equal(12, calls)
    assert.same({ 3.0 ^ 12, 3.0 ^ 12 }, w.grad:totable())
  end)

  it("names the input that was closed, and lets backward close its arguments", function()
    local function close(x)
      local _ <close> = x
    end
    local function make(forward, backward)
      return roper.differentiable(function(x)
        forward(x)
        return x * 1
      end, function(dy, x)
        local dx = dy * 2
        backward(dy, x)
        return dx
      end)
    end
    local w = roper.ones({ 2 }):parameter()
    make(function() end, function(dy, x)
      close(dy)
      close(x)
    end)(w):sum():backward()
    assert.same({ 2, 2 }, w.grad:totable())
    local x = w * 1
    assert.error_matches(function() make(function() close(x) end, close)(x) end,
      "already collected")
    local y = roper.differentiable(function(inner)
      local result = inner * 1
      close(inner)
      return result
    end, function(dy) return dy end)(w):sum()
    assert.error_matches(function() y:backward() end,
      "differentiable: forward closed input 1, which backward needs")
  end)

  it("rejects gradients and results of other shapes and dtypes", function()
    local w = roper.ones({ 2 }):parameter()
    local function with(backward)
      local f = roper.differentiable(function(x) return x * 1 end, backward)
      return function() f(w):sum():backward() end
    end
    assert.error_matches(with(function() end),
      "differentiable: expected backward to return a gradient for input 1, got nil")
    assert.error_matches(with(function() return 5 end), "gradient for input 1, got number")
    assert.error_matches(with(function() return roper.ones({ 3 }) end),
      "differentiable: expected a gradient of shape %[2%] for input 1, got %[3%]")
    assert.error_matches(with(function() return roper.ones({ 1, 2 }) end), "got %[1, 2%]")
    assert.error_matches(with(function() return roper.ones({ 2 }, "int32") end), "got int32")
    local results = { [false] = "boolean", [5] = "number" }
    results[roper.ones({ 2 }, "int32")] = "int32"
    for result, name in pairs(results) do
      local f = roper.differentiable(function() return result end, function(dy) return dy end)
      assert.error_matches(function() f(w) end,
        "differentiable: expected forward to return a float tensor, got " .. name)
    end
    assert.error_matches(function() cube() end, "differentiable: expected 1 to 4096 tensors, got 0")
    assert.error_matches(function() cube(5) end,
      "differentiable: expected a tensor as input 1, got number")
  end)
end)
