--- Kinds of task: each is a function that makes one, a stream of rows to train on. Those that pose
--- problems are C's (`tasks`); text is read from files.
local core = require "roper.core"
local suggest = require "roper.base.suggest"
local tables = require "roper.base.tables"
local text = require "roper.tasks.text"

local M = tables.merged(core.tasks)

M.text = text.new

-- What each kind that is not C's takes.
local OPTIONS <const> = { text = text.OPTIONS }

--- The names of all kinds of task, in the order of the alphabet.
---
---     > roper.tasks.list()
---     {"addition", "copy", "recall", "substring_index", "substring_prefix", "text"}
---@return string[] names
function M.list()
  local names = core.tasks.list()
  for name in pairs(OPTIONS) do
    names[#names + 1] = name
  end
  table.sort(names)
  return names
end

--- Does a kind of task pose problems? Tasks of C do; text has rows alone.
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
---@field kind? string|string[] what it takes, as option tables have it; by default a whole number
---   where it has a smallest one, else a switch
---@field smallest? integer
---@field standard? any what holds where nothing is said
---@field largest? integer
---@field required? boolean

--- What a kind of task can be told, but for the seed.
---
--- Errors: a name that no task has.
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
---         meaning = "most digits of an operand",
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
  local names = M.list()
  for _, known in ipairs(names) do
    if name == known then
      return OPTIONS[name] or core.tasks.options(name)
    end
  end
  error(("tasks.options: expected one of roper.tasks.list(), got %s%s"):format(tostring(name),
    suggest.hint(tostring(name), names)), 2)
end

return M
