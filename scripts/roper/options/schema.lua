--- Checks tables that were read from untrusted files.
local options_of = require "roper.options.rows"

local M = {}

--- Does a value that was read from JSON match a schema?
---@param value any
---@param schema string|table a kind of `options.mismatch`, followed by "?" if the value may be
---   missing; {schema}: a list of such values, which may be missing; or a table from the names of
---   an object's fields to their schemas. Other fields are ignored
---@return boolean yes
function M.fits(value, schema)
  if type(schema) == "string" then
    return not options_of.refusal(schema, value)
  elseif schema[1] and value == nil then
    return true
  elseif type(value) ~= "table" or (getmetatable(value) ~= nil) ~= (schema[1] ~= nil) then
    return false -- decoded arrays have a metatable, objects have none
  end
  for key, one in pairs(schema[1] and value or schema) do
    if not M.fits(schema[1] and one or value[key], schema[1] or one) then
      return false
    end
  end
  return true
end

return M
