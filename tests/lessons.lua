-- Visits the steps of all lessons.

require("roper")
local lessons = require("roper.workbench.lesson")

local M = {}

--- Names of lessons that train for seconds. In `make test`, only the spec of pages runs them.
M.SLOW = { ["train-one"] = true, ["long-context"] = true, ["why-rotation"] = true }

--- Call f(lesson, number, step) for every step.
---@param f fun(lesson: table, number: integer, step: table)
---@param list? table[] lessons, by default all
function M.step(f, list)
  for _, lesson in ipairs(list or lessons.all()) do
    for number, step in ipairs(lesson.steps) do
      f(lesson, number, step)
    end
  end
end

--- The name of a step in messages.
---@param lesson table
---@param number integer
---@return string
function M.name(lesson, number)
  return ("%s, step %d"):format(lesson.name, number)
end

return M
