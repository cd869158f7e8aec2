local arrays = require("tests.arrays")
local models = require("tests.models")
local roper = require("roper")

describe("ssmax", function()
  local q, k
  before_each(function()
    roper.seed(1)
    q, k = roper.randn({ 2, 3, 4, 8 }, "float64"), roper.randn({ 2, 3, 6, 8 }, "float64")
  end)

  -- Weights from rotated queries and keys, biases and keys that are seen.
  local function weights_of(s, queries, keys, seen, bias)
    seen = seen:expand({ 2, 3, 4, 6 })
    local n = seen:to("float64"):sum(4, true)
    local products = queries:matmul(keys:transpose(3, 4)) / math.sqrt(8)
    local scores = s:view({ 3, 1, 1 }) * n:log() * products
    return roper.where(seen:ne(0), bias and scores + bias or scores, -math.huge):softmax(4)
  end

  local function with_random_s(options)
    local scheme = roper.position.resolve(options, { dim = 8, heads = 3 })
    local ssmax = scheme.parts and scheme.parts[2] or scheme
    ssmax.s = (roper.rand({ 3 }, "float64") + 0.5):parameter()
    return scheme, ssmax.s:detach()
  end

  local CAUSAL = roper.tensor({ { 1, 1, 1, 0, 0, 0 }, { 1, 1, 1, 1, 0, 0 }, { 1, 1, 1, 1, 1, 0 },
    { 1, 1, 1, 1, 1, 1 } }, "int32")

  it("counts the keys that neither the order nor a mask hides", function()
    local scheme, s = with_random_s("ssmax")
    local by_row = roper.tensor({ { 0, 1, 1, 1, 1, 1 }, { 1, 1, 1, 1, 0, 1 } }, "int32")
      :view({ 2, 1, 1, 6 })
    local by_query = roper.tensor({ 1, 0, 1, 1 }, "int32"):view({ 4, 1 })
    local function found(how)
      how.position = scheme
      return roper.attention_weights(q, k, how)
    end
    local all = roper.ones({ 4, 6 }, "int32")
    arrays.close(weights_of(s, q, k, all), found({}), 1e-12)
    arrays.close(weights_of(s, q, k, CAUSAL), found({ causal = true }), 1e-12)
    arrays.close(weights_of(s, q, k, by_row), found({ mask = by_row }), 1e-12)
    arrays.close(weights_of(s, q, k, CAUSAL * by_row), found({ mask = by_row, causal = true }),
      1e-12)
    local rows = { 1, 3, 4 } -- the second query sees no key
    for i, y in ipairs({ weights_of(s, q, k, all), weights_of(s, q, k, CAUSAL) }) do
      local seen = found({ mask = by_query, causal = i == 2 })
      for _, row in ipairs(rows) do
        arrays.close(y:narrow(3, row, 1), seen:narrow(3, row, 1), 1e-12)
      end
      assert.equal(0, seen:narrow(3, 2, 1):abs():max():item())
    end
    arrays.close(weights_of(s, q, k, all), found({ mask = roper.tensor(1, "int32") }), 1e-12)
  end)

  it("has finite gradients if a query sees no key", function()
    local hidden = roper.tensor({ { 1 }, { 0 }, { 1 }, { 1 } }, "int32")
    for _, attention in ipairs({ roper.attention, roper.eager.attention }) do
      local scheme = roper.position.ssmax({ heads = 3 })
      local x = q:clone():parameter()
      attention(x, k, k, { position = scheme, mask = hidden }):square():sum():backward()
      assert.is_true(x.grad:abs():max():item() < 1e3)
      assert.is_true(scheme.s.grad:abs():max():item() < 1e3)
      assert.equal(0, x.grad:narrow(3, 2, 1):abs():max():item())
    end
  end)

  it("joins with rope, a window and biases, which it does not multiply", function()
    local rope, at = roper.position.rope({ dim = 8 }), roper.arange(0, 6)
    local turned_q = rope:rotate(q, at:narrow(1, 3, 4))
    local turned_k = rope:rotate(k, at)
    local scheme, s = with_random_s("rope+ssmax")
    local how = { position = scheme, causal = true }
    arrays.close(weights_of(s, turned_q, turned_k, CAUSAL), roper.attention_weights(q, k, how),
      1e-12)

    how.position, s = with_random_s("window{size=2}+ssmax")
    local near = roper.tensor({ { 0, 1, 1, 0, 0, 0 }, { 0, 0, 1, 1, 0, 0 }, { 0, 0, 0, 1, 1, 0 },
      { 0, 0, 0, 0, 1, 1 } }, "int32")
    arrays.close(weights_of(s, q, k, near), roper.attention_weights(q, k, how), 1e-12)

    how.position, s = with_random_s("alibi+ssmax")
    local bias = roper.position.alibi({ heads = 3 }):bias(q, k,
      roper.position.positions(q, k, { causal = true }))
    arrays.close(weights_of(s, q, k, CAUSAL, bias), roper.attention_weights(q, k, how), 1e-12)
  end)

  it("passes the battery in combinations", function()
    for _, name in ipairs({ "rope{rotate=qkvo}+ssmax", "rope+window{size=3,sinks=1}+ssmax" }) do
      local findings = roper.position.check(name)
      assert.is_true(findings.ok, tostring(findings))
    end
  end)

  it("trains a factor for each layer and head", function()
    local model = models.small({ position = "ssmax{start=0.5}" })
    local found = 0
    for _, entry in ipairs(model:named_parameters()) do
      if entry.name:find("%.s$") then
        found = found + 1
        assert.equal(0.5, entry.tensor:min():item())
        assert.equal(0.5, entry.tensor:max():item())
      end
    end
    assert.equal(#model.layers, found)
    local scheme = roper.position.ssmax({ heads = 3 })
    arrays.close(roper.full({ 3 }, 0.168), scheme.s:detach(), 0)
    local o = roper.attention(q, k, k, { position = scheme, causal = true })
    o:square():sum():backward()
    assert.is_true(scheme.s.grad:abs():min():item() > 0)
  end)
end)
