-- Tensors in plain Lua, slow and obvious: each element is a node of a graph with its value and its
-- partial derivatives. The functions and methods have the names and arguments of roper's.

local arrays = require("tests.arrays")

local M = {}

local Tensor = {}
local metatable = {}

-- A method, or a slice of the first axis.
function metatable.__index(x, key)
  if math.type(key) ~= "integer" then
    return Tensor[key]
  end
  local shape = table.move(x.shape, 2, #x.shape, 1, {})
  return x:narrow(1, key, 1):reshape(shape)
end

--- The methods by name.
M.methods = Tensor

---@class Element
---@field value number
---@field parents table[] elements that it was computed from
---@field partials number[] its derivative with respect to each
---@field size number scale of the sums in it, to judge rounding
---@field scales number[] the same of each partial derivative

-- A number of elements that nearly tie: rounding then decides a comparison.
local ambiguous = false
local is_exact = true

--- Forget what happened before; then, is all arithmetic exact?
---@param exact boolean
function M.begin(exact)
  ambiguous, is_exact = false, exact
end

--- Did rounding decide a comparison?
---@return boolean
function M.is_ambiguous()
  return ambiguous
end

local function element(value, parents, partials, size, scales)
  return { value = value, parents = parents or {}, partials = partials or {},
    size = math.max(math.abs(value), size or 0), scales = scales or partials }
end

local function tensor(shape, values, dtype)
  return setmetatable({ shape = shape, values = values, of = dtype }, metatable)
end

--- A tensor of the given shape from a flat list of numbers.
---@param values number[]
---@param shape integer[]
---@param dtype string
---@return table
function M.input(values, shape, dtype)
  local elements = {}
  for i, value in ipairs(values) do
    elements[i] = element(value + 0.0)
  end
  return tensor(shape, elements, dtype)
end

-- A tensor from a function of coordinates, which returns an element.
local function make(shape, dtype, f)
  return tensor(shape, arrays.make(shape, f).values, dtype)
end

local function compare(x, y)
  if not is_exact and x ~= y and x.value == x.value and y.value == y.value
    and math.abs(x.value - y.value) <= 1e-9 * (x.size + y.size) then
    ambiguous = true
  end
end

local function axis_of(x, axis)
  return axis < 0 and axis + #x.shape + 1 or axis
end

-- Element-wise functions of one argument: value, derivative, and its scale if that is larger.
local UNARY <const> = {
  exp = function(v) return math.exp(v), math.exp(v) end,
  log = function(v) return math.log(v), 1 / v end,
  sqrt = function(v) return math.sqrt(v), 0.5 / math.sqrt(v) end,
  square = function(v) return v * v, 2 * v end,
  abs = function(v) return math.abs(v), v > 0 and 1 or v < 0 and -1 or 0 end,
  neg = function(v) return -v, -1 end,
  sin = function(v) return math.sin(v), math.cos(v) end,
  cos = function(v) return math.cos(v), -math.sin(v) end,
  relu = function(v) return v > 0 and v or v ~= v and v or 0, v > 0 and 1 or 0 end,
  sigmoid = function(v)
    local y = 1 / (1 + math.exp(-v))
    return y, y * (1 - y), y
  end,
  tanh = function(v)
    local e = math.exp(-2 * math.abs(v))
    local y = math.abs(v) < 1e-4 and math.abs(v) - math.abs(v) ^ 3 / 3 or (1 - e) / (1 + e)
    return v < 0 and -y or y, 1 - y * y, 1
  end,
  floor = function(v) return math.abs(v) < math.huge and v - v % 1 or v, 0 end,
  sign = function(v) return v > 0 and 1 or v < 0 and -1 or v, 0 end,
}

for name, f in pairs(UNARY) do
  Tensor[name] = function(x)
    return make(x.shape, x.of, function(at)
      local a = arrays.get(x, at)
      if name == "floor" or name == "sign" then
        compare(a, element(name == "sign" and 0 or math.floor(a.value + 0.5)))
      end
      local value, slope, scale = f(a.value)
      return element(value, { a }, { slope }, math.abs(slope) * a.size, { scale or slope })
    end)
  end
end

-- Element-wise functions of two arguments: value and both derivatives.
local BINARY <const> = {
  add = function(a, b) return a + b, 1, 1 end,
  sub = function(a, b) return a - b, 1, -1 end,
  mul = function(a, b) return a * b, b, a end,
  div = function(a, b) return a / b, 1 / b, -a / (b * b) end,
  maximum = function(a, b)
    local first = a >= b or a ~= a
    return first and a or b, first and 1 or 0, first and 0 or 1
  end,
  minimum = function(a, b)
    local first = a <= b or a ~= a
    return first and a or b, first and 1 or 0, first and 0 or 1
  end,
}

local MASKS <const> = {
  eq = function(a, b) return a == b end,
  ne = function(a, b) return a ~= b end,
  lt = function(a, b) return a < b end,
  le = function(a, b) return a <= b end,
  gt = function(a, b) return a > b end,
  ge = function(a, b) return a >= b end,
}

local function lift(y, dtype)
  return type(y) == "number" and tensor({}, { element(y) }, dtype) or y
end

local function common(a, b)
  return a.of == "int32" and b.of or a.of
end

for name, f in pairs(BINARY) do
  Tensor[name] = function(x, y)
    y = lift(y, x.of)
    return make(arrays.broadcast(x.shape, y.shape), common(x, y), function(at)
      local a, b = arrays.get(x, at), arrays.get(y, at)
      if name:find("imum$") then
        compare(a, b)
      end
      local value, da, db = f(a.value, b.value)
      return element(value, { a, b }, { da, db }, math.abs(da) * a.size + math.abs(db) * b.size)
    end)
  end
end

for name, f in pairs(MASKS) do
  Tensor[name] = function(x, y)
    y = lift(y, x.of)
    return make(arrays.broadcast(x.shape, y.shape), "int32", function(at)
      local a, b = arrays.get(x, at), arrays.get(y, at)
      compare(a, b)
      return element(f(a.value, b.value) and 1 or 0)
    end)
  end
end

function M.where(mask, x, y)
  local shape = arrays.broadcast(arrays.broadcast(mask.shape, x.shape), y.shape)
  return make(shape, common(x, y), function(at)
    local source = arrays.get(mask, at).value ~= 0 and arrays.get(x, at) or arrays.get(y, at)
    return element(source.value, { source }, { 1 }, source.size)
  end)
end

-- An element that is the sum of others, each times a factor.
local function weighted(elements, factors)
  local total, size = 0, 0
  for i, e in ipairs(elements) do
    local product = e.value * (factors and factors[i] or 1)
    total, size = total + product, size + math.abs(factors and factors[i] or 1) * e.size
  end
  local partials = factors or {}
  for i = 1, #elements do
    partials[i] = partials[i] or 1
  end
  return element(total, elements, partials, size)
end

-- The place of the largest element times `sign`: the first NaN, else the first of equal ones.
local function place(elements, sign)
  local best = 1
  for i = 2, #elements do
    local x, y = elements[i], elements[best]
    compare(x, y)
    if y.value == y.value and (x.value ~= x.value or sign * x.value > sign * y.value) then
      best = i
    end
  end
  return best
end

local function extreme(sign)
  return function(elements)
    local best = elements[place(elements, sign)]
    return element(best.value, { best }, { 1 }, best.size)
  end
end

local REDUCTIONS <const> = {
  sum = weighted,
  mean = function(elements)
    local factors = {}
    for i = 1, #elements do
      factors[i] = 1 / #elements
    end
    return weighted(elements, factors)
  end,
  max = extreme(1),
  min = extreme(-1),
  argmax = function(elements) return element(place(elements, 1)) end,
  argmin = function(elements) return element(place(elements, -1)) end,
}

for name, f in pairs(REDUCTIONS) do
  Tensor[name] = function(x, axis, keep)
    local of_integers = (name == "sum" or name == "mean") and "float64" or "int32"
    local dtype = (name:find("^arg") or x.of == "int32") and of_integers or x.of
    local result = arrays.reduce(f, x, axis and axis_of(x, axis), keep)
    return tensor(result.shape, result.values, dtype)
  end
end

-- Map each line along an axis, a list of elements, to another of the same length.
local function lines(x, axis, f)
  axis = axis_of(x, axis)
  return make(x.shape, x.of, function(at)
    local line, from = {}, table.move(at, 1, #at, 1, {})
    for i = 0, x.shape[axis] - 1 do
      from[axis] = i
      line[i + 1] = arrays.get(x, from)
    end
    return f(line, at[axis] + 1)
  end)
end

function Tensor:cumsum(axis)
  local y = lines(self, axis, function(line, i)
    return weighted(table.move(line, 1, i, 1, {}))
  end)
  y.of = self.of == "int32" and "float64" or self.of
  return y
end

local function softmax(line)
  local most, total, shares = -math.huge, 0, {}
  for _, e in ipairs(line) do
    most = math.max(most, e.value)
  end
  for i, e in ipairs(line) do
    shares[i] = math.exp(e.value - most)
    total = total + shares[i]
  end
  for i, share in ipairs(shares) do
    shares[i] = share / total
  end
  return shares, most + math.log(total)
end

function Tensor:softmax(axis)
  return lines(self, axis or -1, function(line, i)
    local shares, partials, scales = softmax(line), {}, {}
    for j, share in ipairs(shares) do
      partials[j] = shares[i] * ((i == j and 1 or 0) - share)
      scales[j] = shares[i]
    end
    return element(shares[i], line, partials, 1, scales)
  end)
end

function Tensor:log_softmax(axis)
  return lines(self, axis or -1, function(line, i)
    local shares, log_total = softmax(line)
    local partials, scales = {}, {}
    for j, share in ipairs(shares) do
      partials[j], scales[j] = (i == j and 1 or 0) - share, 1
    end
    return element(line[i].value - log_total, line, partials, line[i].size + math.abs(log_total),
      scales)
  end)
end

function Tensor:matmul(y)
  local ra, rb = #self.shape, #y.shape
  local shape = arrays.broadcast(table.move(self.shape, 1, ra - 2, 1, {}),
    table.move(y.shape, 1, rb - 2, 1, {}))
  shape[#shape + 1], shape[#shape + 2] = self.shape[ra - 1], y.shape[rb]
  return make(shape, self.of, function(at)
    local left, right = table.move(at, 1, #at, 1, {}), table.move(at, 1, #at, 1, {})
    local total, size, parents, partials = 0, 0, {}, {}
    for i = 0, self.shape[ra] - 1 do
      left[#at], right[#at - 1] = i, i
      local a, b = arrays.get(self, left), arrays.get(y, right)
      total, size = total + a.value * b.value, size + a.size * b.size
      parents[2 * i + 1], parents[2 * i + 2] = a, b
      partials[2 * i + 1], partials[2 * i + 2] = b.value, a.value
    end
    return element(total, parents, partials, size)
  end)
end

-- A tensor whose element at coordinates is one of x, at other coordinates.
local function moved(x, shape, from)
  return make(shape, x.of, function(at)
    return arrays.get(x, from(table.move(at, 1, #at, 1, {})))
  end)
end

local function with(shape, axis, size)
  local result = table.move(shape, 1, #shape, 1, {})
  result[axis] = size
  return result
end

function Tensor:reshape(shape)
  return tensor(shape, self.values, self.of)
end

function Tensor:transpose(i, j)
  local shape = with(with(self.shape, i, self.shape[j]), j, self.shape[i])
  return moved(self, shape, function(at)
    at[i], at[j] = at[j], at[i]
    return at
  end)
end

function Tensor:narrow(axis, start, size)
  return moved(self, with(self.shape, axis, size), function(at)
    at[axis] = at[axis] + start - 1
    return at
  end)
end

function Tensor:expand(shape)
  return moved(self, shape, function(at) return at end)
end

function Tensor:flip(axis)
  return moved(self, self.shape, function(at)
    at[axis] = self.shape[axis] - 1 - at[axis]
    return at
  end)
end

function Tensor:roll(shift, axis)
  return moved(self, self.shape, function(at)
    at[axis] = (at[axis] - shift) % self.shape[axis]
    return at
  end)
end

function Tensor:unsqueeze(axis)
  local shape = table.move(self.shape, 1, #self.shape, 1, {})
  table.insert(shape, axis, 1)
  return self:reshape(shape)
end

function Tensor:contiguous()
  return self
end

function Tensor:index_select(axis, index)
  return moved(self, with(self.shape, axis, #index.values), function(at)
    at[axis] = index.values[at[axis] + 1].value // 1 - 1
    return at
  end)
end

function Tensor:clamp(low, high)
  return self:maximum(low):minimum(high)
end

-- Equal elements keep their order, and NaN counts as the largest number.
function Tensor:sort(axis, descending)
  return lines(self, axis, function(line, i)
    local order = {}
    for j, e in ipairs(line) do
      order[j] = { e, j }
      for _, other in ipairs(line) do
        compare(e, other)
      end
    end
    table.sort(order, function(a, b)
      local x, y = a[1].value, b[1].value
      local is_first = x < y or x == x and y ~= y
      local is_second = y < x or y == y and x ~= x
      if is_first or is_second then
        return is_first ~= (descending or false)
      end
      return a[2] < b[2]
    end)
    return element(order[i][1].value, { order[i][1] }, { 1 }, order[i][1].size)
  end)
end

local function triangle(sees)
  return function(x, diagonal)
    return make(x.shape, x.of, function(at)
      local e = arrays.get(x, at)
      local is_in = sees(at[#at] - at[#at - 1], diagonal)
      return is_in and e or element(0, { e }, { 0 })
    end)
  end
end

Tensor.tril = triangle(function(distance, diagonal) return distance <= diagonal end)
Tensor.triu = triangle(function(distance, diagonal) return distance >= diagonal end)

function M.cat(list, axis)
  local x, y = list[1], list[2]
  local first = x.shape[axis]
  return make(with(x.shape, axis, first + y.shape[axis]), x.of, function(at)
    local is_first = at[axis] < first
    local from = with(at, axis, is_first and at[axis] or at[axis] - first)
    return arrays.get(is_first and x or y, from)
  end)
end

--- The derivatives of the sum of a tensor's elements, each times a weight: a table from elements to
--- their derivative, and one from elements to the scale of the sums in it.
---@param x table
---@param weights number[]
---@return table<Element, number> derivatives
---@return table<Element, number> sizes
function M.derivatives(x, weights)
  local derivatives, sizes, order, seen = {}, {}, {}, {}
  local function visit(e)
    if not seen[e] then
      seen[e] = true
      for _, parent in ipairs(e.parents) do
        visit(parent)
      end
      order[#order + 1] = e
    end
  end
  for i, e in ipairs(x.values) do
    visit(e)
    derivatives[e] = (derivatives[e] or 0) + weights[i]
    sizes[e] = math.abs(derivatives[e])
  end
  for i = #order, 1, -1 do
    local e = order[i]
    for j, parent in ipairs(derivatives[e] and e.parents or {}) do
      derivatives[parent] = (derivatives[parent] or 0) + derivatives[e] * e.partials[j]
      sizes[parent] = (sizes[parent] or 0) + sizes[e] * math.abs(e.scales[j])
    end
  end
  return derivatives, sizes
end

return M
