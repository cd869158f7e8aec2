--- The options of attention: their rows, the position scheme in them, and their form for the core.
local format = require "roper.text.format"
local join = require "roper.position.join"
local options_of = require "roper.options.rows"
local position = require "roper.position"
local schemes = require "roper.position.scheme"
local tables = require "roper.base.tables"

local M = {}

local POSITION <const> = { "position", "position?", nil, 'a scheme, its name with any options, '
  .. '"yarn{factor=4}", {type = name, ...}, or names joined by "+"',
  type = "string|table|Scheme|rotary", shown = '"none"' }

--- Options of attention. `input` and `state` are not passed to the core.
M.ROWS = options_of.define("AttentionOptions", {
  parent = "AttentionPositions",
  POSITION,
  { "mask", "tensor?", nil, "int32, broadcast to [batch, heads, Tq, Tk]; 0 hides a key" },
  { "bias", "tensor|table?", nil, "added to the scaled scores, with a gradient; each of floats, "
    .. "broadcast to [batch, heads, Tq, Tk]; a bias with five axes, [batch, heads, Tq, Tk, R], is "
    .. "indexed by distance, clip(j - i - first, 0, R - 1)", type = "tensor|tensor[]" },
  { "first", "integer|table?", nil,
    "distance j - i of the first of the R, for all biases or for each",
    type = "integer|integer[]", shown = "0" },
  { "dropout", "probability", 0, "probability of dropping a weight" },
  { "seed", "integer?", nil, "of the dropout; by default drawn from the global generator" },
  { "scale", "number?", nil,
    "factor of the scores, not 0; by default that of the scheme, or 1 / sqrt(d)" },
  { "softcap", "positive?", nil, "largest size of a score before biases and mask: softcap tanh(s / "
    .. "softcap), as in Gemma 2; it computes all scores at once", shown = "none" },
  { "weights", "boolean", false, "`attention` also returns the weights" },
  { "input", "tensor?", nil, "input of the layer, for schemes that use it; its last size is the "
    .. "d_model of a scheme given by name" },
  { "state", "table?", nil, "what schemes keep for the tokens in a cache", type = "SchemeState" },
})

M.LINEAR_ROWS = options_of.define("LinearAttentionOptions", {
  parent = "AttentionPositions",
  POSITION,
  { "epsilon", "amount", 1e-6, "added to the denominators" },
})

-- The biases of options, and the distance of the first element of each, as lists.
local function given_biases(name, given)
  local biases = type(given.bias) == "table" and given.bias or { given.bias }
  local firsts = type(given.first) == "table" and given.first or nil
  if firsts and #firsts ~= #biases then
    error(("%s: option first: expected one for each of %d biases, got %d"):format(name, #biases,
      #firsts), 0)
  end
  local list = {}
  for i, c in ipairs(biases) do
    list[i] = firsts and firsts[i] or not firsts and given.first or 0
    if not format.is_tensor(c) then
      error(("%s: option bias: expected a tensor, got %s"):format(name, options_of.shown(c)), 0)
    elseif math.type(list[i]) ~= "integer" then
      error(("%s: option first: expected an integer, got %s"):format(name,
        options_of.shown(list[i])), 0)
    end
  end
  return biases, list
end

--- The options for the core.
---@param name string of the function, for messages
---@param given AttentionOptions checked
---@param scheme rotary? replaces the option `position`
---@return table options
function M.core(name, given, scheme)
  local result = tables.merged(given)
  result.position, result.input, result.state, result.softcap = scheme, nil, nil, nil
  result.bias, result.first = given_biases(name, given)
  if given.scale == 0 then -- in the core, 0 means the default
    error(name .. ": option scale: expected a number other than 0, got 0", 0)
  end
  return result
end

-- Cache of rotaries with default options. Its values are weak, so unused rotaries are collected.
local named = setmetatable({}, { __mode = "v" })

-- The scheme in options, with a soft cap a Scheme in any case, since the core has none.
local function with_softcap(scheme, options)
  local is_of_core = options.softcap and not schemes.is_scheme(scheme)
  return is_of_core and join.join { scheme } or scheme
end

--- The scheme in options, created for the shapes of q and of the input of the layer: a rotary of
--- the core, a Scheme, or nil.
---@param options AttentionOptions checked
---@param q tensor
---@return Scheme|rotary|nil
function M.scheme_of(options, q)
  local given = options.position
  if q:rank() ~= 4 then
    return given
  elseif not given then
    return with_softcap(nil, options)
  end
  local dim, heads, x = q:size(4), q:size(2), options.input
  local key = type(given) == "string" and ("%s %d %d"):format(given, dim, heads)
  local scheme = key and named[key] or position.resolve(given, { dim = dim, heads = heads,
    d_model = format.is_tensor(x) and x:rank() == 3 and x:size(3) or nil })
  if key and schemes.is_rotary(scheme) then
    named[key] = scheme
  end
  return with_softcap(scheme, options)
end

return M
