--- Hashes of content.
local core = require "roper.core"

local M = {}

--- The hash of bytes (FNV-1a, 64 bits).
---@param bytes string
---@return string digits 16 hexadecimal digits
function M.of(bytes)
  return M.digits(core.hash(bytes))
end

--- A hash as text.
---@param hash integer
---@return string digits 16 hexadecimal digits
function M.digits(hash)
  return ("%016x"):format(hash)
end

return M
