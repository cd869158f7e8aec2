--- Positions of the queries and keys of an attention, and biases computed from them.
---
--- If both are consecutive, a function of the distance is computed once for each distance, and its
--- results are read through a strided view: element (i, j) of the scores reads distance j - i (Dai
--- et al. 2019, appendix B, the "relative shift"). Otherwise, it is computed for each distinct
--- distance.
local arguments = require "roper.base.arguments"
local core = require "roper.core"
local format = require "roper.base.format"
local state_of = require "roper.position.state"

local M = {}

--- The positions of the queries and keys of an attention, passed to the methods of a scheme.
---@class Positions
---@field queries integer number of queries
---@field keys integer number of keys
---@field query tensor [1 or batch, queries], float64; with a third axis if positions have several
---   coordinates
---@field key tensor [1 or batch, keys], like `query`
---@field causal boolean query i sees keys j <= i + keys - queries
---@field scale number factor of the scores
---@field dtype string of the queries
---@field heads integer
---@field shift? number position of the first key minus that of the first query, if queries and keys
---   have consecutive positions in all rows
---@field batch integer
---@field mask? tensor int32, that of the options and of the scheme; 0 hides a key; nil if no key is
---   hidden by one
---@field state? SchemeState what the cache of a layer keeps for `keep`; nil without a cache
---@field kept table<Scheme, table<string, any>> the results of `keep` and `once`
local Positions = { name = "Positions" }
Positions.__index = Positions

local FARTHEST <const> = 2 ^ 53

-- Raises an error for positions that the core would refuse.
local function check(list, batch, time)
  local rank = list:rank()
  if rank ~= 2 and rank ~= 3 or list:size(2) ~= time
    or list:size(1) ~= 1 and list:size(1) ~= batch then
    error(("positions: expected shape [%d], [%d, %d] or [%d, %d, coordinates], got [%s]"):format(
      time, batch, time, batch, time, table.concat(list:shape(), ", ")), 0)
  end
  local largest = list:count() > 0 and list:abs():max():item() or 0
  if not (largest <= FARTHEST) then -- luacheck: ignore 581
    error(("positions: expected finite numbers up to 2^53, got %g"):format(largest), 0)
  end
  return list
end

-- Positions as a float64 tensor [rows, time] or [rows, time, coordinates].
local function rows_of(given, batch, time, first)
  if given == nil then
    return core.arange(first, first + time, 1, "float64"):view { 1, time }
  elseif type(given) == "number" then
    return core.full({ 1, time }, given, "float64")
  end
  if type(given) ~= "table" and not format.is_tensor(given) then
    error("positions: expected a number, a list or a tensor, got " .. type(given), 0)
  end
  local list = type(given) == "table" and core.tensor(given, "float64") or given:to "float64"
  return check(list:rank() == 1 and list:unsqueeze(1) or list, batch, time)
end

-- The distance from the first query to the first key, if the positions of both are consecutive and
-- this distance is the same in all rows; else nil.
local function shift_of(query, key)
  if query:rank() ~= 2 or key:rank() ~= 2 or query:count() == 0 or key:count() == 0 then
    return nil
  end
  local from = query:narrow(2, 1, 1)
  local shift = key:narrow(2, 1, 1) - from
  local function is_consecutive(x, start)
    return (x - core.arange(0, x:size(2), 1, "float64") - start):abs():max():item() == 0
  end
  local first = shift[{ 1, 1 }]:item()
  if (shift - first):abs():max():item() == 0 and is_consecutive(query, from)
    and is_consecutive(key, from + first) then
    return first
  end
  return nil
end

--- The positions in the options of attention.
---@param q tensor [batch, heads, queries, d]
---@param k tensor [batch, heads, keys, d]
---@param o AttentionOptions
---@param scale number
---@return Positions
function M.new(q, k, o, scale)
  local queries, keys, offset = q:size(3), k:size(3), o.offset or 0
  local self = setmetatable({ queries = queries, keys = keys, causal = o.causal or false,
    scale = scale, dtype = q:dtype(), batch = q:size(1), heads = q:size(2), mask = o.mask,
    state = o.state, kept = {} }, Positions)
  local ahead = self.causal and keys - queries or 0
  local of_query, of_key = o.query_positions, o.key_positions
  if o.positions ~= nil then
    if of_query ~= nil or of_key ~= nil then
      error("positions: expected positions, or query_positions and key_positions, got both", 0)
    end
    of_query, of_key = o.positions, o.positions
  end
  self.query = rows_of(of_query, q:size(1), queries, offset + ahead)
  self.key = rows_of(of_key, k:size(1), keys, offset)
  if of_query == nil and of_key == nil then
    self.shift = -ahead
  else
    self.shift = shift_of(self.query, self.key)
  end
  return self
