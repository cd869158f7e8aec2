--- Checks the fields of tables that were read from untrusted files.
local M = {}

-- Is a value a list of tables that have all the fields?
local function is_list(value, fields)
  if type(value) ~= "table" then
    return false
  end
  for _, entry in ipairs(value) do
    if type(entry) ~= "table" or not M.fits(entry, fields) then
      return false
    end
    for name in pairs(fields) do
      if entry[name] == nil then
        return false
      end
    end
  end
  return true
end

local function is_of(kind, value)
  if type(kind) == "table" then
    return is_list(value, kind)
  end
  return kind == (kind == "integer" and math.type(value) or type(value))
end

--- Do the fields of a table have the right kinds? Missing fields are accepted, except in lists.
---@param content table
---@param fields table<string, string|table> kind by name: "integer", a Lua type, or, for a list of
---   tables, the required fields of its entries
---@return boolean yes
function M.fits(content, fields)
  for name, kind in pairs(fields) do
    local value = content[name]
    if value ~= nil and not is_of(kind, value) then
      return false
    end
  end
  return true
end

return M
