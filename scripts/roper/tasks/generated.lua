--- Tasks whose problems are generated in C (folder `tasks`).
local core = require "roper.core"
local options_of = require "roper.options.rows"
local tables = require "roper.base.tables"
local words = require "roper.tasks.words"

local M = {}

---@class Generated: TaskSource
local Generated = {}
Generated.__index = Generated

for _, name in ipairs { "answer", "batch", "chance", "explain", "floor", "grade", "longest",
  "poses", "positions", "question", "targets" } do
  Generated[name] = function(self, ...)
    local problems = self.problems
    return problems[name](problems, ...)
  end
end

local function source(settings, kind)
  local options = tables.merged(settings)
  options.seed = nil -- it is an argument of each draw
  local problems = core.tasks.new(kind.name, options)
  local texts, stop = problems:words()
  return setmetatable({ problems = problems, tokenizer = words.new(kind.name, texts), stop = stop },
    Generated)
end

--- Returns the kind of a task in C. The rows of its options are those of `RpTaskKind`.
---@param name string one of `native.tasks.list`
---@return TaskKind kind
function M.kind(name)
  local class = ("_" .. name):gsub("_(%l)", string.upper) .. "Options"
  local rows = options_of.define(class, tables.joined(core.tasks.options(name),
    { { "seed", "integer", 1, "seed of its random stream" } }))
  return { name = name, rows = rows, source = source, has_problems = true }
end

return M
