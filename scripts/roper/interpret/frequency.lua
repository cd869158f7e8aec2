--- Use of frequencies by heads with rotary positions.
local arguments = require "roper.options.arguments"
local attention_options = require "roper.attention.options"
local core = require "roper.core"
local format = require "roper.text.format"
local options_of = require "roper.options.rows"
local positions = require "roper.position.positions"
local record = require "roper.interpret.record"
local schemes = require "roper.position.scheme"

local M = {}

-- The frequencies of a rotary, with the first and second feature of each pair, from 1.
local function pairs_of_rotary(rotary, dim)
  local o, thetas = rotary:options(), rotary:thetas()
  local count = o.fraction and math.tointeger(o.fraction * dim / 2) or thetas:size(1)
  local first = core.arange(1, count + 1, 1, "int32")
  local second = first + count
  if o.pairing == "interleaved" then
    first = 2 * first - 1
    second = first + 1
  end
  local before = o.last and dim - 2 * count or 0
  return thetas:narrow(1, 1, count), first + before, second + before
end

-- The frequencies, [pairs] or [heads, pairs], that rotate pairs of queries and keys in an attention
-- with a scheme, and the features of each pair; nil if there are none, or if the content of earlier
-- tokens chooses the angles.
local function pairs_of(scheme, call)
  local dim = call.q:size(4)
  if schemes.is_rotary(scheme) then
    local parts = scheme:options().rotate
    if parts:find "q" and parts:find "k" then
      return pairs_of_rotary(scheme, dim)
    end
  elseif schemes.is_scheme(scheme) and scheme.parts then
    for _, part in ipairs(scheme.parts) do
      local thetas, first, second = pairs_of(part, call)
      if thetas then
        return thetas, first, second
      end
    end
  elseif schemes.is_scheme(scheme) and scheme.turns and not scheme.state then
    local at = positions.new(call.q, call.k, call.options, dim ^ -0.5)
    local x = call.options.input
    local of_q, of_k = scheme:turns("q", at, x), scheme:turns("k", at, x)
    if schemes.is_rotary(of_q) and schemes.is_rotary(of_k) then
      return pairs_of_rotary(of_q, dim)
    elseif of_q and of_k and format.is_tensor(scheme.theta) and 2 * scheme.theta:size(-1) == dim
    then -- learned frequencies
      local first = core.arange(1, dim // 2 + 1, 1, "int32")
      return scheme.theta:detach():to "float64", first, first + dim // 2
    end
  end
  return nil
end

-- The mean length of each pair, [heads, pairs].
local function lengths(x, first, second)
  x = x:detach():to "float64"
  local a, b = x:index_select(4, first), x:index_select(4, second)
  local larger = a:abs():maximum(b:abs())
  local scale = core.where(larger:gt(0), larger, 1) -- so that no square overflows
  return (scale * ((a / scale):square() + (b / scale):square()):sqrt()):mean { 1, 3 }
end

--- Returns how much each head uses each frequency of a rotary scheme: the mean length of the pair
--- of features in the queries times that in the keys. It bounds the contribution of the frequency
--- to the scores (Barbero et al. 2024, section 3).
---
---     u_t = mean_i |q_i^t| · mean_j |k_j^t|,   |q_i · R_{j−i} k_j| ≤ Σ_t |q_i^t| |k_j^t|
---
--- It needs schemes that rotate queries and keys with a list of frequencies, such as rope, roper,
--- yarn and learned_frequencies. Layers without such a scheme, and pairs that a layer does not
--- have, are nan.
---
--- Errors: no layer has such a scheme; otherwise as for `by_distance`.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 16, heads = 2}
---     > tokens = roper.tensor({{0, 1, 2, 3}}, "int32")
---     > use, thetas = roper.interpret.by_frequency(model, tokens)
---     > use:shape(), thetas[1][1]
---     {3, 2, 4}
---     float64 [4]
---     1.0000 0.1000 0.0100 0.0010
---@param model Module maps tokens to logits
---@param tokens tensor [batch, time], int32
---@param options? InterpretOptions
---@return tensor use [layers, heads, pairs], float64
---@return tensor thetas [layers, heads, pairs], float64, radians per position
function M.by_frequency(model, tokens, options)
  arguments.check("by_frequency", "model", "module", model, "tokens", "tensor", tokens)
  local o = options_of.check("by_frequency", options, record.OPTIONS)
  local most = 0
  local both = record.attentions("by_frequency", model, tokens, o.positions, function(call)
    local heads, dim = call.q:size(2), call.q:size(4)
    local result = core.full({ 2, heads, dim // 2 }, 0 / 0, "float64")
    local thetas, first, second = pairs_of(attention_options.scheme_of(call.options, call.q), call)
    if thetas then
      local q, k = lengths(call.q, first, second), lengths(call.k, first, second)
      local groups = heads // k:size(1) -- queries of one key, with grouped-query attention
      k = k:unsqueeze(2):expand { k:size(1), groups, k:size(2) }:contiguous():view(q:shape())
      result:narrow(3, 1, q:size(2)):copy(core.cat({ (q * k):unsqueeze(1),
        thetas:expand(q:shape()):unsqueeze(1) }, 1))
      most = math.max(most, q:size(2))
    end
    return result
  end)
  if most == 0 then
    error("by_frequency: expected a scheme that rotates queries and keys with a list of "
      .. "frequencies, such as rope, found none", 0)
  end
  both = both:narrow(4, 1, most)
  return both:narrow(2, 1, 1):squeeze(2):contiguous(), both:narrow(2, 2, 1):squeeze(2):contiguous()
end

return M
