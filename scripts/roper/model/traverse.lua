--- The way through a model: what it is made of, found among the fields of tables.
local format = require "roper.base.format"
local schemes = require "roper.position.scheme"
local tables = require "roper.base.tables"

local M = {}

--- Is it a module, an instance of what `class` made?
---@param value any
---@return boolean
function M.is_module(value)
  local metatable = type(value) == "table" and getmetatable(value)
  return metatable and metatable.is_module == true or false
end

--- Visit all that is below a module, in the order of names, each once: tensors and rotaries, and
--- what holds others: modules, position schemes and plain tables.
---@param module Module
---@param visit fun(path: string, value: any): boolean? with a path such as "layers.1.norm"; true
---   leaves out what is below
function M.walk(module, visit)
  local seen = { [module] = true }
  local function below(holder, prefix)
    for _, name in ipairs(tables.keys(holder)) do
      local value, path = holder[name], prefix .. tostring(name)
      local holds = M.is_module(value) or schemes.is_scheme(value)
        or type(value) == "table" and not getmetatable(value)
      if (holds or format.is_tensor(value) or schemes.is_rotary(value)) and not seen[value] then
        seen[value] = true
        if not visit(path, value) and holds then
          below(value, path .. ".")
        end
      end
    end
  end
  below(module, "")
end

return M
