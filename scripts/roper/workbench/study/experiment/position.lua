--- The field `position` of experiments: a scheme by name; several joined by "+" in one attention,
--- "rope+alibi"; and one after the other over the layers with ":", "rope:none".
local mutants = require "roper.workbench.study.experiment.mutants"
local position = require "roper.position"
local syntax = require "roper.position.syntax"
local tables = require "roper.base.tables"

local M = {}

--- The fields that schemes are told, each where a scheme takes it.
M.FIELDS = { "rotate", "pairing", "base", "fraction", "value_fraction" }

--- The names there are: schemes, also those that were registered, then mutants.
---@return string[]
function M.names()
  local names = position.list()
  for _, name in ipairs(tables.keys(mutants)) do
    names[#names + 1] = name
  end
  return names
end

--- What the field means.
---@return string
function M.meaning()
  local meaning = "scheme; + joins several in one attention, : goes from layer to layer"
  for _, name in ipairs(tables.keys(mutants)) do
    meaning = ("%s; %s is a mutant: %s"):format(meaning, name, mutants[name].summary)
  end
  return meaning
end

-- The schemes of a value, for each layer in turn.
local function layers_of(value)
  local mutant = mutants[value]
  return syntax.parse(mutant and mutant.position or value, "field position"), mutant
end

--- The first name in a value that no scheme has.
---
--- Errors: the value is a text of another form.
---@param value any
---@return string? name nil if all are known
function M.missing(value)
  if type(value) ~= "string" then
    return tostring(value)
  end
  return position.missing((layers_of(value)))
end

--- Refuse a configuration whose scheme is not there, such as one of somebody's own.
---@param where string for messages
---@param config table
function M.require(where, config)
  local missing = type(config.position) == "string" and M.missing(config.position)
  if missing then
    error(("%s: needs the position scheme %s: register it first, in a file for --load"):format(
      where, missing), 0)
  end
end

-- A scheme with the fields of a configuration that it takes and that say something.
local function options_of(name, config, standards)
  local options, takes = { type = name }, position.takes(name)
  for _, field in ipairs(M.FIELDS) do
    if takes[field] and config[field] ~= standards[field] then
      options[field] = config[field]
    end
  end
  return next(options, next(options)) and options or name
end

--- The position scheme of a configuration, as a Transformer takes it.
---@param config table from `experiment.configure`
---@param standards table the fields where nothing is said
---@return string|table
function M.scheme(config, standards)
  local layers = tables.map(layers_of(config.position), function(joined)
    local parts = tables.map(joined, function(part)
      return options_of(part.type, config, standards)
    end)
    return parts[2] and { type = "join", parts = parts } or parts[1]
  end)
  return layers[2] and layers or layers[1]
end

--- The revisions of the schemes and mutants of a configuration that gave other results in earlier
--- versions: "kerple 2, proportional 2".
---@param config table
---@return string? revisions
function M.revision(config)
  local layers, mutant = layers_of(config.position)
  local revisions = {}
  for _, part in ipairs(tables.joined(table.unpack(layers))) do
    revisions[part.type] = position.revision(part.type)
  end
  revisions[config.position] = mutant and mutant.revision or revisions[config.position]
  local list = {}
  for _, name in ipairs(tables.keys(revisions)) do
    list[#list + 1] = revisions[name] > 1 and ("%s %d"):format(name, revisions[name]) or nil
  end
  return list[1] and table.concat(list, ", ") or nil
end

return M
