--- Calls of every C function on tensors or problems. A constructor returns the objects that may be
-- closed during the call, and the call; its arguments make a list and options that attack.
local core = require "roper.core"
local operations = require "tests.operations"
local tables = require "roper.base.tables"

local calls = {}

local function numbers(shape, dtype)
  return core.tensor({ 3, 1, 2, 5, 4, 6 }, dtype):view(shape)
end

local function integers(list)
  return core.tensor(list, "int32")
end

--- Calls by their method and the number of arguments after x.
local function add_methods(x, list)
  for _, arguments in ipairs(list) do
    local name = arguments[1]
    calls[name .. " " .. #arguments - 1] = function()
      local y = core.tensor(x)
      local f = y[name]
      return { y }, function() return f(y, table.unpack(arguments, 2)) end
    end
  end
end

add_methods(numbers({ 2, 3 }), {
  { "abs" }, { "ceil" }, { "cos" }, { "exp" }, { "floor" }, { "gelu" }, { "gelu_tanh" }, { "log" },
  { "neg" },
  { "relu" }, { "round" }, { "sigmoid" }, { "sign" }, { "silu" }, { "sin" }, { "softplus" },
  { "sqrt" }, { "square" }, { "tanh" },
  { "clone" }, { "contiguous" }, { "count" }, { "numel" }, { "detach" }, { "dtype" },
  { "is_contiguous" },
  { "is_mask" }, { "rank" }, { "shape" }, { "size", 1 }, { "to", "float64" }, { "totable" },
  { "sum" }, { "sum", 1 }, { "mean" }, { "max" }, { "min" }, { "argmax" }, { "argmax", 2 },
  { "argmin" }, { "softmax" }, { "softmax", 1 }, { "log_softmax" }, { "cumsum", 1 },
  { "argsort" }, { "argsort", 1, true },
  { "narrow", 2, 2, 1 }, { "transpose", 1, 2 }, { "unsqueeze", 2 },
  { "dropout", 0.5, 3 }, { "round_to", "float16" },
})
add_methods(core.tensor({ 7 }), { { "item" }, { "squeeze" }, { "squeeze", 1 } })

function calls.contiguous()
  local x = numbers({ 2, 3 }):transpose(1, 2)
  return { x }, function() return x:contiguous() end
end

for _, name in ipairs(tables.joined(operations.binary, operations.comparisons)) do
  calls[name] = function()
    local a, b = numbers({ 2, 3 }), numbers({ 3, 2 }):transpose(1, 2)
    return { a, b }, function() return core[name](a, b) end
  end
  calls[name .. " with a number"] = function()
    local a = numbers({ 2, 3 })
    return { a }, function() return core[name](a, 2), core[name](2, a) end
  end
end

function calls.__lt()
  local a, b = core.tensor({ 1 }), core.tensor({ 2 })
  return { a, b }, function() return a < b, a <= b, a < 2, 2 <= a end
end

calls["add of two dtypes"] = function()
  local a, b, c = integers({ 1, 2 }), core.tensor({ 3, 4 }), core.tensor({ 5, 6 }, "float64")
  return { a, b, c }, function() return a + b, c - a, a * 0.5, 0.5 * a end
end

function calls.__eq()
  local a, b, c = core.tensor({ 1 }), core.tensor({ 1 }), integers({ 1 })
  return { a, b, c }, function() return a == b, a == c end
end

function calls.__band()
  local a, b = core.tensor({ 1, 2 }):gt(1), core.tensor({ 1, 2 }):gt(0)
  return { a, b }, function() return a & b, a | b, a ~ b, ~a end
end

function calls.__len()
  local x = numbers({ 2, 3 })
  return { x }, function() return #x end
end

function calls.view(list)
  local x = numbers({ 2, 3 })
  local shape = list({ 3, 2 })
  return { x }, function() return x:view(shape) end
end

function calls.sum(list)
  local x = numbers({ 1, 2, 3 })
  local axes = list({ 1, 3 })
  return { x }, function() return x:sum(axes), x:max(axes, true) end
end

function calls.expand(list)
  local x = core.tensor({ 1, 2 })
  local shape = list({ 3, 2 })
  return { x }, function() return x:expand(shape) end
end

function calls.permute(list)
  local x = numbers({ 2, 3 })
  local axes = list({ 2, 1 })
  return { x }, function() return x:permute(axes) end
end

function calls.as_strided(list)
  local x = core.tensor({ 1, 2, 3, 4 })
  local shape, strides = list({ 2, 2 }), list({ -1, 1 })
  return { x }, function() return x:as_strided(shape, strides, 1) end
end

calls.__index = function(list)
  local x = numbers({ 2, 3 })
  local key = list({ list({}), list({ 1, 2 }) })
  return { x }, function() return x[key], x[1] end
end

calls["__index tensors"] = function(list)
  local x, rows, columns = numbers({ 2, 3 }), integers({ 2, 1 }), integers({ { 3 }, { 1 } })
  local mask = x:gt(2)
  local key = list({ rows, columns })
  return { x, rows, columns, mask }, function() return x[key], x[rows], x[mask] end
end

calls["__index grad"] = function()
  local w = core.ones({ 2 }):parameter()
  w:sum():backward()
  return { w }, function() return w.grad end
end

calls.__newindex = function(list)
  local x, row = numbers({ 2, 3 }), core.tensor({ 8, 9 })
  local kept = x:detach()
  local key = list({ list({}), list({ 1, 2 }) })
  return { x, row }, function()
    x[key] = row
    return kept
  end
end

calls["__newindex tensors"] = function(list)
  local x, rows, values = numbers({ 2, 3 }), integers({ 2, 1 }), integers({ 8, 9 })
  local kept, mask = x:detach(), x:gt(4)
  local key = list({ rows, 2 })
  return { x, rows, values, mask }, function()
    x[key] = values
    x[mask] = 0
    return kept
  end
end

calls["__newindex a number"] = function(list)
  local x = numbers({ 2, 3 })
  local kept = x:detach()
  local key = list({ 1, 2 })
  return { x }, function()
    x[key] = 7
    return kept
  end
end

function calls.copy()
  local x, y = numbers({ 2, 3 }), numbers({ 3, 2 }):transpose(1, 2)
  local kept = x:detach()
  return { x, y }, function()
    x:copy(y)
    return kept
  end
end

calls["copy a number"] = function()
  local x = numbers({ 2, 3 })
  local kept = x:detach()
  return { x }, function()
    x:copy(2)
    return kept
  end
end

function calls.fill()
  local x = numbers({ 2, 3 })
  local kept = x:detach()
  return { x }, function()
    x:fill(4)
    return kept
  end
end

function calls.tensor(list)
  local x = numbers({ 2, 3 })
  local data = list({ list({ 1, 2 }), list({ 3, 4 }) })
  return { x }, function() return core.tensor(x, "float64"), core.tensor(x), core.tensor(data) end
end

function calls.matmul()
  local a, b = numbers({ 2, 3 }), numbers({ 3, 2 })
  return { a, b }, function() return a:matmul(b) end
end

function calls.linear()
  local x, weight, bias = numbers({ 2, 3 }), numbers({ 2, 3 }), core.tensor({ 1, 2 })
  return { x, weight, bias }, function() return core.linear(x, weight, bias, "relu") end
end

function calls.pack_bfloat16()
  local x = numbers({ 2, 3 })
  return { x }, function() return core.pack_bfloat16(x) end
end

function calls.linear_bfloat16()
  local x, bias = numbers({ 2, 3 }), core.tensor({ 1, 2 })
  local weight = core.pack_bfloat16(numbers({ 2, 3 }))
  return { x, weight, bias }, function() return core.linear_bfloat16(x, weight, bias, "relu") end
end

function calls.layer_norm()
  local x, gain, bias = numbers({ 2, 3 }), core.tensor({ 1, 2, 3 }), core.tensor({ 3, 2, 1 })
  return { x, gain, bias }, function() return core.layer_norm(x, gain, bias) end
end

function calls.rms_norm()
  local x, gain = numbers({ 2, 3 }), core.tensor({ 1, 2, 3 })
  return { x, gain }, function() return core.rms_norm(x, gain) end
end

function calls.rotate()
  local x, angle = numbers({ 2, 3 }), core.tensor({ { 1 }, { 2 } })
  return { x, angle }, function() return core.rotate(x, angle, true) end
end

function calls.causal_convolution()
  local x, weight = numbers({ 1, 2, 3 }), numbers({ 3, 2 })
  return { x, weight }, function() return core.causal_convolution(x, weight) end
end

function calls.householder_scores()
  local q, beta = numbers({ 1, 1, 3, 2 }), core.tensor({ { { 1, 2, 0.5 } } })
  return { q, beta }, function() return core.householder_scores(q, q, q, beta) end
end

function calls.householder_sums()
  local a, v = core.ones({ 1, 1, 3, 3 }), numbers({ 1, 1, 3, 2 })
  local beta = core.tensor({ { { 1, 2, 0.5 } } })
  return { a, v, beta }, function() return core.householder_sums(a, v, v, beta) end
end

function calls.embedding()
  local rows, index = numbers({ 2, 3 }), integers({ 1, 0 })
  return { rows, index }, function() return core.embedding(rows, index) end
end

function calls.index_select()
  local x, index = numbers({ 2, 3 }), integers({ 3, 1 })
  return { x, index }, function() return x:index_select(2, index) end
end

function calls.gather()
  local x, index = numbers({ 2, 3 }), integers({ { 3 }, { 1 } })
  return { x, index }, function() return x:gather(2, index) end
end

function calls.where()
  local condition, a, b = integers({ 1, 0 }), core.tensor({ 1, 2 }), core.tensor({ 3, 4 })
  return { condition, a, b }, function()
    return core.where(condition, a, b), core.where(condition, a, 5), core.where(condition, 5, b)
  end
end

function calls.cat(list)
  local a, b = numbers({ 2, 3 }), numbers({ 2, 3 })
  local both = list({ a, b })
  return { a, b }, function() return core.cat(both, 2) end
end

function calls.linear_cross_entropy(_, options)
  local x, weight, bias = numbers({ 2, 3 }), numbers({ 2, 3 }), core.tensor({ 1, 2 })
  local targets, given = integers({ 1, 0 }), options({ ignore = -1, reduction = "mean", rows = 1 })
  return { x, weight, bias, targets }, function()
    return core.linear_cross_entropy(x, weight, bias, targets, given)
  end
end

function calls.cross_entropy(_, options)
  local logits, targets = numbers({ 2, 3 }), integers({ 1, 0 })
  local given = options({ ignore = -1, reduction = "mean" })
  return { logits, targets }, function() return core.cross_entropy(logits, targets, given) end
end

--- A parameter with a gradient, and another tensor on its storage.
local function parameter()
  local w = core.tensor({ 1, 2, 3 })
  local kept = w:detach()
  w:parameter();
  (w * w):sum():backward()
  return w, kept
end

function calls.adam_step(_, options)
  local w, kept = parameter()
  local mean, variance = core.zeros({ 3 }), core.zeros({ 3 })
  local given = options({ rate = 1e-3 })
  return { w, mean, variance }, function()
    core.adam_step(w, mean, variance, given)
    return kept
  end
end

function calls.sgd_step(_, options)
  local w, kept = parameter()
  local velocity = core.zeros({ 3 })
  local given = options({ rate = 1e-2 })
  return { w, velocity }, function()
    core.sgd_step(w, velocity, given)
    return kept
  end
end

function calls.gradient_norm(list)
  local w, v = parameter(), parameter()
  local both = list({ w, v })
  return { w, v }, function() return core.gradient_norm(both) end
end

-- A scheme without rotation, a mask without zeros, and biases of 0 do not change the result.
local function attention(name, is_weights, more, ...)
  local rest = table.pack(...)
  return function(list, options)
    local shape = { 1, 1, 3, 2 }
    local q, k, v = numbers(shape), numbers(shape), numbers(shape)
    local mask, places = core.ones({ 3, 3 }, "int32"), core.tensor({ 0, 1, 2 })
    local scheme, bias = core.rotary({ dim = 2, rotate = "" }), core.zeros({ 3, 3 })
    local given = { position = scheme, query_positions = list({ 0, 1, 2 }),
      key_positions = places }
    for key, value in pairs(more) do
      given[key] = value == "mask" and mask
        or value == "biases" and list({ bias, bias }) or value == "firsts" and list({ 0, 0 })
        or value
    end
    options(given)
    local closed = { q, k, mask, places, scheme, bias, not is_weights and v or nil }
    return closed, function()
      if is_weights then
        return core[name](q, k, given)
      end
      return core[name](q, k, v, given, table.unpack(rest))
    end
  end
end
local masked = { mask = "mask", scale = 2 ^ -0.5, bias = "biases", first = "firsts" }
calls.attention = attention("attention", false, { mask = "mask", dropout = 0,
  bias = "biases", first = "firsts" })
calls["attention with weights"] = attention("attention", false, { weights = true })
calls.attention_sums = attention("attention_sums", false, { bias = "biases", first = "firsts" },
  -1, 3)
calls.attention_weights = attention("attention_weights", true, masked)
calls.oracle_attention = attention("oracle_attention", false, masked)
calls.linear_attention = attention("linear_attention", false, { epsilon = 1e-6 })
calls.oracle_linear_attention = attention("oracle_linear_attention", false, {})

function calls.rotary(_, options)
  local given = options({ dim = 4, pairing = ("half"):rep(1), rotate = ("qk"):rep(1) })
  return {}, function() return core.rotary(given):options() end
end

for _, name in ipairs({ "rotate", "unrotate" }) do
  calls["rotary:" .. name] = function(list)
    local scheme = core.rotary({ dim = 2 })
    local x, places = numbers({ 3, 2 }), core.tensor({ 0, 1, 2 })
    local given = list({ 4, 5, 6 })
    return { x, places, scheme }, function()
      return scheme[name](scheme, x, places), scheme[name](scheme, x, given, "q"),
        scheme[name](scheme, x, 2)
    end
  end
end

for name, arguments in pairs({ matrix = { 1 }, only = { "q" }, thetas = {}, options = {},
  tostring = {} }) do
  calls["rotary:" .. name] = function()
    local scheme = core.rotary({ dim = 4, growth = { 1, 0 }, coordinates = { 1, 2 } })
    local f = name ~= "tostring" and scheme[name] or tostring
    return { scheme }, function()
      local result = f(scheme, table.unpack(arguments))
      return name == "only" and result:options() or result
    end
  end
end

local function problems()
  return core.tasks.new("addition", { max_digits = 1, length = 30 })
end

calls["problems:explain"] = function()
  local addition = problems()
  local tokens = addition:batch(2, 1, 0)
  return { addition, tokens }, function() return addition:explain(tokens) end
end

calls["problems:targets"] = function()
  local tracking = core.tasks.new("state_tracking", { kind = "s3", length = 9 })
  local tokens = tracking:batch(2, 1, 0)
  return { tracking, tokens }, function() return tracking:targets(tokens) end
end

calls["problems:positions"] = function()
  local addition = core.tasks.new("addition", { coupled = true, length = 30 })
  local tokens = addition:batch(2, 1, 0)
  return { addition, tokens }, function() return addition:positions(tokens) end
end

for name, arguments in pairs({ batch = { 2, 1, 0 }, question = { 1, 0 }, words = {},
  answer = { "?d=1+3;" }, poses = { "?d=1+3;" }, grade = { "?d=1+3;", "4" }, floor = {},
  chance = {}, longest = {} }) do
  calls["problems:" .. name] = function()
    local addition = problems()
    return { addition }, function() return addition[name](addition, table.unpack(arguments)) end
  end
end

local path = os.tmpname()

for name, arguments in pairs({ rows = { "training", 3 }, read = { "training", 3, 1, 2 },
  draw = { 1, 0, 3, 2 }, about = {} }) do
  calls["corpus:" .. name] = function()
    local writer = core.corpus_create(path, 256, 0)
    writer:bytes("a text")
    writer:end_document("training", 6)
    writer:finish()
    local corpus = core.corpus_open(path)
    return { corpus }, function() return corpus[name](corpus, table.unpack(arguments)) end
  end
end

function calls.save_npy()
  local x = numbers({ 3, 2 }):transpose(1, 2)
  return { x }, function()
    core.save_npy(path, x)
    return core.load_npy(path)
  end
end

function calls.save_safetensors()
  local x, y = numbers({ 3, 2 }):transpose(1, 2), integers({ 1 })
  local tensors, metadata = { x = x, y = y }, { made = "here" }
  return { x, y }, function()
    core.save_safetensors(path, tensors, metadata)
    return core.load_safetensors(path)
  end
end

return { calls = calls, path = path }
