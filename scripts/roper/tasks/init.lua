--- Task types: one constructor each. A task is a stream of rows for training. Tasks with problems
--- are implemented in C (folder `tasks`); `text` reads files.
local arguments = require "roper.base.arguments"
local core = require "roper.core"
local tables = require "roper.base.tables"
local text = require "roper.tasks.text"

local M = tables.merged(core.tasks)

M.text = text.new

-- Options of the tasks that are not implemented in C.
local OPTIONS <const> = { text = text.OPTIONS }

--- The names of all tasks, in alphabetical order.
---
---     > roper.tasks.list()
---     {"addition", "copy", "recall", "substring_index", "substring_prefix", "text"}
---@return string[] names
function M.list()
  local names = tables.joined(core.tasks.list(), tables.keys(OPTIONS))
  table.sort(names)
  return names
end

--- Does a task have problems with questions and answers? All do but `text`, which has only rows.
---
---     > roper.tasks.has_problems "addition", roper.tasks.has_problems "text"
---     true	false
---@param name string one of `list`
---@return boolean yes
function M.has_problems(name)
  return core.tasks[name] ~= nil
end

---@class TaskOption
---@field name string
---@field meaning string
---@field kind? string|string[] the kind of its value, in the form of `options.mismatch`; by default
---   an integer if `smallest` is set, else a boolean
---@field smallest? integer
---@field largest? integer
---@field standard? any the default
---@field required? boolean

--- The options of a task, without the seed.
---
--- Errors: an unknown name; the message suggests the nearest one.
---
---     > roper.tasks.options "addition"
---     {
---       {
---         largest = 1048576,
---         meaning = "tokens in a row",
---         name = "length",
---         smallest = 2,
---         standard = 641
---       },
---       {
---         largest = 18,
---         meaning = "maximum number of digits of an operand",
---         name = "max_digits",
---         smallest = 1,
---         standard = 8
---       },
---       {
---         meaning = "digits of the same significance share a position",
---         name = "coupled",
---         standard = false
---       }
---     }
---@param name string
---@return TaskOption[] options
function M.options(name)
  arguments.check("tasks.options", "name", M.list(), name)
  return OPTIONS[name] or core.tasks.options(name)
end

return M
