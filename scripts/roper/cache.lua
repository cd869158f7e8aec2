--- Keys and values of tokens that were seen, so that generation computes each token once.
---
--- Keys and values are rotated when they enter and stay so: attention over the cache rotates only
--- queries and output. All rows end at the same place; a shorter prompt has hidden places before
--- it, and its positions count from its own first token.
local core = require "roper.core"
local attention = require "roper.attention"
local options_of = require "roper.options"

local M = {}

--- Keys and values of tokens that were seen. `Transformer:cache` makes it.
---@class Cache
---@field batch integer rows
---@field length integer places in a row
---@field filled integer places in use
---@field positions tensor [batch, length], float64
---@field mask? tensor [batch, 1, 1, length], 0 before a shorter prompt
---@field layers CacheLayer[]
local Cache = { name = "Cache" }
Cache.__index = Cache

--- The part of a cache that belongs to one layer.
---@class CacheLayer
---@field cache Cache
---@field keys tensor [batch, heads, length, features], turned as the scheme says
---@field values tensor [batch, heads, length, features], turned as the scheme says
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
  for i, layer in ipairs(model.layers) do
    local projection, heads = layer.attention, layer.attention.heads
    local weight = projection.key.weight
    local shape = { o.batch, heads, o.length, weight:size(1) // heads }
    self.layers[i] = setmetatable({ cache = self, keys = core.zeros(shape, weight:dtype()),
      values = core.zeros(shape, weight:dtype()) }, CacheLayer)
  end
  return self
end

--- The part that belongs to a layer.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > cache = model:cache{batch = 1, length = 10}
---     > cache:layer(1).keys:shape()
---     {1, 2, 10, 4}
---@param i integer from 1
---@return CacheLayer layer
function Cache:layer(i)
  return self.layers[i]
end

--- Count more places as filled.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > cache = model:cache{batch = 1, length = 10}
---     > cache:advance(2)
---     > cache.filled
---     2
---@param time integer how many
function Cache:advance(time)
  self.filled = self.filled + time
end

--- Take in keys and values, turned, and attend over all places that are filled then.
---
--- Errors: another number of rows, more tokens than there is room for.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > cache = model:cache{batch = 1, length = 10}
---     > q = roper.ones{1, 2, 3, 4}
---     > cache:layer(1):attend(q, q, q, model.layers[1].attention):shape()
---     {1, 2, 3, 4}
---@param q tensor [batch, heads, time, features], of tokens that follow those in the cache
---@param k tensor [batch, heads, time, features]
---@param v tensor [batch, heads, time, features]
---@param module MultiHeadAttention
---@return tensor output [batch, heads, time, features]
function CacheLayer:attend(q, k, v, module)
  local cache, time = self.cache, q:size(3)
  local total = cache.filled + time
  if q:size(1) ~= cache.batch then
    error(("cache: expected %d rows, got %d"):format(cache.batch, q:size(1)), 0)
  elseif total > cache.length then
    error(("cache: %d places are filled and %d more do not fit its length %d"):format(
      cache.filled, time, cache.length), 0)
  end
  local scheme = module.position
  local positions = cache.positions:narrow(2, cache.filled + 1, time)
  if scheme then
    k, v = scheme:rotate(k, positions, "k"), scheme:rotate(v, positions, "v")
  end
  self.keys:narrow(3, cache.filled + 1, time):copy(k:detach())
  self.values:narrow(3, cache.filled + 1, time):copy(v:detach())
  return attention.attention(q, self.keys:narrow(3, 1, total), self.values:narrow(3, 1, total), {
    position = scheme and scheme:only "qo",
    query_positions = positions,
    causal = module.causal,
    mask = cache.mask and cache.mask:narrow(4, 1, total),
  })
end

return M
