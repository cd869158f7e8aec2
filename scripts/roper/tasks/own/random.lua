--- Random numbers for the problems of a task in Lua.
local arguments = require "roper.options.arguments"
local arity = require "roper.options.arity"
local core = require "roper.core"
local options_of = require "roper.options.rows"

local M = {}

-- Bits of the counter that are used within a problem; the others are the problem's index.
local SHIFT <const> = 32

--- The random numbers of one problem, passed to `generate` of a task. They depend only on the
--- task's seed and on the index of the problem. Calling the object is like calling `math.random`:
--- `random()` returns a number of at least 0 and below 1, `random(n)` an integer from 1 to n,
--- `random(m, n)` an integer from m to n.
---@class TaskRandom
local TaskRandom = { __name = "random" }
TaskRandom.__index = TaskRandom

--- Returns the random numbers of a problem, to try the function `generate` of a task of your own.
--- Calling the object is like calling `math.random`.
---
---     > random = roper.tasks.random(1)
---     > random(6), random(10, 99), random() < 1
---     6	70	true
---@param seed integer of the task
---@param index? integer = 0; of the problem
---@return TaskRandom random
function M.random(seed, index)
  arguments.check("tasks.random", "seed", "integer", seed, "index", "integer?", index)
  index = index or 0
  return setmetatable({ seed = seed, counter = index << SHIFT }, TaskRandom)
end

-- An integer from 0 to bound - 1.
local function below(self, bound)
  local number
  number, self.counter = core.random_below(self.seed, self.counter, bound)
  return number
end

function TaskRandom:__call(m, n)
  if m == nil then
    return (below(self, 1 << 26) << 27 | below(self, 1 << 27)) * 2.0 ^ -53
  elseif n == nil then
    m, n = 1, m
  end
  m, n = math.tointeger(m) or m, math.tointeger(n) or n
  if math.type(m) ~= "integer" or math.type(n) ~= "integer" or m > n
    or not math.ult(n - m, 0xFFFFFFFF) then
    error(("random: expected integers m <= n with at most 2^32 - 1 numbers from m to n, got %s "
      .. "and %s"):format(options_of.shown(m), options_of.shown(n)), 2)
  end
  return m + below(self, n - m + 1)
end

--- Returns a random entry of a list.
---
--- Errors: an empty list.
---
---     > roper.tasks.random(1):choice{"a", "b", "c"}
---     "c"
---@param list any[]
---@return any entry
function TaskRandom:choice(list)
  arguments.check("choice", "list", "table", list)
  if #list == 0 then
    error("choice: expected a list with an entry, got an empty one", 2)
  end
  return list[below(self, #list) + 1]
end

--- Puts the entries of a list into a random order.
---
---     > roper.tasks.random(1):shuffle{1, 2, 3, 4}
---     {2, 1, 3, 4}
---@param list any[] is changed
---@return any[] list
function TaskRandom:shuffle(list)
  arguments.check("shuffle", "list", "table", list)
  for i = #list, 2, -1 do
    local j = below(self, i) + 1
    list[i], list[j] = list[j], list[i]
  end
  return list
end

arity.limit(TaskRandom, "TaskRandom")

return M
