--- Keys and values of tokens that were seen, so that generation computes each token once.
---
--- Keys and values are rotated when they enter and stay so: attention over the cache rotates only
--- queries and output. All rows end at the same place; a shorter prompt has hidden places before
--- it, and its positions count from its own first token.
local arguments = require "roper.base.arguments"
local core = require "roper.core"
local options_of = require "roper.base.options"
local schemes = require "roper.position.scheme"

local M = {}

--- Keys and values of tokens that were seen. `Transformer:cache` makes it.
---@class Cache
---@field batch integer rows
---@field length integer places in a row
---@field filled integer places in use
---@field positions tensor [batch, length], float64
---@field mask? tensor [batch, 1, 1, length], 0 before a shorter prompt
---@field layers CacheLayer[]
---@field broken? string what makes it useless
local Cache = { name = "Cache" }
Cache.__index = Cache

--- The part of a cache that belongs to one layer.
---@class CacheLayer
---@field cache Cache
---@field taken integer tokens of this pass
---@field memory table what a scheme keeps from pass to pass
---@field keys? tensor [batch, heads, length, features], turned as the scheme says
---@field values? tensor [batch, heads, length, features], turned as the scheme says
local CacheLayer = { name = "CacheLayer" }
CacheLayer.__index = CacheLayer

