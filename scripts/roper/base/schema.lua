--- Checks tables that were read from files, which anybody may have written.
local options_of = require "roper.base.options"

local M = {}

--- Does a value that was read from JSON have a form?
---@param value any
---@param form string|table a kind of `options.check`, followed by "?" if the value may be missing;
---   {form}: a list of such values, which may be missing; or the forms of an object's fields by
---   name. Other fields are ignored
---@return boolean yes
function M.fits(value, form)
  if type(form) == "string" then
    return not options_of.refusal(form, value)
  elseif form[1] and value == nil then
    return true
  elseif type(value) ~= "table" or (getmetatable(value) ~= nil) ~= (form[1] ~= nil) then
    return false -- decoded arrays have a metatable, objects have none
  end
  for key, one in pairs(form[1] and value or form) do
    if not M.fits(form[1] and one or value[key], form[1] or one) then
      return false
    end
  end
  return true
end

return M
