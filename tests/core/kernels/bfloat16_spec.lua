local arrays = require("tests.arrays")
local core = require("roper.core")
local process = require("tests.process")
local roper = require("roper")
local scratch = require("tests.scratch")

local KERNELS <const> = { "x86-64-v3", "x86-64-v4", "avx512-bf16", "amx-bf16" }

-- The products of some kernels, or which ones the processor has instead.
local function products(kernels)
  local path = scratch.path(kernels .. ".safetensors")
  local status, output, errors = process.run({ "./roper", "tests/core/kernels/products.lua", path },
    nil, { ROPER_KERNELS = kernels })
  assert(status == 0, errors)
  local name = output:match("%S+")
  return name == kernels and roper.load(path) or nil, name
end

local function norm(x)
  x = x:to("float64")
  return ((x * x):sum() ^ 0.5):item()
end

describe("matmul_precision", function()
  setup(scratch.create)
  teardown(scratch.remove)
  before_each(function() roper.matmul_precision("bfloat16") end)
  after_each(function() roper.matmul_precision("float32") end)

  it("returns and sets the precision", function()
    assert.equal("bfloat16", roper.matmul_precision())
    assert.equal("bfloat16", core.machine().matmul_precision)
    assert.equal("float32", roper.matmul_precision("float32"))
    assert.equal("float32", roper.matmul_precision())
  end)

  it("rounds operands to nearest, ties to even, like NumPy", function()
    local values = roper.load("tests/fixtures/bfloat16.safetensors")
    local n, one = values.x:shape()[1], roper.ones({ 1, 1 })
    for _, y in ipairs({ values.x:view({ n, 1 }):matmul(one), one:matmul(values.x:view({ 1, n })),
      roper.linear(values.x:view({ n, 1 }), one), roper.linear(one, values.x:view({ n, 1 })) }) do
      local got, expected = y:view({ n }):totable(), values.rounded:totable()
      for i = 1, n do
        local is_nan = expected[i] ~= expected[i]
        assert(is_nan and got[i] ~= got[i] or got[i] == expected[i],
          ("%a is rounded to %a, not %a"):format(values.x[i]:item(), got[i], expected[i]))
      end
    end
  end)

  it("multiplies and differentiates like NumPy", function()
    local values = roper.load("tests/fixtures/bfloat16.safetensors")
    local a, b = values.a:clone():parameter(), values.b:clone():parameter()
    local c = a:matmul(b)
    c:backward(values.dc)
    for name, found in pairs({ c = c, da = a.grad, db = b.grad }) do
      assert.is_true(norm(found:to("float64") - values[name]) < 1e-6 * norm(values[name]), name)
    end
  end)

  it("leaves float64 and other operations unchanged", function()
    local a, w = roper.randn({ 20, 30 }), roper.randn({ 30, 30 })
    local function others()
      return { roper.softmax(a, 2), a:to("float64"):matmul(w:to("float64")),
        roper.linear_attention(a:view({ 1, 1, 20, 30 }), a:view({ 1, 1, 20, 30 }),
          a:view({ 1, 1, 20, 30 })) }
    end
    local rounded = others()
    roper.matmul_precision("float32")
    for i, y in ipairs(others()) do
      arrays.close(y, rounded[i], 0)
    end
  end)

  it("gives zeros for sums without terms, also in memory that was used before", function()
    for _, f in ipairs({ roper.linear, function(a, b) return a:matmul(b:transpose(1, 2)) end }) do
      roper.full({ 40, 60 }, 7)
      collectgarbage()
      arrays.close(f(roper.zeros({ 40, 0 }), roper.zeros({ 60, 0 })), roper.zeros({ 40, 60 }), 0)
    end
  end)

  it("gives the same bits twice", function()
    local a, b = roper.randn({ 300, 200 }), roper.randn({ 200, 100 })
    arrays.close(a:matmul(b), a:matmul(b), 0)
  end)

  it("ignores masked keys", function()
    local q, k = roper.randn({ 1, 1, 70, 8 }), roper.randn({ 1, 1, 70, 8 })
    local y = roper.attention(q, k, k, { causal = true })
    k:narrow(3, 41, 30):copy(roper.full({ 1, 1, 30, 8 }, 3))
    local changed = roper.attention(q, k, k, { causal = true })
    arrays.close(y:narrow(3, 1, 40), changed:narrow(3, 1, 40), 0)
    assert.is_true(norm(y - changed) > 1)
  end)

  for _, kernels in ipairs(KERNELS) do
    it("agrees with the portable kernels by those of " .. kernels, function()
      local expected = products("portable")
      local found, best = products(kernels)
      if not found then
        return pending(("no %s here: this processor's best are %s"):format(kernels, best))
      end
      local count = 0
      for name, y in pairs(expected) do
        -- A score that differs in its last bits may have its weight rounded the other way, by 2^-8.
        local tolerance = name:match("^attention") and 1e-3 or 2e-6
        local difference = norm(found[name] - y)
        assert(difference <= tolerance * norm(y),
          ("%s: %g of %g"):format(name, difference, norm(y)))
        count = count + 1
      end
      assert.is_true(count > 100)
    end)
  end
end)
