--- Checks, identifies and compares the configurations of runs.
local core = require "roper.core"
local escape = require "roper.base.escape"
local hash = require "roper.base.hash"
local schema = require "roper.options.schema"
local tables = require "roper.base.tables"

local M = {}

local FORM <const> = { experiment = "string", position = "string", seed = "integer",
  steps = "size" }

-- Returns true if a value can be part of a file name and of a line on a terminal.
local function is_name(text)
  return type(text) == "string" and not text:find "/" and not text:find("..", 1, true)
    and escape.line(text) == text
end

--- Returns true if a value from a file is the configuration of an experiment.
function M.is_valid(config)
  if not schema.fits(config, FORM) then
    return false
  end
  for _, value in pairs(config) do
    if type(value) ~= "string" and type(value) ~= "number" and type(value) ~= "boolean" then
      return false
    end
  end
  local position = config.position
  -- Options may contain any text; `file_name` makes a name of it.
  local is_position = is_name(position)
    or position:find "{" and escape.line(position) == position
  return is_name(config.experiment) and is_position and is_name(config.rotate or "")
    and math.type(config.problems or 0) == "integer"
end

--- Returns the hash of a configuration: of its JSON with sorted keys, without fields that are
--- false.
---@param config table
---@return string sixteen hexadecimal digits
function M.hash(config)
  local set = {}
  for name, value in pairs(config) do
    set[name] = value or nil
  end
  return hash.of(core.json_encode(set))
end

--- Returns the fields in which configurations, or other flat tables, differ. A field that is false
--- counts as not set.
---@param configs table[]
---@return string[] varied sorted
---@return string[] common fields with the same value in all, sorted
function M.fields(configs)
  local varied, common = {}, {}
  for _, name in ipairs(tables.keys(table.unpack(configs))) do
    local is_same = true
    for _, config in ipairs(configs) do
      is_same = is_same and (config[name] or nil) == (configs[1][name] or nil)
    end
    table.insert(is_same and common or varied, name)
  end
  return varied, common
end

-- Fields that describe what made a run rather than what it is: they tell runs apart only if no
-- other field does.
local MADE <const> = { loaded = true, origin = true, hash = true }

-- Returns "rate=0.001 steps=20" for some fields of a configuration.
local function text_of(config, names)
  return table.concat(tables.map(names, function(name)
    local value = config[name] or "-"
    return ("%s=%s"):format(name, type(value) == "table" and "{...}" or tostring(value))
  end), " ")
end

-- Returns the number of different texts of configurations.
local function count_texts(configs, names)
  return tables.count(tables.set(tables.map(configs, function(config)
    return text_of(config, names)
  end)))
end

-- Returns the fewest and shortest fields that tell configurations apart as well as all fields do.
local function telling(configs)
  local names = M.fields(configs)
  local all = count_texts(configs, names)
  local order = tables.joined(names)
  table.sort(order, function(a, b) -- those that can be missed most easily first
    if MADE[a] ~= MADE[b] then
      return MADE[a] or false
    end
    return #a > #b or #a == #b and a > b
  end)
  for _, name in ipairs(order) do
    local rest = tables.map(names, function(one) return one ~= name and one or nil end)
    names = count_texts(configs, rest) == all and rest or names
  end
  return names
end

--- Returns what tells configurations apart that look alike: for each, the values of the fewest and
--- shortest fields in which it differs from others with the same values of the fields that are
--- shown anyway, such as "rate=0.001".
---@param configs table[]
---@param shown string[] names of fields
---@return string[] texts "" for a configuration that is like no other
function M.differences(configs, shown)
  local groups, texts = {}, {}
  for i, config in ipairs(configs) do
    local key = text_of(config, shown)
    groups[key] = groups[key] or {}
    table.insert(groups[key], i)
  end
  for _, group in pairs(groups) do
    local these = tables.map(group, function(i) return configs[i] end)
    local names = telling(these)
    for _, i in ipairs(group) do
      texts[i] = text_of(configs[i], names)
    end
  end
  return texts
end

--- Returns the names of trials with the fields in which they differ from others of the same
--- experiment, position and seed, such as "rope-1-9d8d1590 rate=0.001".
---@param trials table[] {name, config} each
---@return string[] labels
function M.labels(trials)
  local differs = M.differences(tables.map(trials, function(trial) return trial.config end),
    { "experiment", "position", "seed" })
  return tables.map(trials, function(trial, i)
    return trial.name .. (differs[i] ~= "" and " " .. differs[i] or "")
  end)
end

return M
