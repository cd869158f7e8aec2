--- Waits for time, in a page: it has no signals and no keys.
local clock = require "roper.system.clock"

local M = {}

--- Calls `tick` until it returns nil.
---@param events Events
function M.run(events)
  local pause = events.tick()
  while pause do
    clock.sleep(pause / 1000)
    pause = events.tick()
  end
end

function M.reset_keys() end

function M.discard_keys() end

return M
