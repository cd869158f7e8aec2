--- The machine as a worker sees it, without the parent's environment variables.
local core = require "roper.core"

return function()
  return { describe = core.machine }
end
