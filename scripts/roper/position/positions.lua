--- Positions of the queries and keys of an attention, and what a scheme computes for each token.
local arguments = require "roper.options.arguments"
local core = require "roper.core"
local format = require "roper.text.format"
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
---@field given_mask? tensor int32, that of the options alone
---@field state? SchemeState what the cache of a layer keeps for `keep`; nil without a cache
---@field kept table<Scheme, table<string, any>> the results of `keep` and `once`
local Positions = { name = "Positions" }
Positions.__index = Positions
M.Positions = Positions

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
local function rows_of(what, given, batch, time, first)
  if given == nil then
    return core.arange(first, first + time, 1, "float64"):view { 1, time }
  elseif type(given) == "number" then
    return core.full({ 1, time }, given, "float64")
  end
  if type(given) ~= "table" and not format.is_tensor(given) then
    error(("%s: expected a number, a list or a tensor, got %s"):format(what, type(given)), 0)
  end
  for i, item in ipairs(type(given) == "table" and given or {}) do
    if type(item) ~= "number" and type(item) ~= "table" then
      error(("%s: expected numbers, got a %s as element %d"):format(what, type(item), i), 0)
    end
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
---@param name? string = "attention"; of the function, for messages
---@return Positions
function M.new(q, k, o, scale, name)
  local queries, keys, offset = q:size(3), k:size(3), o.offset or 0
  local self = setmetatable({ queries = queries, keys = keys, causal = o.causal or false,
    scale = scale, dtype = q:dtype(), batch = q:size(1), heads = q:size(2), mask = o.mask,
    given_mask = o.mask, state = o.state, kept = {} }, Positions)
  local ahead = self.causal and keys - queries or 0
  local of_query, of_key = o.query_positions, o.key_positions
  if o.positions ~= nil then
    if of_query ~= nil or of_key ~= nil then
      error("positions: expected positions, or query_positions and key_positions, got both", 0)
    end
    of_query, of_key = o.positions, o.positions
  end
  local what = (name or "attention") .. ": option "
  local shared = o.positions ~= nil and "positions"
  self.query = rows_of(what .. (shared or "query_positions"), of_query, q:size(1), queries,
    offset + ahead)
  self.key = rows_of(what .. (shared or "key_positions"), of_key, k:size(1), keys, offset)
  if of_query == nil and of_key == nil then
    self.shift = -ahead
  else
    self.shift = shift_of(self.query, self.key)
  end
  return self
end

-- Which keys some query sees, [1 or batch, 1 or keys], by a mask that broadcasts to the scores.
local function seen_keys(mask)
  local shape = mask:shape()
  for _ = mask:rank() + 1, 4 do
    table.insert(shape, 1, 1)
  end
  return mask:ne(0):view(shape):max(3):max(2)
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
  if self.query:rank() > 2 then
    error("position: distances: expected one number per position, got several coordinates", 0)
  end
  return (self.key:unsqueeze(2) - self.query:unsqueeze(3)):unsqueeze(2)
end

--- The length of the text of each row, for schemes that depend on it: 1 + the largest distance of
--- two keys. Keys that the mask of the options hides from all queries, such as padding, do not
--- count.
---
---     > q, rows = roper.zeros{2, 1, 3, 4}, {{0, 1, 2}, {5, 7, 9}}
---     > roper.position.positions(q, q, {positions = rows}):lengths()
---     float64 [2]
---     3 5
---@return tensor lengths [1 or batch], float64; 0 for a row without keys
function Positions:lengths()
  if self.queries == 0 or self.keys == 0 then
    return core.zeros({ 1 }, "float64")
  end
  local first, last = self.key, self.key
  if self.given_mask then
    local seen = seen_keys(self.given_mask)
    seen = self.key:rank() > 2 and seen:unsqueeze(3) or seen
    first, last = core.where(seen, first, math.huge), core.where(seen, last, -math.huge)
  end
  local lengths = (last:max(2) - first:min(2) + 1):maximum(0)
  return lengths:rank() > 1 and lengths:max(2) or lengths
end

--- The values that a scheme computes from the input of the layer, for all keys. They are computed
--- once for each call of attention; a cache keeps those of earlier tokens. Use it for everything
--- that a token needs from the tokens before it.
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
  arguments.check("once", "scheme", "table", scheme, "name", "string", name, "compute",
    "callable", compute)
  local known = self.kept[scheme] or {}
  self.kept[scheme] = known
  if known[name] == nil then
    known[name] = compute()
  end
  return known[name]
end

--- Running sums, along the text, of values that a scheme computes from the input of the layer. They
--- are computed once for each call of attention. A cache keeps the values, not the sums, so that
--- padding adds 0.
---
---     yⱼ = Σ_{t<=j} step_t
---
--- Errors: as for `keep`.
---
---     > roper.position.register("summed", {
---     >>   state = {"step"},
---     >>   bias = function(self, q, k, positions, x)
---     >>     local sums = positions:accumulate(self, "step", x, function() return x:sum(3) end)
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
  arguments.check("accumulate", "scheme", "table", scheme, "name", "string", name, "x", "any?", x,
    "steps", "callable", steps)
  local all = self:keep(scheme, name, x, function()
    return state_of.checked(scheme, name, steps(), x):to "float64"
  end)
  return self:once(scheme, "sums of " .. name, function() return all:cumsum(2) end)
end

--- The entries of the queries, which are the last ones, in a tensor with an entry for each key.
---
--- Errors: an axis of another size.
---
---     > q, k = roper.zeros{1, 1, 2, 4}, roper.zeros{1, 1, 3, 4}
---     > roper.position.positions(q, k):of_queries(roper.tensor{10, 20, 30}, 1)
---     float32 [2]
---     20 30
---@param values tensor
---@param axis integer the axis of the keys
---@return tensor values
function Positions:of_queries(values, axis)
  arguments.check("of_queries", "values", "tensor", values, "axis", "integer", axis)
  if values:size(axis) ~= self.keys then
    error(("of_queries: values: expected %d on axis %d, one for each key, got %s%s"):format(
      self.keys, axis, format.summary(values), self.state and self.state.earlier > 0
        and "; a cache passes only new tokens, so keep those of earlier ones with positions:keep"
        or ""), 2)
  end
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
  arguments.check("visible", "mask", "tensor?", mask)
  if not self.causal then
    return mask
  end
  local key = core.arange(0, self.keys, 1, "float64")
  local last = core.arange(self.keys - self.queries, self.keys, 1, "float64"):view { -1, 1 }
  local seen = key:le(last)
  return mask and seen * mask:ne(0) or seen
end

return M
