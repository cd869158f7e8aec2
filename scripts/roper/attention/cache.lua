--- Key/value cache for attention: generation computes each token once.
---
--- A rotary scheme rotates keys and values when they enter the cache; attention over the cache then
--- rotates only queries and output. Prompts of different lengths are padded on the left: padding is
--- hidden by a mask, and positions count from the first token of each prompt.
local arguments = require "roper.options.arguments"
local arity = require "roper.options.arity"
local core = require "roper.core"
local options_of = require "roper.options.rows"
local schemes = require "roper.position.scheme"
local state_of = require "roper.position.state"
local tables = require "roper.base.tables"

local M = {}

--- Keys and values of past tokens. `Transformer:cache` returns it.
---@class Cache
---@field batch integer number of rows
---@field length integer capacity of a row in tokens
---@field filled integer tokens stored in each row, with padding
---@field positions tensor [batch, length], float64
---@field start tensor [batch, 1], float64, the position of the first element of each row
---@field mask? tensor [batch, 1, 1, length], 0 for padding; nil without padding
---@field layers CacheLayer[]
---@field broken? string error message if the cache cannot be used any more
local Cache = { name = "Cache" }
Cache.__index = Cache

--- The part of a cache for one layer.
---@class CacheLayer
---@field cache Cache
---@field taken integer tokens stored in this pass
---@field state table<table, table<string, tensor>> what schemes and modules keep for each token, by
---   name; [batch, length, ...]
---@field rotated table<string, tensor> keys and values, "k" and "v", rotated by angles
---@field keys? tensor [batch, kv_heads, length, features], rotated if the scheme is rotary
---@field values? tensor [batch, kv_heads, length, features], rotated if the scheme is rotary
local CacheLayer = { name = "CacheLayer" }
CacheLayer.__index = CacheLayer

