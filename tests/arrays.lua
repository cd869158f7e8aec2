-- Arrays in plain Lua, slow and simple, with which tensors are compared.
--
-- An array is {shape = integer[], values = number[]} in row-major order. Coordinates count from 0.

local assert = require("luassert")

local roper = require("roper")

local M = {}

--- The product of sizes.
---@param shape integer[]
---@return integer
function M.count(shape)
  local count = 1
  for _, size in ipairs(shape) do
    count = count * size
  end
  return count
end

local function flatten(nested, values)
  if type(nested) ~= "table" then
    values[#values + 1] = nested
    return values
  end
  for i = 1, #nested do
    flatten(nested[i], values)
  end
  return values
end

--- The array of a tensor.
---@param tensor userdata
---@return table
function M.from(tensor)
  return { shape = tensor:shape(), values = flatten(tensor:totable(), {}) }
end

--- Coordinates of element `i`, from 0.
---@param shape integer[]
---@param i integer
---@return integer[]
function M.coordinates(shape, i)
  local at = {}
  for axis = #shape, 1, -1 do
    at[axis] = i % shape[axis]
    i = i // shape[axis]
  end
  return at
end

--- The element at coordinates of a broadcast shape.
---@param array table
---@param at integer[]
---@return number
function M.get(array, at)
  local i = 0
  for axis, size in ipairs(array.shape) do
    local place = at[#at - #array.shape + axis]
    i = i * size + (size == 1 and 0 or place)
  end
  return array.values[i + 1]
end

--- Make an array from a function of coordinates.
---@param shape integer[]
---@param f fun(at: integer[]): number
---@return table
function M.make(shape, f)
  local values = {}
  for i = 1, M.count(shape) do
    values[i] = f(M.coordinates(shape, i - 1))
  end
  return { shape = shape, values = values }
end

--- The shape that two shapes broadcast to, or nil.
---@param a integer[]
---@param b integer[]
---@return integer[]?
function M.broadcast(a, b)
  local shape = {}
  local rank = math.max(#a, #b)
  for axis = 1, rank do
    local x, y = a[axis - rank + #a] or 1, b[axis - rank + #b] or 1
    if x ~= y and x ~= 1 and y ~= 1 then
      return nil
    end
    shape[axis] = x == 1 and y or x
  end
  return shape
end

--- f of two arrays, element by element, broadcast.
---@param f fun(x: number, y: number): number
---@param a table
---@param b table
---@return table
function M.map2(f, a, b)
  return M.make(M.broadcast(a.shape, b.shape), function(at)
    return f(M.get(a, at), M.get(b, at))
  end)
end

--- Reduce lists of elements along an axis, or of all elements if it is nil.
---@param f fun(values: number[]): number
---@param a table
---@param axis integer? from 1
---@param keep boolean? keep the axis with size 1
---@return table
function M.reduce(f, a, axis, keep)
  local shape = {}
  for i, size in ipairs(a.shape) do
    if axis and i ~= axis then
      shape[#shape + 1] = size
    elseif keep then
      shape[#shape + 1] = 1
    end
  end
  return M.make(shape, function(at)
    if not axis then
      return f(a.values)
    end
    local from = table.move(at, 1, #at, 1, {})
    if not keep then
      table.insert(from, axis, 0)
    end
    local values = {}
    for i = 0, a.shape[axis] - 1 do
      from[axis] = i
      values[i + 1] = M.get(a, from)
    end
    return f(values)
  end)
end

--- [..., m, k] times [..., k, n] from the definition.
---@param a table
---@param b table
---@return table
function M.matmul(a, b)
  local ra, rb = #a.shape, #b.shape
  local shape = M.broadcast(table.move(a.shape, 1, ra - 2, 1, {}),
    table.move(b.shape, 1, rb - 2, 1, {}))
  local inner = a.shape[ra]
  shape[#shape + 1] = a.shape[ra - 1]
  shape[#shape + 1] = b.shape[rb]
  return M.make(shape, function(at)
    local left = table.move(at, 1, #at, 1, {})
    local right = table.move(at, 1, #at, 1, {})
    local sum = 0
    for i = 0, inner - 1 do
      left[#at], right[#at - 1] = i, i
      sum = sum + M.get(a, left) * M.get(b, right)
    end
    return sum
  end)
end

local function same_number(x, y, tolerance)
  return x == y or (x ~= x and y ~= y) or math.abs(x - y) <= tolerance
end

--- Check that a tensor has the shape and, within a tolerance, the values of an array. NaN equals
--- NaN.
---@param expected table
---@param tensor userdata
---@param tolerance number? = 0; absolute
---@param name string? for the message
function M.check(expected, tensor, tolerance, name)
  local actual = M.from(tensor)
  assert.same(expected.shape, actual.shape, name)
  assert.equal(#expected.values, #actual.values, name)
  for i, value in ipairs(expected.values) do
    if not same_number(value, actual.values[i], tolerance or 0) then
      error(("%s: expected %.17g, got %.17g as element %d of [%s]"):format(name or "array", value,
        actual.values[i], i, table.concat(actual.shape, ", ")), 2)
    end
  end
end

--- Check that two tensors have the same shape and differ by at most `tolerance`.
---@param expected userdata
---@param actual userdata
---@param tolerance number
---@param name string? for the message
function M.close(expected, actual, tolerance, name)
  assert.same(expected:shape(), actual:shape(), name)
  if expected:count() == 0 then
    return
  end
  local error_here = (expected:detach():to("float64") - actual:detach():to("float64")):abs():max()
    :item()
  if error_here ~= error_here or error_here > tolerance then
    error(("%s: expected a difference of at most %g, got %g"):format(name or "tensors", tolerance,
      error_here), 2)
  end
end

--- Run a test once for each seed from 1 to `count`; a failure names the seed.
---@param count integer
---@param test fun(seed: integer)
function M.each_seed(count, test)
  for seed = 1, count do
    math.randomseed(seed)
    roper.seed(seed)
    local ok, message = xpcall(test, function(message)
      return type(message) == "string" and debug.traceback(message, 2) or tostring(message)
    end, seed)
    if not ok then
      error(("seed %d: %s"):format(seed, message), 2)
    end
  end
end

--- A random shape of `least` to `most` axes with sizes from 0 (rarely) to `largest`.
---@param least integer
---@param most integer
---@param largest integer
---@return integer[]
function M.random_shape(least, most, largest)
  local shape = {}
  for i = 1, math.random(least, most) do
    shape[i] = math.random(20) == 1 and 0 or math.random(largest)
  end
  return shape
end

--- A random tensor of the shape, rarely packed: permuted, part of a larger one, or expanded.
---@param shape integer[]
---@param dtype string?
---@return userdata
function M.random_layout(shape, dtype)
  local rank = #shape
  local order, stored, grown = {}, {}, {}
  for i = 1, rank do
    table.insert(order, math.random(i), i)
  end
  for i, axis in ipairs(order) do
    grown[i] = math.random(3) == 1 and math.random(3) or 0
    stored[i] = shape[axis] + grown[i]
  end
  local x = roper.randn(stored, dtype)
  local back = {}
  for i, axis in ipairs(order) do
    back[axis] = i
    if grown[i] > 0 then
      x = x:narrow(i, math.random(grown[i] + 1), shape[axis])
    end
  end
  x = rank > 0 and x:permute(back) or x
  for axis = 1, rank do
    if shape[axis] > 0 and math.random(6) == 1 then
      x = x:narrow(axis, 1, 1):expand(shape)
    end
  end
  return x
end

return M