-- One length a row, each of at least a token.
local function check_lengths(o)
  if #o.lengths ~= o.batch then
    error(("cache: lengths: expected one for each of %d rows, got %d"):format(o.batch, #o.lengths),
      3)
  end
  for _, length in ipairs(o.lengths) do
    if math.type(length) ~= "integer" or length < 1 or length > o.length then
      error(("cache: lengths: expected whole numbers from 1 to %d, got %s"):format(o.length,
        tostring(length)), 3)
    end
  end
end

---@class CacheOptions
---@field batch integer rows
---@field length integer places in a row
---@field lengths? integer[] of the prompts of a first call with all of them, padded at the left to
---   the longest; what stands before a prompt is hidden

--- Room for the keys and values of a model.
---
--- Errors: lengths that do not fit.
---@param model Transformer
---@param options CacheOptions
---@return Cache cache
function M.new(model, options)
  local o = options_of.check("cache", options, { batch = "size", length = "size",
    lengths = "table?" })
  if o.lengths then
    check_lengths(o)
  end
  local self = setmetatable({ batch = o.batch, length = o.length, filled = 0 }, Cache)
  local longest = 0
  for _, length in ipairs(o.lengths or {}) do
    longest = math.max(longest, length)
  end
  local first = {} -- the position of place 1 in each row
  local hidden = false
  for row = 1, o.batch do
    first[row] = o.lengths and o.lengths[row] - longest or 0
    hidden = hidden or first[row] < 0
  end
  local places = core.arange(0, o.length, 1, "float64")
  self.positions = places:view { 1, -1 } + core.tensor(first, "float64"):view { -1, 1 }
  self.mask = hidden and self.positions:ge(0):view { o.batch, 1, 1, o.length } or nil
  self.layers = {}
  for i = 1, #model.layers do
    self.layers[i] = setmetatable({ cache = self, taken = 0, memory = {} }, CacheLayer)
  end
  return self
end

--- The part that belongs to a layer.
---
--- Errors: in an earlier pass the attention of some layer did not take in each token once.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > cache = model:cache{batch = 1, length = 10}
---     > cache:layer(1).taken
---     0
---@param i integer from 1
---@return CacheLayer layer
function Cache:layer(i)
  arguments.self("Cache:layer", self, Cache)
  if self.broken then
    error("cache: " .. self.broken, 0)
  end
  return self.layers[i]
end

--- Count more places as filled, at the end of a pass.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > cache = model:cache{batch = 1, length = 10}
---     > cache:advance(3)
---     > cache.filled, cache:holds(3)            -- no layer took in anything
---     3	false
---@param time integer how many
function Cache:advance(time)
  arguments.self("Cache:advance", self, Cache)
  arguments.check("advance", "time", "integer", time)
  self.filled = self.filled + time
  for i, layer in ipairs(self.layers) do
    if layer.taken ~= time then
      self.broken = self.broken or ("expected the attention of layer %d to take in %d tokens, got "
        .. "%d: it must use the cache, once in a pass, and no pass may break off"):format(i, time,
        layer.taken)
    end
    layer.taken = 0
  end
end

--- Has every layer taken in so many tokens, each once? If not, what the model made of them is not
--- what it makes of all tokens at once.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > cache = model:cache{batch = 1, length = 10}
---     > model(roper.zeros({1, 3}, "int32"), cache);
---     > cache:holds(3), cache:holds(4)
---     true	false
---@param count integer
---@return boolean yes
function Cache:holds(count)
  arguments.self("Cache:holds", self, Cache)
  return self.filled == count and not self.broken
end

--- The positions of the tokens that come next.
---
--- Errors: more tokens than there is room for.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > model:cache{batch = 1, length = 10}:next_positions(3)
---     float64 [1, 3]
---     0 1 2
---@param time integer how many
---@return tensor positions [batch, time], float64
function Cache:next_positions(time)
  arguments.self("Cache:next_positions", self, Cache)
  arguments.check("next_positions", "time", "integer", time)
  if self.filled + time > self.length then
    error(("cache: %d places are filled and %d more do not fit its length %d"):format(self.filled,
      time, self.length), 0)
  end
  return self.positions:narrow(2, self.filled + 1, time)
end

--- The positions of the tokens that come next.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > cache = model:cache{batch = 1, length = 10}
---     > model(roper.zeros({1, 3}, "int32"), cache);
---     > cache:layer(1):positions(2)
---     float64 [1, 2]
---     3 4
---@param time integer how many
---@return tensor positions [batch, time], float64
function CacheLayer:positions(time)
  arguments.self("CacheLayer:positions", self, CacheLayer)
  return self.cache:next_positions(time)
end

-- The tensor with room for all places, made when it is first needed, with x at the next ones.
local function put(cache, all, x)
  local batch, heads, time, features = table.unpack(x:shape())
  all = all or core.zeros({ batch, heads, cache.length, features }, x:dtype())
  all:narrow(3, cache.filled + 1, time):copy(x:detach())
  return all
end

--- Take in keys and values, turned, and tell what attention is to work on: those of all tokens so
--- far, and the options that go with them.
---
--- Errors: another number of rows, more tokens than there is room for.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > cache = model:cache{batch = 1, length = 10}
---     > k = roper.ones{1, 2, 3, 4}
---     > rope = roper.position.rope{dim = 4}
---     > keys, values, how = cache:layer(1):extend(k, k, rope)
---     > how.causal = true
---     > roper.attention(k, keys, values, how):shape()
---     {1, 2, 3, 4}
---@param k tensor [batch, heads, time, features], of tokens that follow those in the cache
---@param v tensor [batch, heads, time, features]
---@param scheme? Scheme|rotary a rotary turns keys and values once, as they enter; another is
---   asked about all of them in every pass
---@return tensor keys [batch, heads, time so far, features], turned by a rotary
---@return tensor values [batch, heads, time so far, features], turned by a rotary
---@return AttentionOptions options position, query_positions, key_positions, mask, memory
function CacheLayer:extend(k, v, scheme)
  arguments.self("CacheLayer:extend", self, CacheLayer)
  arguments.check("extend", "k", "tensor", k, "v", "tensor", v)
  local cache, time = self.cache, k:size(3)
  local total = cache.filled + time
  if k:size(1) ~= cache.batch then
    error(("cache: expected %d rows, got %d"):format(cache.batch, k:size(1)), 0)
  end
  local positions = self:positions(time)
  local is_rotary, asks = schemes.is_rotary(scheme), schemes.is_scheme(scheme)
  if is_rotary then
    k, v = scheme:rotate(k, positions, "k"), scheme:rotate(v, positions, "v")
  end
  self.keys, self.values = put(cache, self.keys, k), put(cache, self.values, v)
  self.taken = self.taken + time
  return self.keys:narrow(3, 1, total), self.values:narrow(3, 1, total), {
    position = is_rotary and scheme:only "qo" or scheme,
    query_positions = positions,
    key_positions = asks and cache.positions:narrow(2, 1, total) or nil,
    memory = asks and self.memory or nil,
    mask = cache.mask and cache.mask:narrow(4, 1, total),
  }
end

return M
