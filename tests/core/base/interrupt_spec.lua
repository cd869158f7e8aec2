local uv = require("luv")

local arrays = require("tests.arrays")
local core = require("roper.core")
local process = require("tests.process")
local roper = require("roper")
local scratch = require("tests.scratch")

local function interrupt()
  uv.kill(uv.os_getpid(), "sigint")
  assert.is_true(core.interrupted())
end

describe("an interrupt", function()
  setup(function()
    scratch.create()
    core.interrupt_enable()
  end)
  teardown(function()
    core.interrupt_disable()
    scratch.remove()
  end)
  after_each(core.interrupt_clear)

  it("ends a long kernel with one error", function()
    local x = roper.ones({ 1000, 1000 })
    interrupt()
    assert.error_matches(function() return x + x end, "interrupted")
    assert.is_false(core.interrupted())
    assert.equal(2, (x + x):max():item())
  end)

  it("is looked for where a system has no signals", function()
    local program = scratch.path("poll")
    finally(function() os.remove(program) end)
    assert.equal(0, (process.run({ "cc", "-std=c11", "-I.", "-o", program,
      "tests/core/base/poll.c", "core/base/interrupt.c", "core/base/status.c" })))
    local _, output = process.run({ program })
    assert.equal("0 0 0 4 4 interrupted\n", output)
  end)

  it("ends a backward pass without leaving partial gradients", function()
    local w = roper.ones({ 10 }):parameter()
    local y = w:sin():sum()
    interrupt()
    assert.error_matches(function() y:backward() end, "interrupted")
    assert.is_nil(w.grad)
    assert.error_matches(function() y:backward() end,
      "an earlier backward has freed the saved values of this graph")
    w:sum():backward()
    assert.equal(10, w.grad:sum():item())
  end)

  it("ends every long operation", function()
    local n = 1 << 18
    local x, list = roper.zeros({ n }), {}
    for i = 1, n do
      list[i] = i
    end
    local index = roper.ones({ n }, "int32")
    local column, path = x:view({ n, 1 }), scratch.path("large.npy")
    roper.save_npy(path, x)
    local before = scratch.read(path)
    for i, f in ipairs({
      function() return roper.zeros({ n }) end,
      function() return roper.randn({ n }) end,
      function() return roper.rand({ n }) end,
      function() return roper.randint(1, 6, { n }) end,
      function() return roper.arange(0, n) end,
      function() return roper.dropout(x, 0.5, 1) end,
      function() return roper.tensor(list) end,
      function() return x:totable() end,
      function() return x:cumsum(1) end,
      function() return x:gather(1, index) end,
      function() return roper.embedding(column, index) end,
      function() return roper.position.rope({ dim = 2 }):rotate(roper.zeros({ 4, 2 })) end,
      function() return core.json_encode(list) end,
      function() return core.json_decode("[1, 2]") end,
      function() return roper.save_npy(path, x + 1) end,
      function() return roper.load_npy(path) end,
    }) do
      interrupt()
      local ok, message = pcall(f)
      assert.is_false(ok, "operation " .. i)
      assert.matches("interrupted$", message)
      assert.is_false(core.interrupted())
    end
    assert.is_true(before == scratch.read(path))
    assert.same({ "large.npy" }, scratch.list())
  end)

  it("never returns uninitialised memory as a result", function()
    local index = roper.tensor({ { 1, 2, 1 }, { 2, 1, 2 } }, "int32")
    local rows = roper.randn({ 100, 300 })
    local q = roper.randn({ 1, 2, 70, 8 })
    local small, ids = roper.tensor({ { 1, 2, 3 }, { 4, 5, 6 } }), roper.tensor({ 1, 2 }, "int32")
    for i, f in ipairs({
      function() return small + 1 end,
      function() return small:transpose(1, 2):contiguous() end,
      function() return small:exp():to("float64") end,
      function() return small:gt(2) end,
      function() return roper.where(index:gt(1), small, 0) end,
      function() return small:sum(1) end,
      function() return small:max(2) end,
      function() return small:argmin(1) end,
      function() return small:sum() end,
      function() return small:cumsum(1) end,
      function() return small:softmax(1) end,
      function() return small:matmul(small:transpose(1, 2)) end,
      function() return small:gather(1, index) end,
      function() return roper.embedding(small, index - 1) end,
      function() return roper.cat({ small, small }) end,
      function() return roper.dropout(small, 0.5, 1) end,
      function() return roper.linear(small, small) end,
      function() return roper.layer_norm(small, small[1], small[2]) end,
      function() return roper.cross_entropy(small, ids, { reduction = "none" }) end,
      function() return rows:softmax() end,
      function() return rows:log_softmax() end,
      function() return rows:cumsum(1) end,
      function() return rows:mean(1) end,
      function() return rows:matmul(rows:transpose(1, 2)) end,
      function() return roper.linear(rows, rows, rows[{ {}, 1 }], "relu") end,
      function() return roper.layer_norm(rows, rows[1], rows[2]) end,
      function() return roper.dropout(rows, 0.5, 1) end,
      function() return roper.attention(q, q, q, { position = "roper" }) end,
      function() return roper.attention_weights(q, q) end,
      function() return roper.oracle.attention(q, q, q) end,
      function() return roper.linear_attention(q, q, q, { position = "roper", causal = true }) end,
      function() return roper.oracle.linear_attention(q, q, q) end,
      function() return roper.position.rope({ dim = 8 }):rotate(q) end,
    }) do
      local expected = f()
      interrupt()
      local ok, result = pcall(f)
      core.interrupt_clear()
      if ok then
        arrays.close(expected, result, 0, "operation " .. i)
      else
        assert.matches("interrupted", result)
      end
    end
  end)
end)
