--- Checks and compares the configurations of runs.
local escape = require "roper.base.escape"
local schema = require "roper.base.schema"
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

return M
