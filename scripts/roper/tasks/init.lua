--- Constructors of tasks, one for each kind. A task is a stream of rows to train on. The built-in
--- tasks with problems are implemented in C (folder `tasks`); `text` reads files; `register` adds
--- your own.
local arguments = require "roper.options.arguments"
local core = require "roper.core"
local generated = require "roper.tasks.generated"
local options_of = require "roper.options.rows"
local own = require "roper.tasks.own"
local registered = require "roper.options.registered"
local tables = require "roper.base.tables"
local task = require "roper.tasks.task"
local text = require "roper.tasks.text"

local M = {}

local built_in = { text = text.KIND } ---@type table<string, TaskKind>

M.text = text.new
M.random = require("roper.tasks.own.random").random

for _, name in ipairs(core.tasks.list()) do
  local kind = generated.kind(name)
  built_in[name] = kind
  M[name] = function(options)
    return task.create(kind, options)
  end
end

--- The names of all tasks, in alphabetical order; registered ones are included.
---
---     > table.unpack(roper.tasks.list(), 1, 3)
---     "addition"	"copy"	"needle"
---@return string[] names
function M.list()
  return tables.keys(built_in, tables.set(own.names()))
end

--- Does a task have problems with questions and answers? All do but `text`, which has only rows.
---
---     > roper.tasks.has_problems "addition", roper.tasks.has_problems "text"
---     true	false
---@param name string one of `list`
---@return boolean yes
function M.has_problems(name)
  arguments.check("tasks.has_problems", "name", "string", name)
  local kind = built_in[name] or own.find(name)
  return kind ~= nil and kind.has_problems
end

--- The options of a task, without the seed: rows {name, kind, default, documentation}. A kind is a
--- list of choices, {smallest =, largest =} for integers, or a name such as "boolean" or "size".
---
--- Errors: an unknown name; the message suggests the nearest one.
---
---     > roper.tasks.options "addition"[2]
---     {
---       "max_digits", {largest = 18, smallest = 1}, 8,
---       "maximum number of digits of an operand"
---     }
---@param name string
---@return OptionRow[] rows
function M.options(name)
  arguments.check("tasks.options", "name", M.list(), name)
  return tables.map((built_in[name] or own.find(name)).rows, function(row)
    return row[1] ~= "seed" and not row.is_hidden and tables.merged(row) or nil
  end)
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
  local kind = own.prepare(name, definition, mark)
  own.add(kind, 2)
  M[name] = kind.make
end

return M
