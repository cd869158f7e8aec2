--- The measurement that fits a task: of problems solved, or of the loss on text.
local language = require "roper.workbench.study.run.language"
local problems = require "roper.workbench.study.run.problems"

local M = {}

--- Number of test sequences of each measurement during training. Their batches have the size of the
--- training batches, whose memory is already allocated.
M.SEQUENCES = 32

--- Returns the module that measures models on a task: `evaluate` during training, `measure` after
--- it.
---@param task task
---@return table module `problems` or `language`
function M.of(task)
  return task:has_problems() and problems or language
end

return M
