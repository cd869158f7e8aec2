--- Position schemes: tables with a name and any of the methods below. All methods are optional. The
--- rotary schemes of the core can be used in their place.
---
---     xᵢ  ← embed(x, positions)ᵢ
---     sᵢⱼ = scale query_scaleᵢ (A_i qᵢ) · (B_j kⱼ) + cᵢⱼ
---     oᵢ  = C_i⁻¹ (Σⱼ softmax(s)ᵢⱼ (D_j vⱼ + valuesⱼ₋ᵢ) + carryᵢ)
---
--- `scores` replaces scale (A_i qᵢ) · (B_j kⱼ); `transport` replaces Σⱼ softmax(s)ᵢⱼ vⱼ. Methods
--- that take `x` may compute from the input of the layer.
local arguments = require "roper.options.arguments"
local arity = require "roper.options.arity"
local format = require "roper.text.format"
local options_of = require "roper.options.rows"
local suggest = require "roper.base.suggest"
local tables = require "roper.base.tables"
require "roper.options.native" -- declares RotaryOptions

local M = {}

local Scheme = {}
Scheme.__index = Scheme

local MEMBERS <const> = options_of.define("Scheme", {
  text = "A position scheme, or the definition that `register` takes.",
  { "name", "string", nil, "the name under which it is registered" },
  { "takes", "table?", nil, 'the options with their kinds, as for `options.check`; dim, heads, '
    .. 'd_model and length are filled in if a scheme takes them; the others can be set after its '
    .. 'name, as in "mine{power=2}"' },
  { "init", "function?", nil, "initializes a new scheme, whose options are fields of `self`",
    type = "fun(self: Scheme)" },
  { "embed", "function?", nil, "adds positions [1 or batch, time] to the embeddings [batch, time, "
    .. "d_model], once, before the first layer",
    type = "fun(self: Scheme, x: tensor, positions: tensor): tensor" },
  { "turns", "function?", nil, 'returns the rotation of "q", "k", "v" or "o", where the output '
    .. '"o" is rotated back: angles for `roper.rotate`, [1 or batch, 1 or heads, time, pairs], of '
    .. 'the queries for "q" and "o" and of the keys for "k" and "v" (the angles of a token must '
    .. 'not depend on later tokens); a rotary; a table with methods `rotate` and `unrotate`; or '
    .. 'nil for none',
    type = "fun(self: Scheme, part: string, positions: Positions, x?: tensor): any" },
  { "bias", "function?", nil, "returns a bias or a list of biases, each broadcast to [batch, "
    .. "heads, queries, keys]; q and k are those before rotation, x is the input of the layer",
    type = "fun(self: Scheme, q: tensor, k: tensor, positions: Positions, x?: tensor): any" },
  { "scores", "function?", nil, "returns the scaled scores [batch, heads, queries, keys] before "
    .. "biases, in place of the products of queries and keys",
    type = "fun(self: Scheme, q: tensor, k: tensor, positions: Positions, x?: tensor): tensor" },
  { "query_scale", "function?", nil, "returns factors of the scores before biases, broadcast to "
    .. "[batch, heads, queries, 1]",
    type = "fun(self: Scheme, q: tensor, positions: Positions, x?: tensor): tensor" },
  { "mask", "function?", nil, "returns int32, broadcast to [batch, heads, queries, keys]; 0 hides "
    .. "a key; `positions.mask` is then the mask of the options",
    type = "fun(self: Scheme, positions: Positions): tensor?" },
  { "values", "function?", nil, "returns a function from distances [n] to the vectors [1 or "
    .. "heads, n, dv] that are added to the values, and optionally the distance beyond which "
    .. "these no longer change",
    type = "fun(self: Scheme, positions: Positions, x?: tensor): function, number?" },
  { "carry", "function?", nil, "returns a tensor [batch, heads, queries, dv] that is added to the "
    .. "output; it requires the weights, so attention then computes them explicitly",
    type = "fun(self: Scheme, weights: tensor, positions: Positions, x?: tensor): tensor" },
  { "transport", "function?", nil, "returns the output [batch, heads, queries, dv], in place of "
    .. "the weighted sum of values; attention then computes the weights explicitly",
    type = "fun(self: Scheme, weights: tensor, v: tensor, positions: Positions, "
      .. "x?: tensor): tensor" },
  { "state", "table?", nil, "names of the values that `Positions:keep` keeps for each token in a "
    .. "cache", type = "string[]" },
  { "scale", "function?", nil, "returns the factor of the scores, which is 1 / sqrt(dim) by "
    .. "default", type = "fun(self: Scheme, dim: integer): number" },
  { "decays", "table?", nil, "names of fields whose tensors get weight decay like the weights "
    .. "of linear layers. By default, tensors of a scheme do not decay: they are tables, phases "
    .. "or logarithms of slopes. Modules in fields decay as usual", type = "string[]" },
  { "describe", "function?", nil, "returns a line for the description, such as the effect of an "
    .. "option", type = "fun(self: Scheme): string" },
  { "pytorch", "string?", nil, "its methods in PyTorch, for `export_pytorch`: `forward(self, q, k, "
    .. "v, positions, x)` returns a table of what it changes in attention, or `embed(self, x, "
    .. "positions)` embeddings, as those of the built-in schemes do. Options and trained tensors "
    .. "are fields of `self`; `@scale@` becomes the factor of the scores" },
  { "per_layer", "boolean", false, "each layer has its own scheme, instead of all sharing one" },
  { "mistake", "string?", nil, "what is wrong with it on purpose, for comparison; results name "
    .. "its methods mutants" },
  { "relative", "boolean", false, "true if attention depends on relative positions only" },
  { "formula", "string|function?", nil, "the formula, for descriptions; a function gets the "
    .. "options, such as `rotate`, with their defaults",
    type = "string|fun(options: table): string" },
  { "source", "string?", nil, "paper and equation, for descriptions" },
  { "summary", "string?", nil, "one line, for descriptions and the list of schemes" },
})

