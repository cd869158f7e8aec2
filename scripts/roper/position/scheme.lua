--- What a position scheme is: a table with a name and any of the methods below. What it lacks is
--- "nothing". A rotary scheme of the core is one as well.
---
---     xᵢ  ← embed(x, positions)ᵢ
---     sᵢⱼ = scale (A_i qᵢ) · (B_j kⱼ) + cᵢⱼ
---     oᵢ  = C_i⁻¹ (Σⱼ softmax(s)ᵢⱼ (D_j vⱼ + valuesⱼ₋ᵢ) + carryᵢ)
local arguments = require "roper.base.arguments"
local format = require "roper.base.format"
local options_of = require "roper.base.options"
local suggest = require "roper.base.suggest"
local tables = require "roper.base.tables"

local M = {}

--- A position scheme, or what one is made from.
---@class Scheme
---@field name string
---@field takes? table option to its kind, as `options.check` has them; dim, heads, d_model and
---   length are filled in where a scheme takes them
---@field init? fun(self: Scheme) makes what it keeps, from the options, which are its fields
---@field embed? fun(self: Scheme, x: tensor, positions: tensor): tensor embeddings
---   [batch, time, d_model] with positions [1 or batch, time] put in, once, before the first layer
---@field turns? fun(self: Scheme, part: string, positions: Positions): table? what turns "q", "k",
---   "v" or "o": a rotary, or a table with `rotate` and `unrotate`
---@field bias? fun(self: Scheme, q: tensor, k: tensor, positions: Positions, x?: tensor): any
---   one or a list of what is added to the scores, which broadcasts to
---   [batch, heads, queries, keys]; q and k not turned, x what the layer was given
---@field values? fun(self: Scheme, positions: Positions): function, number? what is added to the
---   value of a key: from distances [n] to vectors [1 or heads, n, dv], and from how far on these
---   are alike
---@field carry? fun(self: Scheme, weights: tensor, positions: Positions): tensor what is added to
---   the output [batch, heads, queries, dv] from the weights; attention is then the eager one
---@field scale? fun(self: Scheme, dim: integer): number of the products, in place of 1 / sqrt(dim)
---@field decays? string[] fields whose tensors weight decay "of matrices" shrinks, as weights of
---   linear layers; by default none: tables, phases and logarithms of slopes are left alone.
---   Modules among its fields decay as elsewhere
---@field describe? fun(self: Scheme): string a line of its description, such as what an option
---   chose
---@field revision? integer = 1; raise it if the same options come to give other results: results of
---   different revisions are never averaged
---@field per_layer? boolean layers have one each; by default all share one
---@field relative? boolean do scores know the distance alone?
---@field formula? string
---@field source? string
---@field summary? string
local Scheme = {}
Scheme.__index = Scheme

local MEMBERS <const> = { "name", "takes", "init", "embed", "turns", "bias", "values", "carry",
  "scale", "parameters", "options", "describe", "decays", "revision", "per_layer", "relative",
  "formula", "source", "summary" }
local KINDS <const> = { name = "string", takes = "table", decays = "table", revision = "number",
  per_layer = "boolean", relative = "boolean", formula = "string", source = "string",
  summary = "string" }

--- What the rotary schemes of the core take, to their kinds.
M.ROTARY = { dim = "size", rotate = "string?", pairing = "string?", base = "number?",
  fraction = "number?", value_fraction = "number?" }

--- What makes the same scheme again.
---
---     > roper.position.alibi{heads = 2}:options()
---     {heads = 2, type = "alibi"}
---@return table options with `type`, its name
function Scheme:options()
  arguments.self("Scheme:options", self, "scheme")
  return tables.merged({ type = self.name }, self.given)
end

--- Its trained tensors by name.
---
---     > roper.position.alibi{heads = 2}:parameters()
---     {}
---@return table<string, tensor> parameters
function Scheme:parameters()
  arguments.self("Scheme:parameters", self, "scheme")
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

--- Options with what they do not say filled in.
---@param options table?
---@param defaults table
---@return table
function M.with_defaults(options, defaults)
  if options ~= nil and type(options) ~= "table" then
    error("position: expected a table of options, got " .. type(options), 0)
  end
  return tables.merged(defaults, options)
end

--- Refuse what is no definition of a scheme.
---@param name string
---@param definition any
function M.check(name, definition)
  if type(definition) ~= "table" then
    error(("position: %s: expected a table of methods, got %s"):format(name,
      options_of.shown(definition)), 0)
  end
  local known = tables.set(MEMBERS)
  for member, value in pairs(definition) do
    if not known[member] then
      error(("position: %s: unknown member %s%s"):format(name, tostring(member),
        suggest.hint(tostring(member), MEMBERS, "a scheme has")), 0)
    end
    local kind = KINDS[member] or "function"
    if type(value) ~= kind then
      error(("position: %s: %s: expected a %s, got %s"):format(name, member, kind,
        options_of.shown(value)), 0)
    end
  end
end

-- Tensors of schemes that weight decay of matrices leaves alone.
local spared = setmetatable({}, { __mode = "k" })

--- Note which tensors of a scheme decay, also those that took the place of others since. Modules
--- among its fields are left out: their weights decay as those of any module.
---@param scheme Scheme
function M.note_decay(scheme)
  local decays, seen = tables.set(scheme.decays or {}), {}
  local function note(value, is_spared)
    if format.is_tensor(value) then
      spared[value] = is_spared or nil
    elseif type(value) == "table" and not getmetatable(value) and not seen[value] then
      seen[value] = true
      for _, part in pairs(value) do
        note(part, is_spared)
      end
    end
  end
  for name, value in pairs(scheme) do
    note(value, not decays[name])
  end
end

-- Refuse names in `decays` that no field has.
local function check_decays(scheme)
  for _, name in ipairs(scheme.decays or {}) do
    if type(scheme[name]) ~= "table" and not format.is_tensor(scheme[name]) then
      error(("position: %s: decays: expected names of its tensors, got %s"):format(scheme.name,
        options_of.shown(name)), 0)
    end
  end
end

--- Does weight decay of matrices shrink a tensor? Of a scheme's, those that its `decays` names.
---@param tensor tensor
---@return boolean yes
function M.decays(tensor)
  return not spared[tensor]
end

--- A function that makes schemes of a definition from options.
---@param definition table with `name`
---@return fun(options: table?): Scheme
function M.class(definition)
  local metatable = { __index = setmetatable(definition, Scheme), __name = "position",
    __tostring = text_of, is_scheme = true }
  return function(options)
    local given = options_of.check(definition.name, options, definition.takes or {})
    local self = setmetatable(tables.merged(given), metatable)
    self.given = given
    if self.init then
      self:init()
    end
    check_decays(self)
    M.note_decay(self)
    return self
  end
end

--- Give a definition its name and, where it has none, the function `make`, from options to a
--- scheme. Definitions that do not describe an object have `build`, a function of checked options.
---@param name string
---@param definition table
function M.complete(name, definition)
  definition.name, definition.takes = name, definition.takes or {}
  definition.relative = definition.relative or false
  definition.make = definition.make or definition.build and function(options)
    return definition.build(options_of.check(name, options, definition.takes))
  end or M.class(definition)
end

--- Is it a rotary scheme of the core?
---@param value any
---@return boolean
function M.is_rotary(value)
  return type(value) == "userdata" and debug.getmetatable(value).__name == "roper.rotary"
end

--- Is it a scheme made by a class?
---@param value any
---@return boolean
function M.is_scheme(value)
  local metatable = type(value) == "table" and getmetatable(value)
  return metatable and metatable.is_scheme == true or false
end

return M
