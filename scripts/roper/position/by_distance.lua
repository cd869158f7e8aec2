--- Biases of the scores, and vectors added to values, that depend on the distance of key and query.
---
--- If both are consecutive, a function of the distance is computed once for each distance, and its
--- results are read through a strided view: element (i, j) of the scores reads distance j - i (Dai
--- et al. 2019, appendix B, the "relative shift"). Otherwise, it is computed for each distinct
--- distance.
local arguments = require "roper.options.arguments"
local arity = require "roper.options.arity"
local core = require "roper.core"
local format = require "roper.text.format"
local Positions = require("roper.position.positions").Positions

-- The result of a scheme's function of distances, in the dtype of the scores.
local function evaluate(self, f, distances)
  local y = f(distances)
  if not format.is_tensor(y) then
    error(("position: expected the function of distances to return a tensor, got %s"):format(
      type(y)), 0)
  end
  return y:to(self.dtype)
end

-- The distinct distances and, for each query and key, the index, from 0, of their distance.
local function distinct(self)
  if not self.list then
    local distances = self:distances()
    local list, index_of, index = {}, {}, {}
    for i, distance in ipairs(distances:contiguous():view { -1 }:totable()) do
      if not index_of[distance] then
        list[#list + 1] = distance
        index_of[distance] = #list - 1
      end
      index[i] = index_of[distance]
    end
    self.list = core.tensor(list, "float64")
    self.index = core.tensor(index, "int32"):view(distances:shape())
  end
  return self.list, self.index
end

-- All distances of consecutive positions in increasing order, beginning with that of the last query
-- and the first key; and their number.
local function range(self)
  local count = self.queries + self.keys - 1
  return core.arange(0, count, 1, "float64") + (self.shift - (self.queries - 1)), count
end

--- The vectors for all distances at which a query sees a key; positions must be consecutive.
--- Smaller distances use the first vector, larger ones the last.
---
---     > q = roper.zeros{1, 1, 3, 4}
---     > positions = roper.position.positions(q, q)
---     > vectors, first = positions:vectors(function(distance)
---     >>   return distance:view{1, -1, 1}
---     >> end)
---     > first, vectors:shape()
---     -2	{1, 5, 1}
---@param f fun(distance: tensor): tensor from distances [n], float64, to [1 or heads, n, d]
---@param reach? number distance beyond which f is constant
---@return tensor vectors [1 or heads, R, d]
---@return integer first the difference j - i of the 0-based indices for the first vector
function Positions:vectors(f, reach)
  arguments.check("vectors", "f", "callable", f, "reach", "number?", reach)
  local distance, count = range(self)
  count = math.max(self.causal and self.keys or count, 1)
  local least, most = 0, count - 1
  if reach then
    local first = self.shift - (self.queries - 1)
    least = math.max(0, math.min(most, math.floor(-reach - first)))
    most = math.max(least, math.min(most, math.ceil(reach - first)))
  end
  local near = distance:narrow(1, least + 1, most - least + 1)
  return evaluate(self, f, near), least - (self.queries - 1)
end

--- A bias that has a number for each head and distance.
---
---     cₕᵢⱼ = f(j − i)ₕ
---
---     > q = roper.zeros{1, 1, 3, 4}
---     > positions = roper.position.positions(q, q)
---     > positions:by_distance(function(distance)
---     >>   return -distance:abs():unsqueeze(1)
---     >> end)
---     float32 [1, 3, 3]
---      0 -1 -2
---     -1  0 -1
---     -2 -1  0
---@param f fun(distance: tensor): tensor from distances [n], float64, to [1 or heads, n]
---@return tensor c [1 or heads, queries, keys], or [batch, ...]
function Positions:by_distance(f)
  arguments.check("by_distance", "f", "callable", f)
  if self.shift then
    local distance, count = range(self)
    local b = evaluate(self, f, distance)
    return b:as_strided({ b:size(1), self.queries, self.keys }, { count, -1, 1 }, self.queries - 1)
  end
  local list, index = distinct(self)
  local b = evaluate(self, f, list)
  return core.embedding(b:transpose(1, 2), index:squeeze(2)):permute { 1, 4, 2, 3 }
end

--- A bias indexed by distance: c_ij = bias[i, j, clip(j - i - first, 0, R - 1)] for the 0-based
--- indices i of the query and j of the key.
---@class BiasByDistance
---@field bias tensor [batch, heads, queries or 1, keys or 1, R]
---@field first integer the difference j - i for the first element of the last axis

--- A bias with the product of each query and the vector for each head and distance (Shaw et al.
--- 2018, section 3.2). If positions are consecutive, attention reads it by distance.
---
---     cₕᵢⱼ = qₕᵢ · f(j − i)ₕ
---
---     > q = roper.ones{1, 1, 3, 2}
---     > positions = roper.position.positions(q, q)
---     > c = positions:by_query(q, function(distance)
---     >>   return distance:view{1, -1, 1}:expand{1, distance:count(), 2}
---     >> end)
---     > positions:expanded(c)[1][1]
---     float32 [3, 3]
---      0  2  4
---     -2  0  2
---     -4 -2  0
---@param q tensor [batch, heads, queries, d]
---@param f fun(distance: tensor): tensor from distances [n], float64, to [1 or heads, n, d]
---@param reach? number distance beyond which f is constant
---@return BiasByDistance|tensor c a tensor [batch, heads, queries, keys] unless positions are
---   consecutive
function Positions:by_query(q, f, reach)
  arguments.check("by_query", "q", "tensor", q, "f", "callable", f, "reach", "number?", reach)
  if self.shift then
    local vectors, first = self:vectors(f, reach)
    return { bias = q:matmul(vectors:transpose(2, 3)):unsqueeze(4), first = first }
  end
  local shape = { q:size(1), q:size(2), self.queries, self.keys }
  local list, index = distinct(self)
  return q:matmul(evaluate(self, f, list):transpose(2, 3)):gather(4, (index + 1):expand(shape))
end

--- A bias with the product of each key and the vector for each head and distance.
---
---     cₕᵢⱼ = kₕⱼ · f(j − i)ₕ
---
---     > k = roper.tensor{{{{1}, {2}, {3}}}}
---     > positions = roper.position.positions(k, k)
---     > c = positions:by_key(k, function(distance)
---     >>   return distance:view{1, -1, 1}
---     >> end)
---     > positions:expanded(c)[1][1]
---     float32 [3, 3]
---      0  2  6
---     -1  0  3
---     -2 -2  0
---@param k tensor [batch, heads, keys, d]
---@param f fun(distance: tensor): tensor from distances [n], float64, to [1 or heads, n, d]
---@param reach? number distance beyond which f is constant
---@return BiasByDistance|tensor c as for by_query
function Positions:by_key(k, f, reach)
  arguments.check("by_key", "k", "tensor", k, "f", "callable", f, "reach", "number?", reach)
  if self.shift then
    local vectors, first = self:vectors(f, reach)
    return { bias = k:matmul(vectors:transpose(2, 3)):unsqueeze(3), first = first }
  end
  local shape = { k:size(1), k:size(2), self.queries, self.keys }
  local list, index = distinct(self)
  local across = (index + 1):expand(shape):transpose(3, 4)
  return k:matmul(evaluate(self, f, list):transpose(2, 3)):gather(4, across):transpose(3, 4)
end

--- Expands a bias indexed by distance to all queries and keys. A tensor is returned unchanged.
---
---     > q = roper.zeros{1, 1, 3, 4}
---     > positions = roper.position.positions(q, q)
---     > bias = positions:by_query(q, function(distance)
---     >>   return distance:view{1, -1, 1}:expand{1, distance:size(1), 4}
---     >> end)
---     > positions:expanded(bias):shape()
---     {1, 1, 3, 3}
---@param c BiasByDistance|tensor
---@return tensor c broadcast to [batch, heads, queries, keys]
function Positions:expanded(c)
  if format.is_tensor(c) then
    return c
  end
  arguments.check("expanded", "c", "table", c)
  arguments.check("expanded", "c.bias", "tensor", c.bias, "c.first", "integer", c.first)
  local x, queries, keys = c.bias, self.queries, self.keys
  local distance = core.arange(0, keys, 1, "float64")
    - core.arange(0, queries, 1, "float64"):unsqueeze(2)
  local index = (distance - (c.first - 1)):maximum(1):minimum(x:size(5)):to "int32"
  if x:size(4) == 1 then
    local of_query = x:squeeze(4):expand { x:size(1), x:size(2), queries, x:size(5) }
    return of_query:gather(4, index:expand { x:size(1), x:size(2), queries, keys })
  elseif x:size(3) == 1 then
    local of_key = x:squeeze(3):expand { x:size(1), x:size(2), keys, x:size(5) }
    local across = index:transpose(1, 2):expand { x:size(1), x:size(2), keys, queries }
    return of_key:gather(4, across):transpose(3, 4)
  end
  local of_both = index:unsqueeze(3):expand { x:size(1), x:size(2), queries, keys, 1 }
  return x:gather(5, of_both):squeeze(5)
end

--- The sum, weighted by attention, of the vectors for each head and distance (Shaw et al. 2018,
--- eq. 3).
---
---     Σⱼ aₕᵢⱼ f(j − i)ₕ
---
---     > q = roper.zeros{1, 1, 3, 1}
---     > positions = roper.position.positions(q, q, {causal = true})
---     > a = roper.attention_weights(q, q, {causal = true})
---     > positions:by_weights(a, function(distance)
---     >>   return distance:view{1, -1, 1}
---     >> end)[1][1]
---     float32 [3, 1]
---      0.0000
---     -0.5000
---     -1.0000
---@param a tensor attention weights [batch, heads, queries, keys], 0 for a key that is not seen
---@param f fun(distance: tensor): tensor from distances [n], float64, to [1 or heads, n, d]
---@return tensor y [batch, heads, queries, d]
function Positions:by_weights(a, f)
  arguments.check("by_weights", "a", "tensor", a, "f", "callable", f)
  if not self.shift then
    local list, index = distinct(self)
    local vectors = evaluate(self, f, list)
    local heads, count, features = table.unpack(vectors:shape())
    local rows = core.embedding(vectors:transpose(1, 2):view { count, heads * features },
      index:squeeze(2))
    local each = rows:view { rows:size(1), self.queries, self.keys, heads, features }
    return a:unsqueeze(4):matmul(each:permute { 1, 4, 2, 3, 5 }):squeeze(4)
  end
  local distance, count = range(self)
  count = self.causal and self.keys or count -- later keys have no weight
  local before, after = self.queries - 1, count - self.keys
  local function zeros(size)
    return core.zeros({ a:size(1), self.heads, self.queries, size }, self.dtype)
  end
  local width = before + count
  local shifted = core.cat({ zeros(before), a, zeros(after) }, 4):as_strided(
    { a:size(1), self.heads, self.queries, count },
    { self.heads * self.queries * width, self.queries * width, width + 1, 1 })
  return shifted:matmul(evaluate(self, f, distance:narrow(1, 1, count)))
end

arity.limit(Positions, "Positions")
