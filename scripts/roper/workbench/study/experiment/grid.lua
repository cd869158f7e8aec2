--- Configurations of an experiment with every combination of some values of its fields.
local experiment = require "roper.workbench.study.experiment"
local tables = require "roper.base.tables"

local M = {}

-- Maximum number of values in a range.
local MOST_VALUES <const> = 100000

--- Returns the values in a text such as "rope,roper", "1..10" or "1..3,7".
function M.values(field, text)
  local list = {}
  for _, part in ipairs(require("roper.position.syntax").choices(text)) do
    local first, last = part:match "^(-?%d+)%.%.(-?%d+)$"
    if part == "" then
      error(("field %s: expected values with commas between them, got %q"):format(field, text), 0)
    elseif not first then
      list[#list + 1] = part
    else
      first, last = math.tointeger(tonumber(first)), math.tointeger(tonumber(last))
      if not first or not last or last < first then
        error(("field %s: expected a range from a smaller to a larger integer, got %s")
          :format(field, part), 0)
      elseif not math.ult(last - first, MOST_VALUES) then -- unsigned: the difference may overflow
        error(("field %s: expected at most %d values, got %s"):format(field, MOST_VALUES, part), 0)
      end
      for number = first, last do
        list[#list + 1] = number
      end
    end
  end
  return list
end

-- A table without a list, such as {type = "yarn", factor = 4}, is one value.
local function is_list(values)
  return type(values) == "table" and values[1] ~= nil
end

--- Returns every combination of the fields' values. Seeds vary slowest, so that an unfinished sweep
--- has complete pairs; the other fields vary in their order, the last one fastest.
---@param given table[] {field, list of values or one value} each
---@return table[] tables of fields
function M.product(given)
  local ordered = {}
  for _, pair in ipairs(given) do
    table.insert(ordered, pair[1] == "seed" and 1 or #ordered + 1, pair)
  end
  local list = { {} }
  for _, pair in ipairs(ordered) do
    local field, values = pair[1], pair[2]
    local longer = {}
    for _, fields in ipairs(list) do
      for _, value in ipairs(is_list(values) and values or { values }) do
        longer[#longer + 1] = tables.merged({ [field] = value }, fields)
      end
    end
    list = longer
  end
  return list
end

--- Returns the configurations of an experiment with every combination of the fields' values.
---@param name string of the experiment
---@param given table[] as for `product`
---@return table[] configurations
function M.configure(name, given)
  return tables.map(M.product(given), function(fields)
    return experiment.configure(name, fields)
  end)
end

return M
