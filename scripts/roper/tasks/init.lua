--- Task types: one constructor each. A task is a stream of rows for training. The built-in tasks
--- with problems are implemented in C (folder `tasks`); `text` reads files; `register` adds your
--- own.
local arguments = require "roper.base.arguments"
local core = require "roper.core"
local options_of = require "roper.base.options"
local own = require "roper.tasks.own"
local registered = require "roper.base.registered"
local tables = require "roper.base.tables"
local text = require "roper.tasks.text"

local M = tables.merged(core.tasks)

M.text = text.new
M.random = require("roper.tasks.own.random").random

-- Options of the tasks that are not implemented in C.
local OPTIONS <const> = { text = text.OPTIONS }

--- The names of all tasks, in alphabetical order; registered ones are included.
---
---     > table.unpack(roper.tasks.list(), 1, 3)
---     "addition"	"copy"	"needle"
---@return string[] names
function M.list()
  local names = tables.joined(core.tasks.list(), tables.keys(OPTIONS), own.names())
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
  arguments.check("tasks.has_problems", "name", "string", name)
  return core.tasks[name] ~= nil or own.find(name) ~= nil
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
  local definition = own.find(name)
  return OPTIONS[name] or definition and definition.fields or core.tasks.options(name)
end

--- Registers a task of your own, so that its name can be used like that of any other task, and as
--- an experiment (`roper.experiment.register`). `?TaskDefinition` lists the members. Rows of tokens
--- are filled with problems, and the last one of a row is truncated; each problem must fit into a
--- row. The same seed gives the same problems, because problem i draws its random numbers from a
--- generator of its own.
---
--- Errors: the name of another task or of a function of this module; an unknown member; a
--- definition that raises an error, leaves its vocabulary, exceeds the length of a row, or gives
--- other problems for the same seed. If the task has no required options, it is checked at once,
--- else when it is created.
---
---     > roper.tasks.register("parity", {
---     >>   options = {{"bits", {smallest = 1, largest = 30}, 5, "in a problem"}},
---     >>   vocabulary = {"0", "1", "=", "even", "odd"},
---     >>   generate = function(options, random)
---     >>     local bits, ones = {}, 0
---     >>     for i = 1, options.bits do
---     >>       bits[i] = random(0, 1)
---     >>       ones = ones + bits[i]
---     >>     end
---     >>     return table.concat(bits) .. "=", ones % 2 == 0 and "even" or "odd"
---     >>   end})
---     > task = roper.tasks.parity{bits = 6, length = 16, seed = 1}
---     > task:decode(task:batch(1)[1])
---     "110100=odd111101=odd"
---     > task:question()
---     "111100="	"even"
---@param name string letters, digits and "_"; begins with a letter
---@param definition TaskDefinition
function M.register(name, definition)
  local lead, mark = registered.file(2)
  if type(name) ~= "string" or not name:match "^%a[%w_]*$" then
    error(("%stasks.register: expected a name of letters, digits and _, got %s"):format(lead,
      options_of.shown(name)), 0)
  elseif M[name] ~= nil and not own.find(name) then
    error(("%stasks.register: %s is a built-in task or a function of roper.tasks; choose another "
      .. "name"):format(lead, name), 0)
  end
  local prepared = own.prepare(name, definition, mark)
  own.add(name, prepared, 2)
  M[name] = prepared.make
end

return M