-- Methods that a definition may replace.
local METHODS <const> = { parameters = { "parameters", "function" },
  options = { "options", "function" } }

--- Returns rows for the options of a rotary scheme of the core.
---@param rotate string default of the option
---@return OptionRow[] rows in order and by name
function M.rotary_options(rotate)
  local rows, flat = options_of.rows "RotaryOptions", {}
  for i, name in ipairs { "dim", "rotate", "pairing", "base", "fraction", "value_fraction", "last",
    "magnitude" } do
    flat[i] = name == "rotate" and tables.merged(rows.rotate, { [3] = rotate }) or rows[name]
    flat[name] = flat[i]
  end
  return flat
end

--- The options that create the same scheme.
---
---     > roper.position.alibi{heads = 2}:options()
---     {heads = 2, type = "alibi"}
---@return table options with the scheme's name in the field `type`
function Scheme:options()
  return tables.merged({ type = self.name }, self.given)
end

--- The trained tensors of the scheme by name.
---
---     > roper.position.alibi{heads = 2}:parameters()
---     {}
---@return table<string, tensor> parameters
function Scheme:parameters()
  local result = {}
  for name, value in pairs(self) do
    if format.is_tensor(value) and value:is_parameter() then
      result[name] = value
    end
  end
  return result
end

local function text_of(self)
  local parts = {}
  for name, value in pairs(self.given) do
    parts[#parts + 1] = ("%s = %s"):format(name, type(value) == "string" and ("%q"):format(value)
      or type(value) == "table" and "{…}" or tostring(value))
  end
  table.sort(parts)
  return ("%s{%s}"):format(self.name, table.concat(parts, ", "))
end

--- Options with missing ones filled in from defaults.
---@param name string of the scheme, for messages
---@param options table?
---@param defaults table
---@return table
function M.with_defaults(name, options, defaults)
  arguments.check(name, "options", "table?", options)
  return tables.merged(defaults, options)
end

-- Raises an error unless `takes` has the form for `options.check`. Only schemes of this library
-- have rows.
local function check_takes(name, takes)
  for option, rule in pairs(takes) do
    if type(option) ~= "string" then
      error(('position: %s: takes: expected names of options with their kinds, such as {heads = '
        .. '"size"}, got [%s] = %s'):format(name, options_of.shown(option),
        options_of.shown(rule)), 0)
    end
    local kind, default = rule, nil
    if type(rule) == "table" then
      kind, default = rule[1], rule[2]
    end
    local problem = options_of.kind_refusal(kind)
    local refusal = not problem and default ~= nil and options_of.refusal(kind, default)
    if problem or refusal then
      error(("position: %s: takes: option %s: %s%s"):format(name, option,
        refusal and "the default: " or "", problem or refusal), 0)
    end
  end
