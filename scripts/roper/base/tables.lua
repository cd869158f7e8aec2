--- Functions for tables: keys, sets, maps, merging.
local M = {}

local RANKS <const> = { number = 1, string = 2 }

local function is_before(a, b)
  local rank_a, rank_b = RANKS[type(a)] or 3, RANKS[type(b)] or 3
  if rank_a ~= rank_b then
    return rank_a < rank_b
  elseif rank_a < 3 then
    return a < b
  end
  return tostring(a) < tostring(b)
end

--- The distinct keys of tables: sorted numbers, then sorted strings, then others by their text.
---@param ... table
---@return any[]
function M.keys(...)
  local list, seen, is_mixed = {}, {}, false
  for _, one in ipairs { ... } do
    for key in next, one do
      if not seen[key] then
        list[#list + 1], seen[key] = key, true
        is_mixed = is_mixed or type(key) ~= "string"
      end
    end
  end
  table.sort(list, is_mixed and is_before or nil)
  return list
end

--- A set with the entries of a list as keys.
---@param list any[]
---@return table<any, true>
function M.set(list)
  local set = {}
  for _, entry in ipairs(list) do
    set[entry] = true
  end
  return set
end

--- The number of keys of a table.
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
  return table.concat(M.map(M.keys(fields), function(name)
    return ("%s=%s"):format(name, fields[name])
  end), " ")
end

--- The results of a function for each entry of a list, without nils.
---@param list any[]
---@param f fun(entry: any, index: integer): any
---@return any[]
function M.map(list, f)
  local made = {}
  for i, entry in ipairs(list) do
    made[#made + 1] = f(entry, i)
  end
  return made
end

--- The entries of a list that can have holes, without false and nil.
---@param list table
---@return any[] entries
function M.entries(list)
  local last, made = 0, {}
  for key in pairs(list) do
    last = math.type(key) == "integer" and math.max(last, key) or last
  end
  for i = 1, last do
    made[#made + 1] = list[i] or nil
  end
  return made
end

--- The concatenation of lists.
---@param ... any[]
---@return any[]
function M.joined(...)
  local all = {}
  for _, list in ipairs { ... } do
    table.move(list, 1, #list, #all + 1, all)
  end
  return all
end

--- A new table with the fields of tables; later tables override earlier ones.
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
