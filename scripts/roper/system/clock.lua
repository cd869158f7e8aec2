--- Clocks and pauses.
local uv = require "luv"

local M = {}

--- The seconds of a clock that is never set; only differences have a meaning.
---@return number seconds
function M.seconds()
  return uv.hrtime() * 1e-9
end

--- The seconds since 1970.
---@return integer seconds
M.time = os.time

--- The seconds since this machine was started.
---@return number seconds
M.uptime = uv.uptime

--- Pauses this process.
---@param seconds number
function M.sleep(seconds)
  uv.sleep(math.ceil(seconds * 1000))
end

return M
