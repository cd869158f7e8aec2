--- Text of Python: the pieces of exported modules, with only those lines that a model needs.
---
--- A line that ends with "  #? a b; not c" is kept if one of the flags a and b is set and c is not.
--- "@name@" is replaced by a value.
local files = require "roper.system.file"
local paths = require "roper.system.paths"
local tables = require "roper.base.tables"

local M = {}

local FOLDER <const> = paths.LIBRARY .. "/model/pytorch/pieces/"

-- Does one of the groups "a b" or "not a b" hold?
local function holds(group, flags)
  local words = group:match "^not (.*)$" or group
  local any = false
  for word in words:gmatch "%S+" do
    any = any or flags[word] ~= nil
  end
  return any == (words == group)
end

local function is_kept(condition, flags)
  for group in condition:gmatch "%s*([^;]+)" do
    if not holds(group, flags) then
      return false
    end
  end
  return true
end

--- The lines of a text that the flags select, without their conditions.
---@param text string
---@param flags table<string, any> a flag is set if its value is not nil
---@param values? table<string, string> that replace "@name@"
---@return string text
function M.selected(text, flags, values)
  local lines = {}
  for line in text:gsub("\n$", ""):gmatch "([^\n]*)\n?" do
    local kept, condition = line:match "^(.-)  #%? (.*)$"
    local value = values and values[line:match "^@([%w_]+)@$"]
    if value ~= "" and (not condition or is_kept(condition, flags)) then
      lines[#lines + 1] = kept or line
    end
  end
  local result = table.concat(lines, "\n"):gsub("\n+$", "")
  return (result:gsub("@([%w_]+)@", values or {}))
end

--- A piece: a file in the folder `pieces`.
---@param name string
---@param flags table<string, any>
---@param values? table<string, string>
---@return string text
function M.piece(name, flags, values)
  local path = FOLDER .. name .. ".py"
  return M.selected(files.read(path) or error(path .. ": expected a piece of a module, found no "
    .. "file; install roper again", 0), flags, values)
end

--- A value as Python writes it.
---@param value number|string|boolean|table|nil lists become tuples
---@return string text
function M.literal(value)
  if type(value) == "table" then
    local items = tables.map(value, M.literal)
    return ("(%s%s)"):format(table.concat(items, ", "), #items == 1 and "," or "")
  elseif type(value) == "boolean" then
    return value and "True" or "False"
  elseif math.type(value) == "float" then
    local short = ("%.15g"):format(value)
    local text = tonumber(short) == value and short or ("%.17g"):format(value)
    return text:find "[.e]" and text or text .. ".0"
  end
  return value == nil and "None" or type(value) == "string" and ("%q"):format(value)
    or tostring(value)
end

--- Does a text mention a name of Python?
---@param text string
---@param name string such as "rotate" or "self.base"
---@return boolean yes
function M.mentions(text, name)
  return text:find("%f[%w_]" .. name:gsub("%.", "%%.") .. "%f[^%w_]") ~= nil
end

--- A text with its lines indented; empty lines stay empty.
---@param text string
---@param by? string four spaces by default
---@return string text
function M.indented(text, by)
  return (("\n" .. text):gsub("\n([^\n])", "\n" .. (by or "    ") .. "%1"):sub(2))
end

--- Joins parts of a module with two empty lines between them, and drops the imports of modules that
--- no part uses.
---@param parts string[] the first contains the imports
---@return string text
function M.module(parts)
  local rest = table.concat(parts, "\n\n\n", 2)
  local first = parts[1]:gsub("\nimport (%w+)%f[\n]", function(name)
    return not rest:find("%f[%w]" .. name .. "%.") and "" or nil
  end)
  return first .. "\n\n\n" .. rest .. "\n"
end

return M
