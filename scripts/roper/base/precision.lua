--- The precision of the operands of matrix products, and a note if it makes them slower.
local core = require "roper.core"
local scoped = require "roper.base.scoped"

local M = {}

local is_told = false -- the note, to this process

--- What to say to users who choose a precision.
---@param precision string
---@return string? note nil unless products with it are slower than in float32
function M.note(precision)
  local instructions = precision == "bfloat16" and scoped.with_matmul_precision(precision,
    function() return core.machine().instructions end)
  if not instructions or instructions:find "%-bf16$" then
    return nil
  end
  return ("bfloat16 is slower than float32 here, up to three times in\n"
    .. "training: the %s kernels round without instructions for it"):format(instructions)
end

--- What the operands of products of float32 matrices are rounded to, with an argument from now on.
--- "float32" leaves them as they are; "bfloat16" keeps 8 significant bits (to nearest, ties to
--- even; below 2^-126 is 0), which takes about half the time if the processor multiplies such
--- numbers. Sums and results are float32. It holds for `roper.matmul`, `roper.linear` and
--- `roper.attention` and their gradients; everything else, and float64, stays as it is. If the
--- processor has no such instructions, the numbers are the same but for the order of sums, and a
--- step of training takes up to three times as long as in float32. A note on standard error warns
--- of it, once.
---
--- Errors: another name.
---
---     > _ = roper.matmul_precision "bfloat16"
---     > (roper.full({1, 1}, 1.01):matmul(roper.ones{1, 1})):item() == 1 + 1 / 128
---     true
---     > roper.matmul_precision "float32"
---     "float32"
---@param precision? "float32"|"bfloat16"
---@return string precision that holds
function M.matmul_precision(precision)
  local result = core.matmul_precision(precision)
  local note = not is_told and precision ~= nil and M.note(result)
  if note then
    is_told = true
    io.stderr:write("matmul_precision: ", note, "\n")
  end
  return result
end

return M
