--- Fields of the objects in tokenizer.json, with their types.
local core = require "roper.core"
local tables = require "roper.base.tables"

local M = {}

--- Raises an error about a field.
---@param where string the start of the message
---@param field string
---@param value any
---@param expected string
function M.refuse(where, field, value, expected)
  error(("%s: %s: expected %s, got %s"):format(where, field, expected,
    core.json_encode(value == nil and core.json_null or value)), 0)
end

-- The value of a field; nil for null.
local function value_of(given, field)
  if given[field] ~= core.json_null then
    return given[field]
  end
end

--- The value if it is an object or a list, and otherwise an empty one.
---@param value any
---@return table object
function M.object(value)
  return type(value) == "table" and value or {}
end

--- A text that is not optional.
---@param given table
---@param field string
---@param where string
---@return string text
function M.text(given, field, where)
  return type(given[field]) == "string" and given[field]
    or M.refuse(where, field, given[field], "a text")
end

--- A text of a list.
---@param given table
---@param field string
---@param choices string[]
---@param where string
---@param default? string without one, the field is required
---@return string text
function M.choice(given, field, choices, where, default)
  local value = value_of(given, field)
  value = value == nil and default or value
  return tables.set(choices)[value] and value
    or M.refuse(where, field, value, "one of " .. table.concat(choices, ", "))
end

--- A boolean.
---@param given table
---@param field string
---@param where string
---@param default? boolean false without one
---@return boolean value
function M.boolean(given, field, where, default)
  local value = value_of(given, field)
  if value ~= nil and type(value) ~= "boolean" then
    M.refuse(where, field, value, "true or false")
  end
  return value or value == nil and default or false
end

--- A list of objects.
---@param given table
---@param field string
---@param where string
---@return table[] list empty without the field
function M.objects(given, field, where)
  local list = value_of(given, field)
  list = list == nil and {} or list
  local is_list = type(list) == "table" and (#list > 0 or next(list) == nil)
  for _, one in ipairs(is_list and list or {}) do
    is_list = is_list and type(one) == "table"
  end
  return is_list and list or M.refuse(where, field, list, "a list of objects")
end

return M
