--- Tasks that users register, by name.
local definitions = require "roper.tasks.own.definition"
local options_of = require "roper.options.rows"
local registered = require "roper.options.registered"
local tables = require "roper.base.tables"
local sources = require "roper.tasks.own.source"
local task = require "roper.tasks.task"

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
---@return TaskKind kind with make: the constructor
function M.prepare(name, given, mark)
  local kind = definitions.check(name, ("task %s%s"):format(name, mark), given)
  kind.source, kind.has_problems = sources.new, true
  function kind.make(options)
    return task.create(kind, options)
  end
  registered.document(kind.make, comments_of(name, kind))
  local needs = tables.map(kind.rows, function(row)
    return options_of.is_required(row) or nil
  end)
  if not needs[1] then
    kind.make()
  end
  return kind
end

--- Makes a prepared kind known.
---
--- Errors: another file registered the name.
---@param kind TaskKind from `prepare`
---@param level integer of the stack; 1 is the caller
function M.add(kind, level)
  registered.claim("task", kind.name, level + 1)
  by_name[kind.name] = kind
end

--- The kind of a registered task.
---@param name string
---@return TaskKind? kind nil if there is none
function M.find(name)
  return by_name[name]
end

--- The names of the registered tasks.
---@return string[] names
function M.names()
  return tables.keys(by_name)
end

return M