end

-- The result of a scheme's function of distances, in the dtype of the scores.
local function evaluate(self, f, distances)
  local y = f(distances)
  if not format.is_tensor(y) then
    error(("position: expected the function of distances to return a tensor, got %s"):format(
      type(y)), 0)
  end
  return y:to(self.dtype)
end

--- The distance of each key from each query.
---
--- Errors: positions with several coordinates.
---
---     > q, k = roper.zeros{1, 1, 2, 4}, roper.zeros{1, 1, 3, 4}
---     > roper.position.positions(q, k):distances()
---     float64 [1, 1, 2, 3]
---      0  1  2
---     -1  0  1
---@return tensor distance [1 or batch, 1, queries, keys], key minus query
function Positions:distances()
  arguments.self("Positions:distances", self, Positions)
  if self.query:rank() > 2 then
    error("position: distances: expected one number per position, got several coordinates", 0)
  end
  return (self.key:unsqueeze(2) - self.query:unsqueeze(3)):unsqueeze(2)
end

--- The number of positions from the smallest to the largest, for schemes that depend on the length
--- of a text.
---
---     > q = roper.zeros{1, 1, 3, 4}
---     > roper.position.positions(q, q, {offset = 5}):length()
---     3.0
---@return number length 1 + the largest distance in any row; 0 without tokens
function Positions:length()
  arguments.self("Positions:length", self, Positions)
  if self.queries == 0 or self.keys == 0 then
    return 0
  end
  local last = self.query:max(2):maximum(self.key:max(2))
  return (last - self.query:min(2):minimum(self.key:min(2))):max():item() + 1
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
  arguments.self("Positions:vectors", self, Positions)
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
  arguments.self("Positions:by_distance", self, Positions)
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
  arguments.self("Positions:by_query", self, Positions)
  arguments.check("by_query", "q", "tensor", q, "f", "callable", f)
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
  arguments.self("Positions:by_key", self, Positions)
  arguments.check("by_key", "k", "tensor", k, "f", "callable", f)
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
  arguments.self("Positions:expanded", self, Positions)
  if format.is_tensor(c) then
    return c
  end
  arguments.check("expanded", "c", "table", c)
  arguments.check("expanded", "c.bias", "tensor", c.bias, "c.first", "number", c.first)
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
  arguments.self("Positions:by_weights", self, Positions)
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

--- The values that a scheme computes from the input of the layer, for all keys. They are computed
--- once for each call of attention; a cache keeps those of earlier tokens. Use it for all that a
--- token needs from the tokens before it.
---
--- In a batch of prompts of different lengths, the values of padding are 0.
---
--- Errors: a name that is not in the scheme's `state`; attention that is not causal; no input, or
--- one without a token for each key that the cache does not hold; values of another shape.
---
---     > roper.position.register("shown", {
---     >>   state = {"size"},
---     >>   bias = function(self, q, k, positions, x)
---     >>     local size = positions:keep(self, "size", x, function() return x:sum(3) end)
---     >>     return size:view{-1, 1, 1, positions.keys}
---     >>   end})
---     > q, x = roper.zeros{1, 1, 2, 4}, roper.tensor{{{0}, {3}}}
---     > roper.attention_weights(q, q, {position = "shown", input = x, causal = true})[1][1]
---     float32 [2, 2]
---     1.0000 0.0000
---     0.0474 0.9526
---@param scheme Scheme
---@param name string one of the names in its `state`
---@param x? tensor [batch, time, d_model], the input of the layer: one token for each key, or with
---   a cache for each new token
---@param compute fun(before: tensor?): tensor from the values of earlier tokens [batch, earlier,
---   ...] to those of the tokens of x [batch, time, ...]; `before` is nil if there are none
---@return tensor values [batch, keys, ...]
function Positions:keep(scheme, name, x, compute)
  arguments.self("Positions:keep", self, Positions)
  arguments.check("keep", "scheme", "table", scheme, "name", "string", name, "x", "any?", x,
    "compute", "callable", compute)
  return state_of.keep(self, scheme, name, x, compute)
