--- What a worker runs on, without what the parent's environment holds back.
local core = require "roper.core"

return function()
  return { describe = core.machine }
end