-- Raises an error unless `lengths` has a number from 1 to `length` for each row.
local function check_lengths(o)
  if #o.lengths ~= o.batch then
    error(("cache: lengths: expected one for each of %d rows, got %d"):format(o.batch, #o.lengths),
      3)
  end
  for row = 1, o.batch do
    local length = o.lengths[row]
    if math.type(length) ~= "integer" or length < 1 or length > o.length then
      error(("cache: lengths: expected integers from 1 to %d, got %s"):format(o.length,
        tostring(length)), 3)
    end
  end
end

local OPTIONS <const> = options_of.define("CacheOptions", {
  { "batch", "size", nil, "number of rows" },
  { "length", "size", nil, "capacity of a row in tokens" },
  { "lengths", "table?", nil,
    "of the prompts in the first call, which are padded on the left to the longest; padding is "
      .. "hidden", type = "integer[]" },
})

--- A cache for the keys and values of a model.
---
--- Errors: `lengths` without one number from 1 to `length` for each row.
---@param model Transformer
---@param options CacheOptions
---@return Cache cache
function M.new(model, options)
  local o = options_of.check("cache", options, OPTIONS)
  if o.lengths then
    check_lengths(o)
  end
  local self = setmetatable({ batch = o.batch, length = o.length, filled = 0 }, Cache)
  local longest = 0
  for _, length in ipairs(o.lengths or {}) do
    longest = math.max(longest, length)
  end
  local first = {} -- the position of the first element of each row
  local hidden = false
  for row = 1, o.batch do
    first[row] = o.lengths and o.lengths[row] - longest or 0
    hidden = hidden or first[row] < 0
  end
  local indices = core.arange(0, o.length, 1, "float64")
  self.start = core.tensor(first, "float64"):view { -1, 1 }
  self.positions = indices:view { 1, -1 } + self.start
  self.mask = hidden and self.positions:ge(0):view { o.batch, 1, 1, o.length } or nil
  self.layers = {}
  for i = 1, #model.layers do
    self.layers[i] = setmetatable({ cache = self, taken = 0, state = {}, rotated = {} },
      CacheLayer)
  end
  return self
end

--- Raises an error for a value that is not the layer of a cache.
---@param what string for the message
---@param value any nil is none
function M.check_layer(what, value)
  if value ~= nil and not (type(value) == "table" and value.extend and value.keep) then
    error(("%s: expected the layer of a cache, got %s"):format(what, options_of.shown(value)), 3)
  end
end

--- The part for one layer.
---
--- Errors: in an earlier pass, a layer did not store each token once.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > cache = model:cache{batch = 1, length = 10}
---     > cache:layer(1).taken
---     0
---@param i integer from 1
---@return CacheLayer layer
function Cache:layer(i)
  arguments.check("layer", "i", "integer", i)
  if not self.layers[i] then
    error(("layer: i: expected a layer from 1 to %d, got %d"):format(#self.layers, i), 2)
  end
  if self.broken then
    error("cache: " .. self.broken, 0)
  end
  return self.layers[i]
end

--- Ends a pass: adds its tokens to `filled`. If a layer stored a different number of tokens, marks
--- the cache as broken.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > cache = model:cache{batch = 1, length = 10}
---     > cache:advance(3)
---     > cache.filled, cache:holds(3)            -- no layer stored anything
---     3	false
---@param time integer number of tokens
function Cache:advance(time)
  arguments.check("advance", "time", "integer", time)
  self.filled = self.filled + time
  for i, layer in ipairs(self.layers) do
    if layer.taken ~= time then
      self.broken = self.broken or ("expected layer %d to store %d tokens, got %d; attention must "
        .. "use the cache once in each pass, and no pass may be interrupted; make a new cache")
        :format(i, time, layer.taken)
    end
    layer.taken = 0
  end
end

--- Does every layer store this number of tokens, each token once? If not, results differ from those
--- of a single pass over all tokens.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > cache = model:cache{batch = 1, length = 10}
---     > model(roper.zeros({1, 3}, "int32"), cache);
---     > cache:holds(3), cache:holds(4)
---     true	false
---@param count integer
---@return boolean yes
function Cache:holds(count)
  arguments.check("holds", "count", "integer", count)
  return self.filled == count and not self.broken
end

--- The positions of the next tokens.
---
--- Errors: more tokens than the capacity left.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > model:cache{batch = 1, length = 10}:next_positions(3)
---     float64 [1, 3]
---     0 1 2
---@param time integer number of tokens
---@return tensor positions [batch, time], float64
function Cache:next_positions(time)
  arguments.check("next_positions", "time", "integer", time)
  if self.filled + time > self.length then
    error(("cache: expected at most %d tokens (its length), got %d stored and %d new"):format(
      self.length, self.filled, time), 0)
  end
  return self.positions:narrow(2, self.filled + 1, time)
end

--- Selects rows, as beam search does after each token: row i becomes what row `rows[i]` was. A row
--- may be selected repeatedly, or not at all.
---
--- Errors: an index outside 1 to `batch`; no index; a pass that was interrupted.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > cache = model:cache{batch = 2, length = 10}
---     > model(roper.zeros({2, 3}, "int32"), cache);
---     > cache:select{2, 2, 1}
---     > cache.batch, cache.filled
---     3	3
---@param rows integer[] from 1
function Cache:select(rows)
  arguments.check("select", "rows", "table", rows)
  self:layer(1) -- raises an error if the cache is broken
  for _, row in ipairs(rows) do
    if math.type(row) ~= "integer" or row < 1 or row > self.batch then
      error(("select: rows: expected rows from 1 to %d, got %s"):format(self.batch,
        options_of.shown(row)), 2)
    end
  end
  if #rows == 0 then
    error("select: rows: expected a list of at least one row, got none", 2)
  end
  local index = core.tensor(rows, "int32")
  local function selected(x)
    return x and x:index_select(1, index)
  end
  self.batch, self.start = #rows, selected(self.start)
  self.positions, self.mask = selected(self.positions), selected(self.mask)
  for _, layer in ipairs(self.layers) do
    layer.keys, layer.values = selected(layer.keys), selected(layer.values)
    for _, own in pairs(tables.merged(layer.state, { layer.rotated })) do
      for name, x in pairs(own) do
        own[name] = selected(x)
      end
    end
  end
end

--- Cuts the cache to its first tokens; the next pass continues after them.
---
--- Errors: a number of tokens below 0 or above `filled`; a pass that was interrupted.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > cache = model:cache{batch = 1, length = 10}
---     > model(roper.zeros({1, 3}, "int32"), cache);
---     > cache:crop(1)
---     > cache:next_positions(2)
---     float64 [1, 2]
---     1 2
---@param time integer number of tokens that remain, with padding
function Cache:crop(time)
  arguments.check("crop", "time", "integer", time)
  self:layer(1) -- raises an error if the cache is broken
  if time < 0 or time > self.filled then
    error(("crop: expected from 0 to %d tokens, those of the cache, got %d"):format(self.filled,
      time), 2)
  end
  local rest = self.length - time
  if rest > 0 then
    local indices = core.arange(time, self.length, 1, "float64"):view { 1, -1 }
    self.positions:narrow(2, time + 1, rest):copy(indices + self.start)
  end
  self.filled = time
end

--- The positions of the next tokens, as returned by `Cache:next_positions`.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > cache = model:cache{batch = 1, length = 10}
---     > model(roper.zeros({1, 3}, "int32"), cache);
---     > cache:layer(1):positions(2)
---     float64 [1, 2]
---     3 4
---@param time integer number of tokens
---@return tensor positions [batch, time], float64
function CacheLayer:positions(time)
  arguments.check("positions", "time", "integer", time)
  return self.cache:next_positions(time)
end

-- What the layer keeps for a pass after which it has `total` tokens, as schemes receive it.
local function state_for(self, total)
  local cache = self.cache
  return { earlier = cache.filled, length = cache.length, tensors = self.state,
    rotated = self.rotated, mask = cache.mask and cache.mask:narrow(4, 1, total) }
end

--- Stores values that a module needs for later tokens, as `Positions:keep` does for schemes. In a
--- batch of prompts of different lengths, the values of padding are 0.
---
--- Errors: more tokens than the capacity left.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > cache = model:cache{batch = 1, length = 10}
---     > cache:layer(1):keep(model, "inputs", roper.ones{1, 3, 8}):shape()
---     {1, 3, 8}
---@param owner table the module
---@param name string
---@param new tensor [batch, time, ...], of tokens that follow those in the cache
---@return tensor values [batch, time so far, ...]
function CacheLayer:keep(owner, name, new)
  arguments.check("keep", "owner", "table", owner, "name", "string", name, "new", "tensor", new)
  self:positions(new:size(2)) -- raises an error if there is no room
  return state_of.store(state_for(self, self.cache.filled + new:size(2)), owner, name, new)
end

-- Copies x to `all` after the stored tokens. `all` is allocated on first use.
local function put(cache, all, x)
  local batch, heads, time, features = table.unpack(x:shape())
  all = all or core.zeros({ batch, heads, cache.length, features }, x:dtype())
  all:narrow(3, cache.filled + 1, time):copy(x:detach())
  return all
end

--- Stores keys and values, and returns the arguments of attention: keys and values of all tokens so
--- far, and the options to use with them.
---
--- Errors: a number of rows other than `batch`; more tokens than the capacity left.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > cache = model:cache{batch = 1, length = 10}
---     > k = roper.ones{1, 2, 3, 4}
---     > rope = roper.position.rope{dim = 4}
---     > keys, values, options = cache:layer(1):extend(k, k, rope)
---     > options.causal = true
---     > roper.attention(k, keys, values, options):shape()
---     {1, 2, 3, 4}
---@param k tensor [batch, kv_heads, time, features], of tokens that follow those in the cache
---@param v tensor [batch, kv_heads, time, features]
---@param scheme? Scheme|rotary a rotary rotates keys and values once, when they are stored; other
---   schemes are applied to all of them in each pass
---@return tensor keys [batch, kv_heads, time so far, features], rotated by a rotary
---@return tensor values [batch, kv_heads, time so far, features], rotated by a rotary
---@return AttentionOptions options position, query_positions, key_positions, mask, state
function CacheLayer:extend(k, v, scheme)
  arguments.check("extend", "k", "tensor", k, "v", "tensor", v, "scheme", "scheme|rotary?", scheme)
  local cache, time = self.cache, k:size(3)
  local total = cache.filled + time
  if k:size(1) ~= cache.batch then
    error(("cache: expected %d rows, got %d"):format(cache.batch, k:size(1)), 0)
  end
  local positions = self:positions(time)
  local is_rotary, is_scheme = schemes.is_rotary(scheme), schemes.is_scheme(scheme)
  if is_rotary then
    k, v = scheme:rotate(k, positions, "k"), scheme:rotate(v, positions, "v")
  end
  self.keys, self.values = put(cache, self.keys, k), put(cache, self.values, v)
  self.taken = self.taken + time
  local state = state_for(self, total)
  return self.keys:narrow(3, 1, total), self.values:narrow(3, 1, total), {
    position = is_rotary and scheme:only "qo" or scheme,
    query_positions = positions,
    key_positions = is_scheme and cache.positions:narrow(2, 1, total) or nil,
    state = is_scheme and state or nil,
    mask = state.mask,
  }
end

arity.limit(Cache, "Cache")
arity.limit(CacheLayer, "CacheLayer")

return M
