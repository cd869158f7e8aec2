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

--- How many keys a table has.
---@param one table
---@return integer
function M.count(one)
  local count = 0
  for _ in next, one do
    count = count + 1
  end
  return count
end

--- Fields as text, sorted: "letters=26 seed=1".
---@param fields table
---@return string
function M.text(fields)
  local parts = {}
  for i, name in ipairs(M.keys(fields)) do
    parts[i] = ("%s=%s"):format(name, fields[name])
  end
  return table.concat(parts, " ")
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
