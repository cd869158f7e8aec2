--- Tables as keys and values, whatever they are for.
local M = {}

--- The keys of tables, sorted, each once.
---@param ... table
---@return any[]
function M.keys(...)
  local list, seen = {}, {}
  for _, one in ipairs { ... } do
    for key in pairs(one) do
      list[#list + 1] = not seen[key] and key or nil
      seen[key] = true
    end
  end
  table.sort(list)
  return list
end

--- A new table with the fields of others, those of later ones in place of earlier ones.
---@param ... table?
---@return table
function M.merged(...)
  local all = {}
  for i = 1, select("#", ...) do
    for name, value in pairs((select(i, ...)) or {}) do
      all[name] = value
    end
  end
  return all
end

return M
