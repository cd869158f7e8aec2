--- Definitions of position schemes by name.
local options_of = require "roper.options.rows"
local schemes = require "roper.position.scheme"
local suggest = require "roper.base.suggest"
local syntax = require "roper.position.syntax"

local M = {}

--- The definitions by name.
---@type table<string, table>
M.definitions = {}

--- The names of all schemes.
---@type string[]
M.names = {}

--- Adds or replaces a definition.
---@param name string
---@param definition table
function M.add(name, definition)
  if not M.definitions[name] then
    M.names[#M.names + 1] = name
  end
  schemes.complete(name, definition)
  M.definitions[name] = definition
end

--- Returns a definition.
---
--- Errors: an unknown name; the message suggests the nearest one.
---@param name any
---@return table definition
function M.find(name)
  local definition = M.definitions[name]
  if not definition then
    error(("position: expected one of %s, got %s%s"):format(table.concat(M.names, ", "),
      options_of.shown(type(name) == "string" and syntax.brief(name) or name),
      suggest.hint(tostring(name), M.names)), 0)
  end
  return definition
end

return M
