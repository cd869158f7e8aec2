-- Rows of more than 1024 keys are computed in blocks of 256 keys, 192 queries at a time.
local agreement = require("tests.agreement")
local arrays = require("tests.arrays")
local roper = require("roper")

local KEYS <const>, QUERIES <const> = 2500, 250

-- The output and the gradients of all inputs and the bias; `view` is what attention gets of it.
local function results(attend, inputs, options, bias, upstream, view)
  local leaves = {}
  for i, x in ipairs(inputs) do
    leaves[i] = x:clone():parameter()
  end
  local leaf = bias and bias:clone():parameter()
  local given = { bias = view and view(leaf) or leaf }
  for name, value in pairs(options) do
    given[name] = value
  end
  local y = attend(leaves[1], leaves[2], leaves[3], given)
  y:backward(upstream)
  local list = { y:detach() }
  for _, x in ipairs(leaves) do
    list[#list + 1] = x.grad
  end
  list[#list + 1] = leaf and leaf.grad
  return list
end

local function check(inputs, options, bias, view)
  local upstream = roper.randn(inputs[1]:shape(), inputs[1]:dtype())
  local expected = results(roper.eager.attention, inputs, options, bias, upstream, view)
  for i, found in ipairs(results(roper.attention, inputs, options, bias, upstream, view)) do
    arrays.close(expected[i], found, 1e-11)
  end
end

local function inputs_of(queries, keys)
  return { agreement.inputs({ heads = 2, queries = queries, keys = keys or KEYS, features = 4 }) }
end

describe("attention in blocks of keys", function()
  before_each(function() roper.seed(1) end)

  for _, name in ipairs({ "none", "roper", "alibi", "t5", "shaw", "xpos" }) do
    for _, causal in ipairs({ true, false }) do
      it(("agrees with attention in Lua: %s, %scausal"):format(name, causal and "" or "not "),
        function()
          local position = name ~= "none"
            and roper.position.resolve(name, { dim = 4, heads = 2 }) or nil
          if position and position.to then
            position:to("float64")
          end
          check(inputs_of(QUERIES), { position = position, causal = causal })
        end)
    end
  end

  it("agrees with it for dropout, masks and biases of every layout", function()
    local inputs = inputs_of(QUERIES)
    check(inputs, { dropout = 0.3, seed = 5, causal = true })
    check(inputs, { mask = roper.rand({ QUERIES, KEYS }):gt(0.5), causal = true })
    for _, shape in ipairs({ { 2, QUERIES, KEYS }, { 1, 1, KEYS }, { QUERIES, 1 } }) do
      check(inputs, { causal = true }, roper.randn(shape, "float64"))
    end
    check(inputs, { causal = true }, roper.randn({ 2, KEYS, QUERIES }, "float64"),
      function(bias) return bias:transpose(2, 3) end)
  end)

  it("agrees with it for the numbers of keys around a block", function()
    for _, keys in ipairs({ 1024, 1025, 1279, 1280, 1281, 2049 }) do
      check(inputs_of(20, keys), { causal = true })
    end
  end)

  it("agrees with it if queries see no key of a block", function()
    check(inputs_of(1100, 1100), { causal = true, position = roper.position.roper({ dim = 4 }) },
      roper.randn({ 1100 }, "float64"))
  end)

  it("agrees with it for few queries, as in generation, and for more queries than keys", function()
    check(inputs_of(1), { causal = true })
    check(inputs_of(3), { causal = true }, roper.randn({ 2, 3, KEYS }, "float64"))
    check(inputs_of(KEYS + 60), {})
  end)

  it("is exact if the largest score is in another block, or a block is hidden", function()
    local q, k, v = table.unpack(inputs_of(12))
    for _, first in ipairs({ 1, 1100, 2450 }) do
      local bias = roper.zeros({ 1, KEYS }, "float64")
      bias:narrow(2, first, 40):fill(1e8)
      check({ q, k, v }, {}, bias)
    end
    for _, hidden in ipairs({ { 1, 256 }, { 1025, 512 }, { 2305, 196 }, { 1, KEYS } }) do
      local mask = roper.ones({ 12, KEYS }, "int32")
      mask:narrow(2, hidden[1], hidden[2]):fill(0)
      check({ q, k, v }, { mask = mask })
    end
  end)

  it("agrees with it in float32", function()
    local position = roper.position.roper({ dim = 4 })
    agreement.check(inputs_of(QUERIES), { causal = true, position = position }, nil,
      function(q, k, v, o) return (roper.eager.attention(q, k, v, o)) end)
  end)

  it("gives the same bits with one thread and with two", function()
    local threads, inputs, found = roper.threads(), inputs_of(QUERIES), {}
    for n = 1, 2 do
      roper.threads(n)
      found[n] = results(roper.attention, inputs, { causal = true }, nil, inputs[1])
    end
    roper.threads(threads)
    for i, y in ipairs(found[1]) do
      arrays.close(y, found[2][i], 0)
    end
  end)
end)
