--- A short name for content.
local M = {}

--- The hash of bytes (FNV-1a, 64 bits).
---@param bytes string
---@return string digits sixteen hexadecimal ones
function M.of(bytes)
  local hash = 0xcbf29ce484222325
  for i = 1, #bytes do
    hash = (hash ~ bytes:byte(i)) * 0x100000001b3
  end
  return ("%016x"):format(hash)
end

return M