end

--- The result of a function, computed once for each call of attention. A scheme that returns the
--- same tensor of angles for several parts has its cosines and sines computed once.
---
---     > q = roper.zeros{1, 1, 2, 4}
---     > scheme, positions = {}, roper.position.positions(q, q)
---     > positions:once(scheme, "two", function() print "computed" return 2 end)
---     computed
---     2
---     > positions:once(scheme, "two", function() print "computed" return 2 end)
---     2
---@param scheme Scheme
---@param name string not one of its `state`
---@param compute fun(): any
---@return any result
function Positions:once(scheme, name, compute)
  arguments.self("Positions:once", self, Positions)
  arguments.check("once", "scheme", "table", scheme, "name", "string", name, "compute",
    "callable", compute)
  local known = self.kept[scheme] or {}
  self.kept[scheme] = known
  if known[name] == nil then
    known[name] = compute()
  end
  return known[name]
end

--- Running sums, along the text, of values that a scheme computes from the input of the layer.
---
---     yⱼ = Σ_{t<=j} step_t
---
--- Errors: as for `keep`.
---
---     > roper.position.register("summed", {
---     >>   state = {"sum"},
---     >>   bias = function(self, q, k, positions, x)
---     >>     local sums = positions:accumulate(self, "sum", x, function() return x:sum(3) end)
---     >>     return sums:view{-1, 1, 1, positions.keys}:to(q:dtype())
---     >>   end})
---     > q, x = roper.zeros{1, 1, 2, 4}, roper.ones{1, 2, 3}
---     > roper.attention_weights(q, q, {position = "summed", input = x, causal = true})[1][1]
---     float32 [2, 2]
---     1.0000 0.0000
---     0.0474 0.9526
---@param scheme Scheme
---@param name string one of the names in its `state`
---@param x? tensor as for `keep`
---@param steps fun(): tensor returns the values of the tokens of x, [batch, time, ...]
---@return tensor sums [batch, keys, ...], float64
function Positions:accumulate(scheme, name, x, steps)
  arguments.self("Positions:accumulate", self, Positions)
  arguments.check("accumulate", "steps", "callable", steps)
  return self:keep(scheme, name, x, function(before)
    local own = steps():to("float64"):cumsum(2)
    return before and own + before:narrow(2, before:size(2), 1) or own
  end)
end

--- The entries of the queries in a tensor with an entry for each key: the last ones.
---
---     > q, k = roper.zeros{1, 1, 2, 4}, roper.zeros{1, 1, 3, 4}
---     > roper.position.positions(q, k):of_queries(roper.tensor{10, 20, 30}, 1)
---     float32 [2]
---     20 30
---@param values tensor
---@param axis integer the axis of the keys
---@return tensor values
function Positions:of_queries(values, axis)
  arguments.self("Positions:of_queries", self, Positions)
  arguments.check("of_queries", "values", "tensor", values, "axis", "integer", axis)
  if self.queries == self.keys then
    return values
  end
  return values:narrow(axis, self.keys - self.queries + 1, self.queries)
end

--- The keys that each query sees: a mask, combined with the causal one if attention is causal.
---
---     > q = roper.zeros{1, 1, 3, 4}
---     > roper.position.positions(q, q, {causal = true}):visible()
---     int32 [3, 3], mask
---     1 0 0
---     1 1 0
---     1 1 1
---@param mask? tensor int32, broadcast to [batch, heads, queries, keys]; 0 hides
---@return tensor? visible int32; `mask` itself if attention is not causal
function Positions:visible(mask)
  arguments.self("Positions:visible", self, Positions)
  if not self.causal then
    return mask
  end
  local key = core.arange(0, self.keys, 1, "float64")
  local last = core.arange(self.keys - self.queries, self.keys, 1, "float64"):view { -1, 1 }
  local seen = key:le(last)
  return mask and seen * mask:ne(0) or seen
end

return M
