--- Command lines that resume interrupted work.
local escape = require "roper.base.escape"

local M = {}

--- A command line of this program, quoted for a shell, with the files loaded for it.
---@param words string[]? by default those that started this process
---@param ranks table? of a run under mpirun
---@return string
function M.line(words, ranks)
  local program = arg and arg[0] and arg[0]:match "^.*roper$" or "./roper"
  local line = { program, table.unpack(words or arg or {}) }
  for i, word in ipairs(line) do
    line[i] = escape.word(escape.line(word))
  end
  return (ranks and ("mpirun -n %d "):format(ranks.size) or "") .. table.concat(line, " ")
    .. (words and require("roper.options.load_option").words() or "")
end

--- The command that resumes a run.
---@param run string folder
---@param ranks table?
---@return string
function M.resume(run, ranks)
  return M.line({ "train", "--resume", run }, ranks)
end

--- The command that continues a lesson.
---@param lesson string its name or its file
---@param step integer
---@return string
function M.lesson(lesson, step)
  return M.line { "lesson", lesson, tostring(step) }
end

--- The step of the checkpoint of a run.
---
--- Errors: the checkpoint is damaged or cannot be read.
---@param run string folder
---@return integer? step nil without a checkpoint
function M.step(run)
  local path = run .. "/checkpoint.safetensors"
  return require("roper.system.file").stat(path)
    and require("roper.model.checkpoint").training_step(path)
end

return M
