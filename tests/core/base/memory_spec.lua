local core = require("roper.core")
local operations = require("tests.operations")
local process = require("tests.process")
local roper = require("roper")
local scratch = require("tests.scratch")

local function collect()
  collectgarbage()
  collectgarbage()
end

describe("memory", function()
  it("is accounted in bytes: live, idle and at the peak #memory", function()
    collect()
    roper.memory_trim()
    local before = roper.memory()
    assert.equal(0, before.idle)
    assert.equal(before.live, before.peak)
    local x <close> = roper.zeros({ 1000, 1000 })
    local with = roper.memory()
    assert.is_true(with.live - before.live >= 4e6 and with.live - before.live < 4.6e6)
    assert.equal(3, with.blocks - before.blocks)
    getmetatable(x).__gc(x)
    collect()
    local after = roper.memory()
    assert.equal(before.live, after.live)
    assert.equal(before.blocks, after.blocks)
    assert.equal(with.peak, after.peak)
    assert.is_true(after.idle >= 4e6)
    roper.memory_trim()
    assert.equal(0, roper.memory().idle)
    assert.equal(after.live, roper.memory().peak)
  end)

  it("reuses blocks #memory", function()
    roper.zeros({ 500, 500 })
    collect()
    local idle = roper.memory().idle
    local x = roper.zeros({ 500, 500 })
    assert.is_true(idle - roper.memory().idle >= 1e6)
    assert.equal(0, x:sum():item())
  end)

  it("reuses a block of up to twice the size before allocating #memory", function()
    collect()
    roper.memory_trim()
    roper.zeros({ 500, 500 })
    collect()
    local before = roper.memory()
    local small = roper.zeros({ 100, 500 })
    assert.is_true(before.idle - roper.memory().idle < 1e6) -- a fifth of the block
    local x = roper.zeros({ 300, 500 })
    local after = roper.memory()
    assert.is_true(before.idle - after.idle >= 1e6)
    assert.is_true(after.live - before.live >= 1e6 + 2e5)
    assert.equal(0, x:sum():item() + small:sum():item())
    x, small = nil, nil -- luacheck: ignore
    collect()
    assert.equal(before.live, roper.memory().live)
  end)

  it("has a limit, by default the system's", function()
    local standard = roper.memory().limit
    assert.is_true(standard > 1e8)
    collect()
    roper.memory_limit(roper.memory().live + 1000000)
    local ok, message = pcall(function() return roper.zeros({ 1000, 1000 }) end)
    local small = roper.zeros({ 100 })
    roper.memory_limit(0)
    assert.is_false(ok)
    assert.matches("zeros: out of memory: asked for 4000000 bytes with %d+ in use; the limit is ",
      message)
    assert.equal(0, small:sum():item())
    assert.equal(standard, roper.memory().limit)
    assert.same({ 1000, 1000 }, roper.zeros({ 1000, 1000 }):shape())
  end)

  it("frees idle blocks before an allocation fails", function()
    collect()
    roper.zeros({ 1000, 1000 })
    collect()
    roper.memory_limit(roper.memory().live + 5000000)
    local ok, x = pcall(roper.zeros, { 2, 500, 1000 }, "int32")
    local other_class = pcall(roper.zeros, { 1100, 1000 })
    roper.memory_limit(0)
    assert.is_true(ok, x)
    assert.is_false(other_class)
  end)

  it("refuses and reuses what 32 bits cannot address", function()
    scratch.create()
    finally(scratch.remove)
    local program = scratch.path("narrow")
    assert.equal(0, (process.run({ "cc", "-std=c11", "-w", "-I.", "-o", program,
      "tests/core/base/narrow.c", "core/base/status.c" })))
    local _, output = process.run({ program })
    assert.matches("^1 1 1\n1\n1 1 1\n1 1\nout of memory: asked for 1900000000 bytes with %d+ in "
      .. "use; the limit is 4294967295\n$", output)
  end)

  it("frees idle blocks if a new block would exceed the limit together with them #memory",
  function()
    collect()
    roper.memory_trim()
    roper.zeros({ 1000, 1000 })
    collect()
    assert.is_true(roper.memory().idle >= 4e6)
    local limit = roper.memory().live + 6000000
    roper.memory_limit(limit)
    local ok, x = pcall(roper.zeros, { 1100, 1000 }) -- too large for the idle block
    local now = roper.memory()
    roper.memory_limit(0)
    assert.is_true(ok, x)
    assert.is_true(now.live + now.idle <= limit)
  end)

  it("rejects invalid settings", function()
    assert.error_matches(function() roper.memory_limit(-1) end,
      "bytes: expected an integer from 0")
    assert.error_matches(function() roper.memory_limit() end, "bytes: expected an integer")
    assert.error_matches(function() core.memory_fail_after("x") end,
      "count: expected an integer")
    assert.error_matches(function() core.memory_fail_after(-2) end, "integer from %-1")
  end)
end)

