--- Precision of matrix products, with a note if bfloat16 is not faster on this processor.
local arguments = require "roper.options.arguments"
local core = require "roper.core"
local scoped = require "roper.base.scoped"

local M = {}

local PRECISIONS <const> = { "float32", "bfloat16", optional = true }

local is_noted = false -- was the note printed in this process?

--- A note about a precision that is not worth its rounding on this processor.
---@param precision string
---@return string? note nil if there are instructions for it
function M.note(precision)
  local instructions = precision == "bfloat16" and scoped.with_matmul_precision(precision,
    function() return core.machine().instructions end)
  if not instructions or instructions:find "%-bf16$" then
    return nil
  end
  return ("bfloat16 is not faster than float32 here, and may take up\n"
    .. "to twice as long: the %s kernels have no bfloat16 instructions"):format(instructions)
end

--- Sets the precision of matrix products of float32, if given, and returns it. "float32" leaves the
--- operands unchanged. "bfloat16" rounds them to 8 significant bits (to nearest, ties to even;
--- values below 2^-126 become 0), which takes about half the time if the processor has bfloat16
--- instructions. Sums and results are float32. The setting applies to `roper.matmul`,
--- `roper.linear`, `roper.attention` and their gradients; it does not apply to float64 or to other
--- functions. Without bfloat16 instructions, results differ only by the order of sums, and training
--- takes as long as in float32, or up to twice as long without AVX2; a note on standard error says
--- so once.
---
--- Errors: an unknown name.
---
---     > _ = roper.matmul_precision "bfloat16"
---     > (roper.full({1, 1}, 1.01):matmul(roper.ones{1, 1})):item() == 1 + 1 / 128
---     true
---     > roper.matmul_precision "float32"
---     "float32"
---@param precision? "float32"|"bfloat16"
---@return string precision the current one
function M.matmul_precision(precision)
  arguments.check("matmul_precision", "precision", PRECISIONS, precision)
  local result = core.matmul_precision(precision)
  local note = not is_noted and precision ~= nil and M.note(result)
  if note then
    is_noted = true
    io.stderr:write("matmul_precision: ", note, "\n")
  end
  return result
end

return M