end

--- Raises an error if a value is not the definition of a scheme.
---@param name string
---@param definition any
function M.check(name, definition)
  if type(definition) ~= "table" then
    error(("position: %s: expected a table of methods, got %s"):format(name,
      options_of.shown(definition)), 0)
  end
  for member, value in pairs(definition) do
    local row = type(member) == "string" and (MEMBERS[member] or METHODS[member])
    if not row then
      error(("position: %s: unknown member %s%s"):format(name, tostring(member),
        suggest.hint(tostring(member), tables.map(MEMBERS, function(one) return one[1] end),
          "a scheme has")), 0)
    end
    local refusal = options_of.refusal(row[2], value)
    if refusal then
      error(("position: %s: %s: %s"):format(name, member, refusal), 0)
    end
  end
  check_takes(name, definition.takes or {})
end

-- Tensors of schemes that are exempt from weight decay.
local exempt = setmetatable({}, { __mode = "k" })

--- Records which tensors of a scheme get weight decay. Call it again after replacing tensors.
--- Modules in fields are not affected: their weights decay like those of any module.
---@param scheme Scheme
function M.note_decay(scheme)
  local decays, seen = tables.set(scheme.decays or {}), {}
  local function note(value, is_exempt)
    if format.is_tensor(value) then
      exempt[value] = is_exempt or nil
    elseif type(value) == "table" and not getmetatable(value) and not seen[value] then
      seen[value] = true
      for _, part in pairs(value) do
        note(part, is_exempt)
      end
    end
  end
  for name, value in pairs(scheme) do
    note(value, not decays[name])
  end
end

-- Raises an error if `decays` contains a name that is not a field with tensors.
local function check_decays(scheme)
  for _, name in ipairs(scheme.decays or {}) do
    if type(scheme[name]) ~= "table" and not format.is_tensor(scheme[name]) then
      error(("position: %s: decays: expected names of its tensors, got %s"):format(scheme.name,
        options_of.shown(name)), 0)
    end
  end
end

-- Raises an error if `state` is not a list of names.
local function check_state(scheme)
  local list = scheme.state or {}
  for _, name in ipairs(type(list) == "table" and list or { false }) do
    if type(name) ~= "string" then
      error(("position: %s: state: expected a list of names, got %s"):format(scheme.name,
        options_of.shown(scheme.state)), 0)
    end
  end
end

--- Returns false for tensors that are exempt from weight decay: those of a scheme, unless its field
--- `decays` names them.
---@param tensor tensor
---@return boolean yes
function M.decays(tensor)
  return not exempt[tensor]
end

--- Returns the constructor of a definition.
---@param definition table with `name`
---@return fun(options: table?): Scheme
function M.class(definition)
  local metatable = { __index = setmetatable(definition, Scheme), __name = "scheme",
    __tostring = text_of, is_scheme = true }
  return function(options)
    local given = options_of.check(definition.name, options, definition.takes or {})
    local self = setmetatable(tables.merged(given), metatable)
    self.given = given
    if self.init then
      self:init()
    end
    check_decays(self)
    check_state(self)
    M.note_decay(self)
    return self
  end
end

--- Completes a definition: sets its name and, unless it has one, the function `make`, which creates
--- a scheme from options. In place of methods, a definition may have a function `build`, which
--- creates a scheme from checked options.
---@param name string
---@param definition table its `takes` may have rows, and the name of their `class`, as for
---   `options.define`
function M.complete(name, definition)
  local takes = definition.takes or {}
  local has_rows = takes.class and takes[1] -- a table from names to kinds has no [1]
  definition.takes = has_rows and options_of.define(takes.class, takes) or takes
  definition.name = name
  definition.relative = definition.relative or false
  definition.make = definition.make or definition.build and function(options)
    return definition.build(options_of.check(name, options, definition.takes))
  end or M.class(definition)
end

--- Returns true for a rotary scheme of the core.
---@param value any
---@return boolean
function M.is_rotary(value)
  return type(value) == "userdata" and debug.getmetatable(value).__name == "roper.rotary"
end

--- Returns true for a scheme with methods in Lua.
---@param value any
---@return boolean
function M.is_scheme(value)
  local metatable = type(value) == "table" and getmetatable(value)
  return metatable and metatable.is_scheme == true or false
end

arity.limit(Scheme, "Scheme")

return M
