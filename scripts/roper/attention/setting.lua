--- Applies a position scheme to the options of attention, for fast and eager attention.
local checked = require "roper.attention.checked"
local core = require "roper.core"
local format = require "roper.text.format"
local own_options = require "roper.attention.options"
local options_of = require "roper.options.rows"
local positions_of = require "roper.position.positions"
local schemes = require "roper.position.scheme"
local tables = require "roper.base.tables"
local turn_of = require "roper.attention.turn"

local M = {}

--- A call of attention with a Scheme, which is defined by methods.
---@class Setting
---@field options table for the core: the given ones with bias and scale, without position
---@field scheme Scheme
---@field positions Positions
---@field biases (BiasByDistance|tensor)[] those of the options, then those of the scheme
---@field scale number
---@field input? tensor the input of the layer
---@field features table<string, integer> number of features of each part
---@field turns table<string, table|false> the rotations found so far
---@field given_scores? tensor those of the scheme, in place of products of queries and keys
---@field capped_scores? tensor those with a soft cap
---@field query_scale? tensor factors of the scores
local Setting = {}
Setting.__index = Setting

-- Appends the biases of a scheme to a list.
local function add_bias(list, scheme, sizes, q, k, positions, x)
  local found = scheme:bias(q, k, positions, x)
  for _, c in ipairs(type(found) == "table" and not found.bias and found or { found }) do
    list[#list + 1] = checked.bias(scheme, c, q:dtype(), sizes)
  end
  if found == nil then
    error(("position: %s: bias: expected a tensor, got nil"):format(scheme.name), 0)
  end
end

local MOST_BIASES <const> = 4 -- that the core adds

-- Biases as the core takes them: the last ones of too many are added up.
local function few(positions, list)
  while #list > MOST_BIASES do
    local last = positions:expanded(table.remove(list))
    list[#list] = positions:expanded(list[#list]) + last
  end
  return list
end

-- The mask of the options combined with that of the scheme, with at least one axis.
local function mask_of(scheme, positions, given, sizes)
  if given ~= nil then
    given = checked.tensor("attention: mask", given, "int32", sizes)
    given = given:rank() == 0 and given:unsqueeze(1) or given
    positions.mask = given
  end
  local own = scheme.mask and scheme:mask(positions)
  if own == nil then
    return given
  end
  checked.result(scheme, "mask", own, "int32", sizes)
  return given and own:ne(0) * given:ne(0) or own
end

--- Applies a scheme to the options of attention.
---@param scheme Scheme
---@param q tensor [batch, heads, queries, d]
---@param k tensor [batch, heads, keys, d]
---@param given AttentionOptions
---@param v? tensor [batch, heads, keys, dv]; nil if only weights are computed
---@return Setting
function M.new(scheme, q, k, given, v)
  checked.heads("k", k)
  if v ~= nil then
    checked.heads("v", v)
  end
  local scale = given.scale or scheme.scale and scheme:scale(q:size(4)) or q:size(4) ^ -0.5
  local positions, x = positions_of.new(q, k, given, scale), given.input
  local self = setmetatable({ scheme = scheme, positions = positions, scale = scale, biases = {},
    options = own_options.core("attention", given), input = x, turns = {}, features = {
    q = q:size(4), k = k:size(4), v = v and v:size(4), o = v and v:size(4) } }, Setting)
  local sizes = { q:size(1), q:size(2), positions.queries, positions.keys }
  positions.mask = mask_of(scheme, positions, given.mask, sizes)
  self.options.mask = positions.mask
  for i, c in ipairs(self.options.bias) do
    self.biases[i] = c:rank() == 5 and { bias = c, first = self.options.first[i] } or c
  end
  if scheme.bias then
    add_bias(self.biases, scheme, sizes, q, k, positions, x)
  end
  if scheme.scores then
    if self:turn "q" or self:turn "k" then
      error(("position: %s: expected a scheme that rotates queries and keys or replaces the "
        .. "scores, got both"):format(scheme.name), 0)
    end
    self.given_scores = checked.result(scheme, "scores", scheme:scores(q, k, positions, x),
      q:dtype(), sizes, true)
  end
  self.query_scale = scheme.query_scale and checked.result(scheme, "query_scale",
    scheme:query_scale(q, positions, x), q:dtype(), { sizes[1], sizes[2], sizes[3], 1 })
  self.options.scale, self.options.bias, self.options.first = scale, {}, {}
  if given.softcap then
    self.capped_scores = (self:products(q, k) / given.softcap):tanh() * given.softcap
  end
  local scores = self:has_scores() and { self:products(q, k) } or {}
  for i, c in ipairs(few(positions, tables.joined(scores, self.biases))) do
    local by_distance = type(c) == "table"
    self.options.bias[i] = by_distance and c.bias or c
    self.options.first[i] = by_distance and c.first or 0
  end
  return self
end

--- The rotation of a part of attention; nil if it is not rotated.
---@param part "q"|"k"|"v"|"o"
---@return table? turn a rotary, or a table with `rotate` and `unrotate`
function Setting:turn(part)
  if self.turns[part] == nil then
    self.turns[part] = turn_of.of(self.scheme, part, self.positions, self.input,
      self.features[part]) or false
  end
  return self.turns[part] or nil
end

--- Queries or scores, multiplied by the factors of the scheme for each query.
---@param x tensor [batch, heads, queries, n]
---@return tensor
function Setting:scaled(x)
  return self.query_scale and x * self.query_scale or x
end

--- Are the scores other ones than the products of queries and keys that the core computes?
---@return boolean yes
function Setting:has_scores()
  return self.capped_scores ~= nil or self.given_scores ~= nil
end

--- The scores of all queries and keys, without biases and mask.
---@param q tensor [batch, heads, queries, d]
---@param k tensor [batch, heads, keys, d]
---@return tensor s broadcast to [batch, heads, queries, keys]
function Setting:products(q, k)
  return self.capped_scores or self.given_scores and self:scaled(self.given_scores)
    or self:turned("q", q):matmul(self:turned("k", k):transpose(3, 4)) * self.scale
end

--- Queries and keys as the core multiplies them: rotated, or with the product 0 if the scores are
--- other ones.
---@param q tensor [batch, heads, queries, d]
---@param k tensor [batch, heads, keys, d]
---@return tensor q
---@return tensor k
function Setting:factors(q, k)
  if not self:has_scores() then
    return self:turned("q", q), self:turned("k", k)
  end
  local function zeros(x)
    return core.zeros({ x:size(1), x:size(2), x:size(3), 1 }, x:dtype())
  end
  return zeros(q), zeros(k)
end

-- x, rotated by a rotary, by angles or by a map, which may change the number of features.
local function mapped(self, turn, method, x, at, part)
  local y = turn[method](turn, x, at, part)
  if schemes.is_rotary(turn) or turn.by_angles then
    return y
  end
  local features = format.is_tensor(y) and y:rank() == 4 and y or x
  return checked.result(self.scheme, method, y, x:dtype(),
    { x:size(1), x:size(2), x:size(3), features:size(4) }, true)
end

-- Keys or values, rotated by angles. A cache keeps those of earlier tokens.
local function rotated_with_cache(turn, part, x, state)
  local all, time = state.rotated[part], x:size(3)
  local from = all and state.earlier or 0
  if not all then
    all = core.zeros({ x:size(1), x:size(2), state.length, x:size(4) }, x:dtype())
    state.rotated[part] = all
  end
  local new = turn:rotate(x:narrow(3, from + 1, time - from))
  all:narrow(3, from + 1, time - from):copy(new:detach())
  return all:narrow(3, 1, time)
end

--- Rotates queries, keys or values as the scheme does.
---@param part "q"|"k"|"v"
---@param x tensor [batch, heads, time, features]
---@return tensor
function Setting:turned(part, x)
  local turn, state = self:turn(part), self.positions.state
  if part ~= "q" and turn and turn.by_angles and state then
    return rotated_with_cache(turn, part, x, state)
  end
  if turn then
    x = mapped(self, turn, "rotate", x, self.positions[part == "q" and "query" or "key"], part)
  end
  return part == "q" and self:scaled(x) or x
end

--- The scores of all queries and keys, without a mask.
---
---     sᵢⱼ = scale (A_i qᵢ) · (B_j kⱼ) + cᵢⱼ
---@param q tensor [batch, heads, queries, d]
---@param k tensor [batch, heads, keys, d]
---@return tensor s broadcast to [batch, heads, queries, keys]
function Setting:scores(q, k)
  local scores = self:products(q, k)
  for _, bias in ipairs(self.biases) do
    scores = scores + self.positions:expanded(bias)
  end
  return scores
end

--- The weighted sum of values that the scheme rotated, or what the scheme puts in its place.
---@param weights tensor [batch, heads, queries, keys]
---@param v tensor [batch, heads, keys, features]
---@return tensor o [batch, heads, queries, features]
function Setting:mixed(weights, v)
  v = self:turned("v", v)
  local scheme = self.scheme
  if not scheme.transport then
    return weights:matmul(v)
  end
  return checked.result(scheme, "transport", scheme:transport(weights, v, self.positions,
    self.input), v:dtype(), { v:size(1), v:size(2), self.positions.queries, v:size(4) }, true)
end

-- What the scheme's `values` returns: a function of distances, and a distance or nil.
local function vectors_of(self)
  local scheme = self.scheme
  local f, reach = scheme:values(self.positions, self.input)
  if options_of.mismatch("callable", f) then
    error(("position: %s: values: expected a function from distances to vectors, got %s"):format(
      scheme.name, options_of.shown(f)), 0)
  elseif reach ~= nil and not math.type(reach) then
    error(("position: %s: values: expected a number as second result, the distance beyond which "
      .. "the vectors do not change, got %s"):format(scheme.name, options_of.shown(reach)), 0)
  end
  return function(distances)
    local y = f(distances)
    if not format.is_tensor(y) then
      error(("position: %s: values: expected a function that returns a tensor, got one that "
        .. "returns %s"):format(scheme.name, options_of.shown(y)), 0)
    end
    return y
  end, reach
end

--- The output plus the terms of the scheme's `values` and `carry`.
---@param o tensor [batch, heads, queries, features]
---@param weights tensor [batch, heads, queries, keys]
---@return tensor
function Setting:carried(o, weights)
  local scheme, positions = self.scheme, self.positions
  if scheme.values then
    o = o + checked.result(scheme, "values", positions:by_weights(weights, (vectors_of(self))),
      o:dtype(), o:shape(), true)
  end
  if scheme.carry then
    o = o + checked.result(scheme, "carry", scheme:carry(weights, positions, self.input),
      o:dtype(), o:shape(), true)
  end
  return o
end

--- Attention and the term of the scheme's `values`, for consecutive positions. It stores only the
--- sums of the weights at each distance.
---@param q tensor
---@param k tensor
---@param v tensor
---@param options table for the core
---@return tensor o [batch, heads, queries, features]
---@return tensor added of the same shape, not rotated back
function Setting:attend(q, k, v, options)
  local vectors, first = self.positions:vectors(vectors_of(self))
  local count, features = vectors:size(2), v:size(4)
  local both = core.attention_sums(q, k, v, options, first, count)
  local o = both:narrow(4, 1, features)
  local added = both:narrow(4, features + 1, count):matmul(vectors)
  return o, checked.result(self.scheme, "values", added, o:dtype(), o:shape(), true)
end

--- Rotates the output back, as the scheme does.
---@param o tensor [batch, heads, queries, features]
---@return tensor
function Setting:turned_back(o)
  local turn = self:turn "o"
  return turn and mapped(self, turn, "unrotate", o, self.positions.query, "o") or o
end

--- The rotary with which the core can apply all rotations itself while it reads its inputs.
---@return boolean all false unless all rotations are those of a single rotary
---@return rotary? rotary nil if nothing is rotated
function Setting:fused()
  if self:has_scores() then
    return false
  end
  local found
  local unrotated = "" -- the parts that are not rotated
  for _, part in ipairs { "q", "k", "v", "o" } do
    local turn = self:turn(part)
    if turn and (not schemes.is_rotary(turn) or found and found ~= turn) then
      return false
    end
    found, unrotated = turn or found, turn and unrotated or unrotated .. part
  end
  if found and unrotated ~= "" and found:options().rotate:find("[" .. unrotated .. "]") then
    return false
  end
  return true, found
end

return M
