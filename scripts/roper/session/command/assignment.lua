--- Fields on the command line: `field=value`.
local M = {}

--- `field=value` as a pair, for argparse.
---@param text string
---@return string[]? pair nil and a message where it is none
function M.parse(text)
  local field, value = text:match "^([%a_][%w_]*)=(.*)$"
  if not field then
    return nil, ("expected field=value, got '%s'"):format(text)
  end
  return { field, value }
end

--- Pairs as a table.
---@param list string[][] {field, value} each
---@return table? fields nil and a message where a field is given twice
---@return string? message
function M.fields(list)
  local fields = {}
  for _, pair in ipairs(list) do
    if fields[pair[1]] then
      return nil, ("field '%s' is given twice"):format(pair[1])
    end
    fields[pair[1]] = pair[2]
  end
  return fields
end

return M
