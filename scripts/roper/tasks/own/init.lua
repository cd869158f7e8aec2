--- Tasks that users register, by name.
local definitions = require "roper.tasks.own.definition"
local options_of = require "roper.base.options"
local registered = require "roper.base.registered"
local tables = require "roper.base.tables"
local task = require "roper.tasks.own.task"

local M = {}

local by_name = {}

-- The documentation comments of the constructor of a task.
local function comments_of(name, definition)
  local class = ("%sOptions"):format(name)
  local function line(text)
    return (text:gsub("%s+", " "))
  end
  local rows = tables.map(definition.rows, function(row)
    return { row[1], row[2], row[3], line(row[4]) }
  end)
  return ("%s\n--- Creates the task %s%s.\n---@param options? %s\n---@return task task\n"
    .. "function roper.tasks.%s(options)\n"):format(options_of.comment(class, rows), name,
    definition.summary and ": " .. line(definition.summary) or "", class, name)
end

--- Checks a definition and creates its constructor. If the task needs no options, one is created
--- to check its problems.
---
--- Errors: the definition is not valid.
---@param name string
---@param given table as `roper.tasks.register` takes it
---@param mark string after its name in messages: the file that registers it, in parentheses
---@return table definition with make: the constructor
function M.prepare(name, given, mark)
  local where = ("task %s%s"):format(name, mark)
  local definition = definitions.check(where, given)
  definition.where = where
  definition.make = task.constructor(name, definition)
  definition.fields = definitions.options(definition)
  registered.document(definition.make, comments_of(name, definition))
  local needs = tables.map(definition.fields, function(option) return option.required end)
  if not needs[1] then
    definition.make()
  end
  return definition
end

--- Makes a prepared definition known.
---
--- Errors: another file registered the name.
---@param name string
---@param definition table from `prepare`
---@param level integer of the stack; 1 is the caller
function M.add(name, definition, level)
  registered.claim("task", name, level + 1)
  by_name[name] = definition
end

--- The definition of a registered task.
---@param name string
---@return table? definition nil if there is none
function M.find(name)
  return by_name[name]
end

--- The names of the registered tasks.
---@return string[] names
function M.names()
  return tables.keys(by_name)
end

return M
