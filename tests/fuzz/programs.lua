-- Random programs of tensor operations, run twice: by roper and by the reference in plain Lua.
-- Values and gradients must agree: exactly if all numbers are small multiples of 1/4, otherwise up
-- to rounding.

local arrays = require("tests.arrays")
local core = require("roper.core")
local reference = require("tests.fuzz.reference")
local roper = require("roper")

local M = {}

local TOLERANCE <const> = 1e-10 -- relative to the scale of the sums
local SMALLEST <const> = 1e-30 -- smaller numbers may be 0
local LARGEST <const> = 1e6 -- programs with larger numbers or derivatives are not compared

local function pick(list)
  return list[math.random(#list)]
end

-- Is a number too large, or NaN?
local function is_large(number)
  return number ~= number or number >= LARGEST
end

local function numbers(count, draw)
  local list = {}
  for i = 1, count do
    local number = draw()
    list[i] = type(number) == "string" and number or ("%.17g"):format(number)
  end
  return "{" .. table.concat(list, ", ") .. "}"
end

local DRAWS <const> = {
  exact = function() return math.random(-8, 8) / 4 end,
  int32 = function() return math.random(-4, 4) end,
  smooth = function()
    local size = math.random(8) == 1 and 10 ^ math.random(-9, 3) or 1
    return (math.random() * 4 - 2) * size
  end,
  special = function() return pick({ "0", "-0.0", "1", "-1", "0.5", "1/0", "-1/0", "0/0" }) end,
}

local function shape_text(shape)
  return "{" .. table.concat(shape, ", ") .. "}"
end

local EXACT <const> = { unary = { "square", "abs", "neg", "relu", "floor", "sign" },
  binary = { "add", "sub", "mul", "maximum", "minimum" },
  reduction = { "sum", "max", "min", "argmax", "argmin" } }
local SMOOTH <const> = { unary = { "exp", "log", "sqrt", "square", "abs", "neg", "sin", "cos",
  "relu", "sigmoid", "tanh", "floor", "sign" },
  binary = { "add", "sub", "mul", "div", "maximum", "minimum" },
  reduction = { "sum", "mean", "max", "min", "argmax", "argmin" } }
local MASKS <const> = { "eq", "ne", "lt", "le", "gt", "ge" }

local function axis_of(x)
  return #x.shape > 0 and math.random(#x.shape) or nil
end

-- Can both be operands of an element-wise function?
local function fit(x, y)
  return (x.of == y.of or x.of == "int32" or y.of == "int32") and arrays.broadcast(x.shape, y.shape)
end

-- Expressions of x and y; nil or false if the step does not fit their shapes.

local STEPS <const> = {
  function(x, _, names)
    return (names == EXACT or x.of ~= "int32") and ("%s:%s()"):format(x.name, pick(names.unary))
  end,
  function(x, y, names)
    return (names == EXACT or x.of ~= "int32") and fit(x, y)
      and ("%s:%s(%s)"):format(x.name, pick(names.binary), y.name)
  end,
  function(x, _, names)
    return (names == EXACT or x.of ~= "int32")
      and ("%s:%s(%d)"):format(x.name, pick(names.binary), math.random(-2, 2))
  end,
  function(x, _, names)
    local name = pick(names.reduction)
    local axis = math.random(4) > 1 and axis_of(x) or nil
    if name ~= "sum" and arrays.count(x.shape) == 0 then
      return nil
    end
    return not axis and ("%s:%s()"):format(x.name, name) or ("%s:%s(%d%s)"):format(x.name, name,
      math.random(3) == 1 and axis - #x.shape - 1 or axis, pick({ "", ", true", ", false" }))
  end,
  function(x)
    local axis = axis_of(x)
    return axis and ("%s:%s(%d)"):format(x.name, "cumsum", axis)
  end,
  function(x, _, names)
    local axis = axis_of(x)
    return axis and names == SMOOTH and x.of ~= "int32" and x.shape[axis] > 0
      and ("%s:%s(%d)"):format(x.name, pick({ "softmax", "log_softmax" }), axis)
  end,
  function(x, y)
    local ra, rb = #x.shape, #y.shape
    return ra >= 2 and rb >= 2 and x.of ~= "int32" and x.of == y.of
      and x.shape[ra] == y.shape[rb - 1]
      and arrays.broadcast({ table.unpack(x.shape, 1, ra - 2) },
        { table.unpack(y.shape, 1, rb - 2) })
      and ("%s:matmul(%s)"):format(x.name, y.name)
  end,
  function(x, y)
    return fit(x, y)
      and ("roper.where(%s:%s(%d), %s, %s)"):format(x.name, pick(MASKS), math.random(-1, 1), x.name,
        y.name)
  end,
  function(x, y)
    return fit(x, y) and ("%s:%s(%s)"):format(x.name, pick(MASKS), y.name)
  end,
  function(x)
    local i, j = axis_of(x), axis_of(x)
    return i and ("%s:transpose(%d, %d)"):format(x.name, i, j)
  end,
  function(x)
    local axis = axis_of(x)
    local size = axis and math.random(0, x.shape[axis])
    return axis and ("%s:narrow(%d, %d, %d)"):format(x.name, axis,
      math.random(1, x.shape[axis] - size + 1), size)
  end,
  function(x)
    local shape = {}
    for i, size in ipairs(x.shape) do
      shape[i] = size == 1 and math.random(3) or size
    end
    if math.random(3) == 1 then
      table.insert(shape, 1, 2)
    end
    return ("%s:expand(%s)"):format(x.name, shape_text(shape))
  end,
  function(x)
    local axis = axis_of(x)
    return axis and ("%s:flip(%d)"):format(x.name, axis)
  end,
  function(x)
    local axis = axis_of(x)
    return axis and x.shape[axis] > 0
      and ("%s:roll(%d, %d)"):format(x.name, math.random(-3, 3), axis)
  end,
  function(x)
    return #x.shape < 4 and ("%s:unsqueeze(%d)"):format(x.name, math.random(#x.shape + 1))
  end,
  function(x)
    local axis = axis_of(x)
    local at = axis and numbers(math.random(0, 4), function()
      return math.random(math.max(x.shape[axis], 1))
    end)
    return axis and x.shape[axis] > 0
      and ("%s:index_select(%d, index(%s))"):format(x.name, axis, at)
  end,
  function(x, y)
    local axis = axis_of(x)
    local rest = table.move(y.shape, 1, #y.shape, 1, {})
    if axis and #x.shape == #y.shape and x.of == y.of then
      rest[axis] = x.shape[axis]
      return shape_text(rest) == shape_text(x.shape)
        and ("roper.cat({%s, %s}, %d)"):format(x.name, y.name, axis)
    end
  end,
  function(x)
    local count = arrays.count(x.shape)
    local shape = { count }
    if count > 0 and count % 2 == 0 then
      shape = pick({ { 2, count // 2 }, { count // 2, 2 }, { count }, { 1, count } })
    end
    return ("%s:reshape(%s)"):format(x.name, shape_text(shape))
  end,
  function(x) return x.name .. ":contiguous()" end,
  function(x)
    return ("%s:clamp(%d, %d)"):format(x.name, math.random(-2, 0), math.random(0, 2))
  end,
  function(x)
    local axis = axis_of(x)
    return axis and ("%s:sort(%d, %s)"):format(x.name, axis, math.random(2) == 1)
  end,
  function(x)
    return #x.shape >= 2 and ("%s:%s(%d)"):format(x.name, pick({ "tril", "triu" }),
      math.random(-2, 2))
  end,
  function(x)
    return #x.shape > 0 and x.shape[1] > 0 and ("%s[%d]"):format(x.name, math.random(x.shape[1]))
  end,
}

-- The names for a program that is run by the reference, and for one that is run by roper.
local function environment(of_reference)
  if of_reference then
    return { roper = reference, input = reference.input, index = function(list)
      return reference.input(list, { #list }, "int32")
    end }
  end
  return { roper = roper, input = function(values, shape, dtype)
    local x = roper.tensor(#values > 0 and values or roper.zeros({ 0 }, dtype), dtype)
      :reshape(shape)
    return dtype ~= "int32" and x:parameter() or x
  end, index = function(list)
    return #list > 0 and roper.tensor(list, "int32") or roper.zeros({ 0 }, "int32")
  end }
end

-- Run the lines "name = expression" in an environment; returns it with the variables.
local function execute(lines, scope)
  local text = table.concat(lines, "\n")
  local chunk = assert(load(text, "=program", "t", scope))
  chunk()
  return scope
end

local function differs(expected, actual, tolerance)
  if expected ~= expected or actual ~= actual then
    return (expected ~= expected) ~= (actual ~= actual)
  end
  return expected ~= actual and math.abs(expected - actual) > tolerance
end

-- The first element of a tensor that differs; nil if none does.
local function compare(name, expected, sizes, shape, dtype, actual, tolerance)
  local got = arrays.from(actual)
  if table.concat(shape, ",") ~= table.concat(got.shape, ",") or dtype ~= actual:dtype() then
    return ("%s: expected %s [%s], got %s [%s]"):format(name, dtype, table.concat(shape, ","),
      actual:dtype(), table.concat(got.shape, ","))
  end
  for i, value in ipairs(expected) do
    if differs(value, got.values[i], tolerance * (sizes[i] + SMALLEST)) then
      return ("%s, element %d: expected %.17g, got %.17g"):format(name, i, value, got.values[i])
    end
  end
  return nil
end

local function values_of(x)
  local values, sizes, largest = {}, {}, 0
  for i, e in ipairs(x.values) do
    values[i], sizes[i] = e.value, e.size
    largest = math.max(largest, e.size == e.size and e.size or math.huge)
  end
  return values, sizes, largest
end

-- Compare the gradients of the inputs, for the weighted sum of the last variable.
local function compare_gradients(last, inputs, one, other, tolerance)
  local x, weights = one[last], {}
  for i = 1, #x.values do
    weights[i] = (i * 3) % 5 - 2.0
  end
  if x.of == "int32" or #weights == 0 then
    return nil
  end
  local derivatives, sizes = reference.derivatives(x, weights)
  local by = roper.tensor(weights, x.of):reshape(x.shape)
  local ok, message = pcall(function()
    (other[last] * by):sum():backward()
  end)
  if not ok then
    local has_none = tostring(message):find("computed from a parameter")
    return not has_none and message or nil
  end
  for _, name in ipairs(inputs) do
    local expected, scale, gradient = {}, {}, other[name].grad
    for i, e in ipairs(one[name].values) do
      expected[i], scale[i] = derivatives[e] or 0, sizes[e] or 0
      if is_large(scale[i]) then
        return nil
      end
    end
    gradient = gradient or roper.zeros(one[name].shape, one[name].of)
    local problem = compare("the gradient of " .. name, expected, scale, one[name].shape,
      one[name].of, gradient, tolerance)
    if problem then
      return problem
    end
  end
  return nil
end

--- The problem of a program; nil if roper agrees with the reference, or if the program cannot be
--- judged.
---@param program table lines; is_exact
---@return string?
function M.judge(program)
  reference.begin(program.is_exact)
  local ok, one = pcall(execute, program.lines, environment(true))
  if not ok then
    return nil -- without one of its lines, while it is shrunk
  end
  local done, other = pcall(execute, program.lines, environment(false))
  if not done then
    return other
  end
  local tolerance, inputs, last = program.is_exact and 0 or TOLERANCE, {}, nil
  for _, line in ipairs(program.lines) do
    local name = line:match("^(%w+) = ")
    local values, sizes, largest = values_of(one[name])
    if is_large(largest) and not program.has_specials or reference.is_ambiguous() then
      return nil
    end
    local problem = compare(name, values, sizes, one[name].shape, one[name].of, other[name],
      tolerance)
    if problem then
      return problem
    end
    inputs[#inputs + 1] = line:find(" = input%(") and one[name].of ~= "int32" and name or nil
    last = name
  end
  return not program.has_specials and compare_gradients(last, inputs, one, other, tolerance) or nil
end

--- A random program.
---@return table program lines; is_exact; has_specials
function M.random()
  local kind = pick({ "exact", "exact", "smooth", "smooth", "special" })
  local program = { lines = {}, is_exact = kind ~= "smooth", has_specials = kind == "special" }
  local scope, variables, count = environment(true), {}, 0
  local dtype = kind == "smooth" and "float64" or pick({ "float32", "float64" })
  reference.begin(program.is_exact)
  local function add(text)
    count = count + 1
    local name = "t" .. count
    local line = ("%s = %s"):format(name, text)
    if not pcall(execute, { line }, scope) then
      error("the reference cannot run " .. line)
    end
    local x = scope[name]
    if arrays.count(x.shape) <= 48 then
      program.lines[#program.lines + 1] = line
      variables[#variables + 1] = { name = name, shape = x.shape, of = x.of }
    end
  end
  for _ = 1, math.random(1, 3) do
    local of = kind == "exact" and math.random(4) == 1 and "int32" or dtype
    local shape = arrays.random_shape(0, 3, 3)
    add(("input(%s, %s, %q)"):format(numbers(arrays.count(shape),
      DRAWS[of == "int32" and of or kind]), shape_text(shape), of))
  end
  local names = kind == "smooth" and SMOOTH or EXACT
  for _ = 1, math.random(1, 7) do
    local x, y = pick(variables), pick(variables)
    local text = pick(STEPS)(x, y, names)
    if text then
      add(text)
    end
  end
  return program
end

--- A program without the lines that its problem does not need.
---@param program table
---@param judge fun(program: table): string?
---@return table
function M.shrunk(program, judge)
  local lines = program.lines
  for i = #lines, 1, -1 do
    local fewer = table.move(lines, 1, #lines, 1, {})
    table.remove(fewer, i)
    if #fewer > 0 and judge({ lines = fewer, is_exact = program.is_exact,
      has_specials = program.has_specials }) then
      lines = fewer
    end
  end
  return { lines = lines, is_exact = program.is_exact, has_specials = program.has_specials }
end

function M.next()
  local program = M.random()
  return table.concat(program.lines, "; "), function()
    local ok, problem = core.interrupt_call(M.judge, function(message)
      return "failed: " .. tostring(message)
    end, program)
    if not problem then
      return nil
    end
    local least = M.shrunk(program, M.judge)
    return ("%s: %s"):format(ok and M.judge(least) or problem, table.concat(least.lines, "; "))
  end
end

core.interrupt_enable()
return M
