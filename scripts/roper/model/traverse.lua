--- Traverses a model: finds its modules and tensors in the fields of tables.
local format = require "roper.text.format"
local schemes = require "roper.position.scheme"
local tables = require "roper.base.tables"

local M = {}

--- Returns true if a value is a module, an instance of a class from `roper.nn.class`.
---@param value any
---@return boolean
function M.is_module(value)
  local metatable = type(value) == "table" and getmetatable(value)
  return metatable and metatable.is_module == true or false
end

--- Visits everything in a module once, in the order of field names: tensors, rotaries, modules,
--- position schemes and plain tables. The last three are traversed too.
---@param module Module
---@param visit fun(path: string, value: any): boolean? called with a path such as "layers.1.norm";
---   if it returns true, the value is not traversed
function M.walk(module, visit)
  local seen = { [module] = true }
  local function below(holder, prefix)
    for _, name in ipairs(tables.keys(holder)) do
      local value = holder[name]
      local is_table = type(value) == "table"
      if (is_table or type(value) == "userdata") and not seen[value] then
        local holds = is_table
          and (not getmetatable(value) or M.is_module(value) or schemes.is_scheme(value))
        if holds or format.is_tensor(value) or schemes.is_rotary(value) then
          local path = prefix .. tostring(name)
          seen[value] = true
          if not visit(path, value) and holds then
            below(value, path .. ".")
          end
        end
      end
    end
  end
  below(module, "")
end

return M
