--- The field `position` of experiments: the name of a scheme, a scheme with options
--- ("yarn{factor=4}"), several schemes in one attention ("rope+alibi"), or a list that repeats over
--- the layers ("rope:none").
local diagnostics = require "roper.text.diagnostics"
local position = require "roper.position"
local registry = require "roper.position.registry"
local scoped = require "roper.base.scoped"
local syntax = require "roper.position.syntax"
local tables = require "roper.base.tables"
local texts = require "roper.position.text"

local M = {}

local WHERE <const> = "field position" -- the start of messages

--- The fields that are passed to each scheme that takes them.
---@type Field[]
M.FIELDS = {
  { "rotate", "letters", false, "letters of qkvo that are rotated, instead of the scheme's own" },
  { "pairing", { "half", "interleaved" }, "half", "which features are rotated together" },
  { "base", "amount", 10000, "base of the frequencies" },
  { "fraction", "share", 1, "share of the features of queries and keys that are rotated" },
  { "value_fraction", "share", 1, "share of the features of values and output that are rotated" },
}

--- The names that the field takes.
M.names = position.list

--- The documentation of the field.
M.MEANING = "scheme; braces set its options, yarn{factor=4}; + joins several in one attention, : "
  .. "gives each layer its own"

-- Returns all schemes of a value.
local function parts_of(value)
  return tables.joined(table.unpack(texts.parse(value, WHERE)))
end

--- Returns the canonical text of a value.
---
--- Errors: an unknown scheme; an option that the scheme does not take, or of another kind.
---@param value string|table
---@return string text
function M.canonical(value)
  return texts.canonical(value, WHERE)
end

--- Returns a text as configurations contain it: canonical, or unchanged if it is no text of known
--- schemes.
---@param text string
function M.as_stored(text)
  local ok, canonical = pcall(M.canonical, text)
  return ok and canonical or text
end

--- Returns true if one of the schemes is wrong on purpose.
---@param value string
---@return boolean yes
function M.is_mutant(value)
  for _, part in ipairs(tables.joined(table.unpack(syntax.parse(value, WHERE)))) do
    local definition = registry.definitions[part.type] -- nil: not registered yet
    if definition and definition.mistake then
      return true
    end
  end
  return false
end

--- Returns the first name in a value that no scheme has.
---
--- Errors: the text does not follow the syntax of schemes.
---@param value any
---@return string? name nil if all are known
function M.missing(value)
  if type(value) ~= "string" and type(value) ~= "table" then
    return tostring(value)
  end
  return position.missing(type(value) == "string" and syntax.parse(value, WHERE) or value)
end

-- Returns a scheme with its options, and with the fields that it takes and that differ from their
-- defaults.
local function options_of(scheme, config)
  local name = scheme.type
  local options, takes = tables.merged(scheme.options, { type = name }), position.takes(name)
  for _, field in ipairs(M.FIELDS) do
    local option, default = field[1], field[3]
    if takes[option] and scheme.given[option] == nil and config[option]
      and config[option] ~= default then
      options[option] = config[option]
    end
  end
  return next(options, next(options)) and options or name
end

--- Returns the position scheme of a configuration in the form that a Transformer takes.
---@param config table from `experiment.configure`
---@return string|table position
function M.scheme(config)
  local layers = tables.map(texts.parse(config.position, WHERE), function(joined)
    local parts = tables.map(joined, function(part) return options_of(part, config) end)
    return parts[2] and { type = "join", parts = parts } or parts[1]
  end)
  return layers[2] and layers or layers[1]
end

-- Raises an error if the schemes of a configuration cannot be created. Restores the random state.
local function try(config)
  local context = { dim = config.head_dim or config.d_model // config.heads, heads = config.heads,
    d_model = config.d_model, length = config.length }
  local layers = M.scheme(config)
  local ok, message = scoped.with_seed(1, function()
    return pcall(function()
      for _, layer in ipairs(type(layers) == "table" and layers[1] and layers or { layers }) do
        position.resolve(layer, context)
      end
    end)
  end)
  if not ok and diagnostics.is_interrupt(message) then
    error(message, 0)
  elseif not ok then
    error(WHERE .. ": " .. diagnostics.without_place(message), 0)
  end
end

--- Completes a configuration whose position has options: a field that one of them sets becomes
--- false, not set.
---
--- Errors: a field and an option have different values; the schemes cannot be created, because
--- options contradict each other or the sizes of the model.
---@param config table is changed
---@param given table the fields that were given
---@param value string|table the position before `canonical`
function M.complete(config, given, value)
  if type(value) == "string" and not value:find "{" then
    return
  end
  for _, scheme in ipairs(tables.joined(table.unpack(texts.layers(value, WHERE)))) do
    for _, field in ipairs(M.FIELDS) do
      local name = field[1]
      local option = scheme.given[name]
      if option ~= nil and given[name] and config[name] and config[name] ~= option then
        error(("field %s: %s is given, but %s=%s in position=%s; set it once"):format(name,
          config[name], name, option, syntax.brief(config.position)), 0)
      end
    end
  end
  for _, scheme in ipairs(parts_of(config.position)) do
    for _, field in ipairs(M.FIELDS) do
      config[field[1]] = (scheme.options or {})[field[1]] == nil and config[field[1]]
    end
  end
  try(config)
end

return M