describe("out of memory", function()
  after_each(function() core.memory_fail_after(-1) end)

  --- Refuse the first, second, third ... allocation inside f until it succeeds: each refusal is a
  --- Lua error, and none leaves a block behind. Returns how many allocations f makes.
  local function check_every_allocation(f, cleanup)
    f() -- what is made once stays
    cleanup()
    collect()
    local before = roper.memory().blocks
    local allowed, ok = -1, false
    while not ok do
      local message
      allowed = allowed + 1
      core.memory_fail_after(allowed)
      ok, message = pcall(function() f() end)
      core.memory_fail_after(-1)
      cleanup()
      if not ok then
        assert.matches("out of memory: asked for %d+ bytes", message)
      end
    end
    collect()
    assert.equal(before, roper.memory().blocks)
    return allowed
  end

  local function none() end

  local function randn(...)
    return roper.randn({ ... }, "float64")
  end

  --- The same through f and its backward, with fresh parameters.
  local function check_gradient(f, ...)
    local inputs = { ... }
    for _, x in ipairs(inputs) do
      x:parameter()
    end
    local allocations = check_every_allocation(function()
      f(table.unpack(inputs)):sum():backward()
      for i, x in ipairs(inputs) do
        assert.is_not_nil(x.grad, ("input %d has no gradient, and no one said so"):format(i))
      end
    end, function()
      for _, x in ipairs(inputs) do
        x.grad = nil
      end
    end)
    assert.is_true(allocations >= 3 * #inputs)
  end

  it("inside a matmul", function()
    local a, b = randn(3, 4), randn(4, 5)
    assert.is_true(check_every_allocation(function() a:matmul(b) end, none) >= 4)
    local t = randn(2, 8, 4):narrow(2, 1, 4):transpose(1, 2) -- must be packed first
    check_every_allocation(function() t:matmul(t:transpose(2, 3)) end, none)
    check_gradient(roper.matmul, randn(2, 3, 4), randn(4, 5))
  end)

  --- The same for a kind of attention, with inputs that are packed and that are not.
  local function check_attention(attend)
    check_gradient(attend, randn(2, 2, 3, 4), randn(2, 2, 3, 4), randn(2, 2, 3, 4))
    check_gradient(function(q, k, v)
      return attend(q:transpose(3, 4), k:transpose(3, 4), v:transpose(3, 4))
    end, randn(2, 2, 4, 3), randn(2, 2, 4, 3), randn(2, 2, 4, 3))
  end

  it("inside attention, forward and backward", function()
    local options = {
      position = roper.position.roper({ dim = 4 }),
      causal = true,
      dropout = 0.5,
      seed = 1,
      mask = roper.ones({ 3, 3 }, "int32"),
      positions = { { 1, 2, 3 }, { 4, 5, 6 } },
    }
    check_attention(function(q, k, v) return roper.attention(q, k, v, options) end)
    local q = randn(1, 1, 3, 4)
    options.dropout, options.positions = nil, nil
    check_every_allocation(function() roper.oracle.attention(q, q, q, options) end, none)
    check_every_allocation(function() roper.attention(q, q, q, { weights = true }) end, none)
  end)

  it("inside linear attention, forward and backward", function()
    local options = {
      position = roper.position.roper({ dim = 4 }),
      causal = true,
      positions = { { 1, 2, 3 }, { 4, 5, 6 } },
    }
    check_attention(function(q, k, v) return roper.linear_attention(q, k, v, options) end)
    local q = randn(1, 1, 3, 4)
    check_every_allocation(function() roper.oracle.linear_attention(q, q, q) end, none)
  end)

  it("inside cross_entropy, forward and backward", function()
    local targets = roper.tensor({ { 1, 0, 2 }, { 2, 2, -1 } }, "int32")
    for _, reduction in ipairs({ "mean", "none" }) do
      local options = { reduction = reduction }
      check_gradient(function(x) return roper.cross_entropy(x, targets, options) end,
        randn(2, 3, 4))
      check_gradient(function(x)
        return roper.cross_entropy(x:transpose(1, 2), targets:transpose(1, 2), options)
      end, randn(2, 3, 4))
    end
  end)

  it("inside tensor and other constructors", function()
    for _, f in ipairs({
      function() return roper.tensor({ { 1, 2 }, { 3, 4 } }) end,
      function() return roper.tensor({ 1, 2 }, "int32") end,
      function() return roper.zeros({ 3 }) end,
      function() return roper.arange(0, 5) end,
      function() return roper.randn({ 3 }) end,
      function() return roper.randint(1, 2, { 3 }) end,
      function() return roper.eye(3) end,
      function() return roper.linspace(0, 1, 5) end,
      function() return core.load_npy("tests/fixtures/float32.npy") end,
      function() return core.load_safetensors("tests/fixtures/mixed.safetensors") end,
      function() return roper.position.rope({ dim = 4 }):matrix(2) end,
      function() return roper.position.rope({ dim = 4 }):thetas() end,
    }) do
      assert.is_true(check_every_allocation(f, none) >= 3)
    end
  end)

  it("inside indexing and assignment", function()
    local x = randn(4, 4)
    check_every_allocation(function() return x[{ { 1, 2 }, 3 }] end, none)
    check_every_allocation(function() x[2] = 5 end, none)
    check_every_allocation(function() x[{ { 2, 4 } }] = x[{ { 1, 3 } }] end, none)
    local places, mask = roper.tensor({ 2, 4 }, "int32"), x:gt(0)
    check_every_allocation(function() return x[places], x[{ places, places }], x[mask] end, none)
    check_every_allocation(function() x[{ {}, places }] = places end, none)
    check_every_allocation(function() x:transpose(1, 2)[mask] = 5 end, none)
    check_every_allocation(function() return places + x[1][1], x == x:to("float32") end, none)
    check_every_allocation(function() return x:argsort(1), mask & ~mask, x % 2 end, none)
    check_every_allocation(function() return x:argmax(2), x:lt(0.5), x:transpose(1, 2):view(-1) end,
      none)
  end)

  it("inside every other operation, forward and backward", function()
    local index = roper.tensor({ { 1, 2, 1 }, { 2, 1, 2 } }, "int32")
    local condition = roper.tensor({ 1, 0, 1 }, "int32")
    local scheme = roper.position.rope({ dim = 4 })
    local square = roper.differentiable(function(x) return x * x end,
      function(dy, x) return dy * x * 2 end)
    for _, f in ipairs({
      function(x) return x:sin() + x:gelu() end,
      function(x) return x:to("float32") end,
      function(x) return x:softmax(1):log_softmax(2) end,
      function(x) return x:cumsum(1) end,
      function(x) return x:sum(1) * x:mean() + x:max(1) * x:min() end,
      function(x) return x:view({ 3, 2 }):transpose(1, 2):expand({ 2, 2, 3 }):view({ -1 }) end,
      function(x) return x[1] * x[{ {}, { 2, 3 } }]:sum() end,
      function(x) return roper.cat({ x, x, x:exp() }, 2) end,
      function(x) return x:gather(1, index) end,
      function(x) return x:index_select(2, index) * x[{ index, index }]:sum() end,
      function(x) return x:sum({ 2, 1 }, true) * x:max({ 1, 2 }) end,
      function(x) return roper.embedding(x, index - 1) end,
      function(x) return roper.where(condition, x, 2) + roper.where(condition, 1, x) end,
      function(x) return roper.dropout(x, 0.5, 1) end,
      function(x) return scheme:rotate(roper.cat({ x, x[{ {}, { 1, 1 } }] }, 2), 3) end,
      square,
    }) do
      check_gradient(f, randn(2, 3))
    end
    for _, name in ipairs(operations.binary) do
      check_gradient(roper[name], roper.rand({ 2, 3 }), roper.rand({ 3 }))
    end
    check_gradient(roper.layer_norm, randn(2, 3), randn(3), randn(3))
    check_gradient(roper.rms_norm, randn(2, 3), randn(3))
    check_gradient(function(x, angle) return roper.rotate(x, angle * 1) end, randn(2, 4),
      randn(2, 2))
    check_gradient(function(x, angle) return roper.rotate(x, angle:to("float32")) end,
      randn(2, 4), randn(2, 2))
    check_gradient(function(x, weight)
      return roper.causal_convolution(x:transpose(1, 3), weight:transpose(1, 2))
    end, randn(2, 3, 4), randn(3, 2))
    check_gradient(function(q, k, w)
      return roper.householder_scores(q, k:transpose(2, 3), w, w[{ {}, {}, {}, 1 }])
    end, randn(1, 2, 3, 4), randn(1, 3, 2, 4), randn(1, 2, 3, 4))
    check_gradient(function(a, v)
      return roper.householder_sums(a, v, v, v[{ {}, {}, {}, 1 }])
    end, randn(1, 2, 3, 3), randn(1, 2, 3, 4))
    check_gradient(roper.linear, randn(2, 3), randn(4, 3), randn(4))
    check_gradient(function(x, w, b) return roper.linear(x, w, b, "relu") end, randn(2, 3),
      randn(4, 3), randn(4))
  end)

  it("inside an optimizer's step", function()
    local w = roper.ones({ 3, 2 }):parameter()
    w:transpose(1, 2):backward(roper.ones({ 2, 3 }))
    local mean, variance = roper.zeros({ 3, 2 }), roper.zeros({ 3, 2 })
    check_every_allocation(function() core.adam_step(w, mean, variance, {}) end, none)
    check_every_allocation(function() core.gradient_norm({ w }) end, none)
  end)

  it("leaves tensors unchanged", function()
    local x = roper.ones({ 100 })
    core.memory_fail_after(0)
    local ok, message = pcall(function() return x + x end)
    core.memory_fail_after(-1)
    assert.is_false(ok)
    assert.matches("add: out of memory: asked for %d+ bytes with %d+ in use; the limit is %d+",
                   message)
    assert.equal(100, x:sum():item())
  end)
end)

describe("a loop", function()
  it("that drops its graphs uses bounded memory without explicit collections", function()
    collect()
    roper.memory_trim()
    local before = roper.memory().live
    local w = roper.randn({ 200, 200 }):parameter()
    for _ = 1, 800 do -- 0.8 MB or more each
      local y = (w * w):sin():mean()
      y:backward()
      w.grad = nil
    end
    assert.is_true(roper.memory().peak - before < 200e6, roper.memory().peak)
  end)

  it("of tiny tensors uses bounded memory too", function()
    collect()
    roper.memory_trim()
    local before = roper.memory().live
    local w = roper.ones({ 3 }):parameter()
    for _ = 1, 20000 do
      (w * w):sum():backward()
      w.grad = nil
    end
    assert.is_true(roper.memory().peak - before < 100e6, roper.memory().peak)
  end)
end)
