--- Keys and values of tokens that were seen, so that generation computes each token once.
---
--- Keys and values are rotated when they enter and stay so: attention over the cache rotates only
--- queries and output. All rows end at the same place; a shorter prompt has hidden places before
--- it, and its positions count from its own first token.
local core = require "roper.core"
local attention = require "roper.attention"
local options_of = require "roper.options"

local M = {}

local Cache, Layer = {}, {}
Cache.__index, Layer.__index = Cache, Layer

--- One length a row, each of at least a token.
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

--- Room for the keys and values of a model.
---@param model Transformer
---@param options table batch, length: places a row; lengths: integer[]? of the prompts of a first
---   call with all of them padded at the left to the longest
---@return Cache
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
      values = core.zeros(shape, weight:dtype()) }, Layer)
  end
  return self
end

--- The part of the cache that belongs to layer i.
function Cache:layer(i)
  return self.layers[i]
end

--- Count `time` more places as filled.
function Cache:advance(time)
  self.filled = self.filled + time
end

--- Take in keys and values, rotated, and attend over all places that are filled then.
---@param q tensor [batch, heads, time, features], of tokens that follow those in the cache
---@param k tensor
---@param v tensor
---@param module MultiHeadAttention
---@return tensor [batch, heads, time, features]
function Layer:attend(q, k, v, module)
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
  return (attention.attention(q, self.keys:narrow(3, 1, total), self.values:narrow(3, 1, total), {
    position = scheme and scheme:only "qo",
    query_positions = positions,
    causal = module.causal,
    mask = cache.mask and cache.mask:narrow(4, 1, total),
  }))
end

return M
