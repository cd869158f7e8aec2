-- Weights that roper.pack_bfloat16 has packed.
local roper = require("roper")

local M = {}

-- The first `count` numbers of a packed row, from their definition: the upper half of a float32.
function M.numbers(row, count)
  local list = {}
  for i = 1, count do
    local bits = row[(i + 1) // 2] >> (16 * ((i - 1) % 2)) & 0xFFFF
    list[i] = string.unpack("<f", string.pack("<I4", bits << 16))
  end
  return list
end

-- A packed weight as float32 [outputs, inputs].
function M.unpack(packed, inputs)
  local rows = packed:totable()
  for i, row in ipairs(rows) do
    rows[i] = M.numbers(row, inputs)
  end
  return roper.tensor(rows)
end

return M
